//! An array in a window: its picture, what is seen of it, and what keys change.

use crate::array::Array;
use crate::error::ViewError;
use crate::feed::Feed;
use crate::keys::{Deed, KEYS, keys};
use crate::overlay::{Lines, Overlay, Pixels, Written, named};
use pixelferry::api::gl::winit::event::{ElementState, KeyEvent, WindowEvent};
use pixelferry::api::gl::winit::keyboard::Key;
use pixelferry::api::gl::{Camera, GlDisplay, Viewport};
use pixelferry::{Display, DrawOptions, Extent, Filter, save_picture};
use pixelferry_look::{Channel, Look, Plane, Range, Request};
use std::path::PathBuf;
use std::rc::Rc;

/// Colour around the picture.
const AROUND: [f32; 4] = [0.1, 0.1, 0.1, 1.0];

/// A range that was asked for, of which channel, and its ends.
type Found = ((Range, Option<Channel>), (f64, f64));

/// An array that is looked at closely. It is made into a picture when the look changes; zooming and moving draw that again.
///
/// Stays on the thread of its display, whose context must be current in every call and when it is dropped. It knows no event
/// loop: give it the window's events, and call [`ArrayView::draw`] when one has changed something.
pub struct ArrayView {
    // Before the display, in whose context they are.
    feed: Feed,
    overlay: Overlay,
    display: Rc<GlDisplay>,
    array: Array,
    /// Range that was asked for at first.
    asked: Range,
    request: Request,
    /// The picture on show, and the array with all that its elements have.
    plane: Plane,
    whole: Plane,
    /// Ranges that were found.
    found: Vec<Found>,
    camera: Camera,
    notice: String,
    has_help: bool,
    /// Pictures that were made of it.
    pictures: u64,
}

impl ArrayView {
    /// Makes the first picture.
    ///
    /// # Errors
    /// [`ViewError::Refused`] where array and look do not go together, [`ViewError::Driver`] where no path to the display works,
    /// also for pictures larger than its images may be.
    pub fn open(display: &Rc<GlDisplay>, array: Array, request: Request) -> Result<Self, ViewError> {
        let plane = array.measured(array.plane(&request)?)?;
        let all = Request { look: Look::default(), ..request };
        let whole = array.plane(&all).unwrap_or(plane);
        let mut feed = Feed::open(&(Rc::clone(display) as Rc<dyn Display>), &plane)?;
        feed.put(&array, &plane)?;
        Ok(Self {
            feed,
            overlay: Overlay::new(display)?,
            display: Rc::clone(display),
            array,
            asked: request.look.range,
            request,
            plane,
            whole,
            found: vec![((request.look.range, request.look.channel), plane.tone.range)],
            camera: Camera::default(),
            notice: String::new(),
            has_help: false,
            pictures: 1,
        })
    }

    /// Follows the window's events. True where it is to be drawn again.
    pub fn event(&mut self, event: &WindowEvent, window: Extent) -> bool {
        if let WindowEvent::KeyboardInput {
            event: KeyEvent { logical_key: Key::Character(text), state: ElementState::Pressed, .. },
            ..
        } = event
        {
            return text.chars().next().is_some_and(|key| self.press(key));
        }
        self.camera.follow(event, self.image(), window)
    }

    /// Does what a key stands for, a capital letter with Shift. False for keys that do nothing.
    pub fn press(&mut self, key: char) -> bool {
        let Some(row) = KEYS.iter().find(|row| row.key == key.to_ascii_lowercase()) else { return false };
        self.notice.clear();
        match row.deed {
            Deed::Look(change) => self.change(|look, asked| change(look, asked, key.is_ascii_uppercase())),
            Deed::Fit => self.camera.fit(),
            Deed::OneToOne => self.camera.one_to_one(),
            Deed::Save => self.save_beside(),
            Deed::Help => self.has_help = !self.has_help,
        }
        true
    }

    /// Draws what is seen into the framebuffer that is bound, `window` pixels large; `points` are its pixels for a point of text.
    ///
    /// # Errors
    /// What the display reports.
    pub fn draw(&mut self, window: Extent, points: f32) -> Result<(), ViewError> {
        self.draw_picture(window)?;
        let (pixels, lines) = (self.pixels(window), self.lines(window));
        let Self { overlay, array, plane, whole, .. } = self;
        let paint = |bytes: &[u8]| overlay.paint(&pixels, points, &Written { shown: plane, whole, bytes }, &lines);
        Ok(array.read(&plane.span, paint)??)
    }

    /// The same without grid and text.
    ///
    /// # Errors
    /// What the display reports.
    pub fn draw_picture(&mut self, window: Extent) -> Result<(), ViewError> {
        let (image, fit) = (self.image(), self.camera.placement(self.image(), window));
        // A clear that the picture covers would cost as much as the draw.
        if fit.place(image, window) != window.full() {
            self.display.clear(AROUND)?;
        }
        let filter = if self.pixels(window).scale() < 1.0 { Filter::Linear } else { Filter::Nearest };
        let options = DrawOptions::default().with_fit(fit).with_filter(filter);
        let shown = self.feed.link.shown()?;
        Ok(self.display.draw(shown.surface(), Viewport::full(window.width, window.height), options)?)
    }

    /// Name, and how it is shown.
    pub fn title(&self) -> String {
        format!("{} - {}", self.array.name(), self.plane.summary())
    }

    /// What is under the pointer, in the array's own numbers, of which no others are read.
    pub fn under_pointer(&self, window: Extent) -> Option<String> {
        let [x, y] = self.pixels(window).at(self.camera.pointer()?)?;
        let spot = self.plane.spot(x, y)?;
        let values = self.array.read(&self.whole.span, |bytes| self.whole.values(bytes, spot)).ok()?;
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        Some(format!("{}: {}", named(spot, &self.plane), values.join(" ")))
    }

    /// Section that is seen.
    pub const fn camera(&mut self) -> &mut Camera {
        &mut self.camera
    }

    /// Number of pictures that were made of the array so far.
    pub const fn pictures(&self) -> u64 {
        self.pictures
    }

    /// Size of the picture.
    pub const fn image(&self) -> Extent {
        Extent::new(self.plane.width, self.plane.height)
    }

    /// Changes the look, and the picture with it. What does not go is said, and nothing changes.
    fn change(&mut self, change: impl FnOnce(&mut Look, Range)) {
        let mut request = self.request;
        change(&mut request.look, self.asked);
        if let Err(error) = self.show(request) {
            self.notice = error.to_string();
        }
    }

    fn show(&mut self, request: Request) -> Result<(), ViewError> {
        let mut plane = self.array.plane(&request)?;
        let key = (request.look.range, request.look.channel);
        match self.found.iter().find(|(known, _)| *known == key) {
            Some((_, range)) => plane.tone.range = *range,
            None => {
                plane = self.array.measured(plane)?;
                self.found.push((key, plane.tone.range));
            }
        }
        self.feed.put(&self.array, &plane)?;
        self.pictures += 1;
        (self.plane, self.request) = (plane, request);
        Ok(())
    }

    /// Saves the picture in the current folder, under a name that no array has.
    fn save_beside(&mut self) {
        let mut path = PathBuf::from(self.array.name());
        path.set_extension("view.png");
        self.notice = match save_picture(&mut self.feed.link, &path) {
            Ok(()) => format!("saved {}", path.display()),
            Err(error) => error.to_string(),
        };
    }

    fn pixels(&self, window: Extent) -> Pixels {
        let image = self.image();
        Pixels::new(self.camera.placement(image, window).placement(image, window), image, window)
    }

    fn lines(&self, window: Extent) -> Lines {
        let zoom = (self.pixels(window).scale() * 1000.0).round() / 10.0;
        Lines {
            pointer: self.under_pointer(window).unwrap_or_default(),
            look: format!("{:#}; {zoom}%", self.plane.tone),
            notice: self.notice.clone(),
            help: self.has_help.then(keys),
        }
    }
}
