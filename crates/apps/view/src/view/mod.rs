//! Arrays in a window: which one is shown, which part of it is visible, and what keys change.

mod frames;

use crate::array::{Array, DeviceDifference};
use crate::array_feed::ArrayFeed;
use crate::chart::{Chart, ChartGesture};
use crate::error::ViewError;
use crate::keys::{KeyAction, STEP, character, keys, name_of, row};
use crate::listen::{Changes, Listener};
use crate::overlay::{Lines, Overlay, Pixels, cells, named};
use crate::shown_array::{ShownArray, has_scale};
use pixelferry::api::gl::winit::event::{ElementState, KeyEvent, WindowEvent};
use pixelferry::api::gl::{Camera, GlDisplay, Viewport};
use pixelferry::driver::describe::words::counted;
use pixelferry::{DrawOptions, Extent, Filter, LinkCore, save_picture};
use pixelferry_look::{End, Look, Range, Request};
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

/// Colour around the picture.
const AROUND: [f32; 4] = [0.1, 0.1, 0.1, 1.0];

/// Shows arrays closely. An array is converted to a picture when it is first shown and when the look changes. Zooming
/// and moving only redraw that picture, and so does returning to an array that was shown before.
///
/// All arrays share one view and one look, except those that were put with their own look; a measured range is each
/// array's own. Arrays of another size are fitted into the window. If an array does not support a setting, such as a
/// colormap with three channels, the setting is dropped for it with a message.
///
/// The difference of two arrays subtracts the numbers as shown, such as the magnitudes of complex ones. It has a look
/// of its own, symmetric about zero, in colours from red to blue, or grey for several channels.
///
/// If an array is put again under its name with [`ArrayView::put`], its last frames are kept ([`ArrayView::keep`]).
/// During a pause all shown frames stay: new frames are counted, the last one of each array waits for the end of the
/// pause, and so do removals.
///
/// It stays on the thread of its display, whose context must be current in every call and when it is dropped. It runs
/// no event loop: pass it the window's events, and call [`ArrayView::draw`] when one has changed something.
pub struct ArrayView {
    // Declared before the display, whose context owns them. A difference follows the arrays.
    all: Vec<ShownArray>,
    overlay: Overlay,
    display: Arc<GlDisplay>,
    /// Number of arrays without the difference.
    count: usize,
    /// Index of the shown array, and indices of those shown last and before.
    at: usize,
    last: usize,
    before: Option<usize>,
    /// Indices of the difference's arrays, and what computes it on a device.
    pair: [usize; 2],
    differ: DeviceDifference,
    camera: Camera,
    chart: Chart,
    /// Where the user has dragged an end of the range to.
    dragged: Option<(usize, f64)>,
    notice: String,
    has_help: bool,
    /// A window's title names the array. On a page the picture does.
    pub(crate) is_titled: bool,
    is_paused: bool,
    /// The user stepped beyond the last frame, so a film must provide the next.
    is_asked: bool,
    /// Names of arrays to remove when the pause ends.
    going: Vec<String>,
    /// Limits of frames per array, and of bytes.
    most: (usize, usize),
    /// Counts changes of the shown array.
    shows: u64,
    /// Counts pictures made.
    pictures: u64,
}

impl ArrayView {
    /// Opens a view and makes the picture of the first array.
    ///
    /// # Errors
    /// [`ViewError::Refused`] if an array and the look do not match, [`ViewError::Driver`] if no path to the
    /// display works, also for pictures that are too large for it.
    pub fn open(display: &Arc<GlDisplay>, arrays: Vec<Array>, request: Request) -> Result<Self, ViewError> {
        Self::of(display, ShownArray::all(arrays, &request)?)
    }

    /// Opens a view of arrays that were checked.
    pub(crate) fn of(display: &Arc<GlDisplay>, all: Vec<ShownArray>) -> Result<Self, ViewError> {
        let mut view = Self {
            count: all.len(),
            all,
            overlay: Overlay::new(display)?,
            display: Arc::clone(display),
            at: 0,
            last: 0,
            before: None,
            pair: [0; 2],
            differ: None,
            camera: Camera::default(),
            chart: Chart::default(),
            dragged: None,
            notice: String::new(),
            has_help: false,
            is_titled: true,
            is_paused: false,
            is_asked: false,
            most: (Self::MOST_FRAMES, Self::MOST_BYTES),
            going: Vec::new(),
            shows: 0,
            pictures: 0,
        };
        view.show(0, view.all[0].request)?;
        Ok(view)
    }

    /// Handles a window event. Returns true if the view must be redrawn.
    pub fn event(&mut self, event: &WindowEvent, window: Extent) -> bool {
        if let WindowEvent::KeyboardInput {
            event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
        } = event
        {
            return character(&name_of(logical_key)).is_some_and(|key| self.press(key));
        }
        match self.chart.follow(event, self.camera.pointer(), self.on_show().plane.tone.range) {
            ChartGesture::Away => return self.camera.follow(event, self.image(), window),
            ChartGesture::Here => {}
            ChartGesture::Moves(end, to) => {
                self.dragged = Some((end, to));
                self.camera.follow(event, self.image(), window);
            }
            ChartGesture::Resets => self.change(|look, asked| look.range = asked),
        }
        true
    }

    /// Performs the action of a key; a capital letter means Shift. Returns false for keys without an action.
    pub fn press(&mut self, key: char) -> bool {
        let Some(row) = row(key) else { return false };
        let shift = key.is_ascii_uppercase();
        self.notice.clear();
        self.is_asked = false;
        match row.deed {
            KeyAction::Look(change) => self.change(|look, asked| change(look, asked, shift)),
            KeyAction::End(end) => {
                let (low, high) = self.on_show().plane.tone.range;
                let step = (high - low) * if shift { -STEP } else { STEP };
                self.move_end(end, [low, high][end] + step);
            }
            KeyAction::Fit => self.camera.fit(),
            KeyAction::OneToOne => self.camera.one_to_one(),
            KeyAction::Step(by) => self.go((self.last as isize + by).rem_euclid(self.count as isize) as usize),
            KeyAction::Position => self.go(key.to_digit(10).map_or(0, |position| position as usize - 1)),
            KeyAction::Difference if self.at == self.count => self.go(self.last),
            KeyAction::Difference => self.subtract(),
            KeyAction::Pause if self.is_paused => self.resume(),
            KeyAction::Pause => self.is_paused = true,
            KeyAction::Frame(way) => self.step(way),
            KeyAction::Marks => {
                let is_marked = self.on_show().plane.tone.marks;
                self.change(|look, _| look.marks = Some(!is_marked));
            }
            KeyAction::Chart => self.chart.toggle(),
            KeyAction::Heights => self.chart.is_log = !self.chart.is_log,
            KeyAction::Save => self.save_beside(),
            KeyAction::Help => self.has_help = !self.has_help,
        }
        true
    }

    /// Removes the array of a name, unless it is the only one, and shows the previous one. Returns whether it did.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(gone) = self.named(name).filter(|_| self.count > 1) else { return false };
        let (image, shift) = (self.image(), |at: usize| at - usize::from(at > gone));
        let mut is_on_show = self.at == gone;
        if self.all.len() > self.count && self.pair.contains(&gone) {
            self.all.truncate(self.count);
            is_on_show |= self.at == self.count;
        }
        self.all.remove(gone);
        self.count -= 1;
        self.before = self.before.filter(|before| *before != gone).map(shift);
        let next = shift(self.last).min(self.count - 1);
        self.last = if self.last == gone { self.before.take().unwrap_or(next) } else { next };
        (self.at, self.pair) = (shift(self.at), self.pair.map(shift));
        if is_on_show {
            self.at = self.last;
            self.renew(image);
        }
        true
    }

    /// Takes what a listener received. While there is nothing else, it shows [`Listener::waiting`]. Returns true if
    /// something changed, so that the view must be redrawn.
    pub fn follow(&mut self, listener: &Listener) -> bool {
        let Changes { arrays, gone, focus } = listener.take();
        self.going.extend(gone);
        self.going.retain(|name| !arrays.iter().flatten().any(|array| array.name() == name));
        // During a pause all arrays stay.
        let gone = if self.is_paused { Vec::new() } else { mem::take(&mut self.going) };
        let has_changed = !(arrays.is_empty() && gone.is_empty() && focus.is_none());
        // Make the placeholder before the last array goes.
        let waiting = (!gone.is_empty()).then(|| listener.waiting());
        for array in arrays.into_iter().chain(waiting) {
            if let Err(error) = array.map_err(ViewError::from).and_then(|array| self.put(array)) {
                tracing::warn!("cannot show an image: {error}");
            }
        }
        for name in gone.iter().chain([&listener.waits()]) {
            self.remove(name);
        }
        // During a pause the shown array stays.
        let focus = focus.filter(|_| !self.is_paused).and_then(|name| self.named(&name));
        focus.into_iter().for_each(|at| self.go(at));
        has_changed
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.all[..self.count].iter().position(|shown| shown.array.name() == name)
    }

    /// Makes the shown picture again. If its size has changed, fits it into the window.
    fn renew(&mut self, before: Extent) {
        let request = self.all[self.at].request;
        if let Err(error) = self.show(self.at, request) {
            self.notice = error.to_string();
        }
        if self.image() != before {
            self.camera.fit();
        }
    }

    /// Draws into the bound framebuffer, which is `window` pixels large; `points` is the number of pixels per point of
    /// text.
    ///
    /// # Errors
    /// Errors of the display.
    pub fn draw(&mut self, window: Extent, points: f32) -> Result<(), ViewError> {
        if let Some((end, to)) = self.dragged.take() {
            self.move_end(end, to);
        }
        self.draw_picture(window)?;
        let (pixels, lines) = (self.pixels(window), self.lines(window));
        let Self { overlay, all, at, chart, .. } = self;
        let shown = &mut all[*at];
        let range = shown.plane.tone.range;
        if chart.is_on {
            let axis = chart.lay(window, points, range, shown.extent()?);
            shown.count(axis)?;
        }
        let bars = shown.counts.as_ref().and_then(|counts| chart.bars(counts, range));
        let cells = cells(&pixels, points, shown)?;
        // A plain grey picture needs no key to its levels.
        let scale = has_scale(&shown.plane).then_some(&shown.plane.tone);
        Ok(overlay.paint(&pixels, points, &cells, &lines, (bars.as_ref(), scale))?)
    }

    /// Draws without grid and text.
    ///
    /// # Errors
    /// Errors of the display.
    pub fn draw_picture(&mut self, window: Extent) -> Result<(), ViewError> {
        let (image, fit) = (self.image(), self.camera.placement(self.image(), window));
        // Skip the clear if the picture covers everything: it would cost as much as the draw.
        if fit.place(image, window) != window.full() {
            self.display.clear(AROUND)?;
        }
        let filter = if self.pixels(window).scale() < 1.0 { Filter::Linear } else { Filter::Nearest };
        let options = DrawOptions::default().with_fit(fit).with_filter(filter);
        let Some(feed) = &mut self.all[self.at].feed else { return Ok(()) };
        let shown = feed.link().shown()?;
        Ok(self.display.draw(shown.surface(), Viewport::full(window.width, window.height), options)?)
    }

    /// Returns name, position among several arrays, and how the array is shown.
    pub fn title(&self) -> String {
        let ShownArray { array, plane, .. } = self.on_show();
        let which: Vec<_> = self.position().into_iter().chain(self.frame()).collect();
        let which = if which.is_empty() { String::new() } else { format!(" ({})", which.join("; ")) };
        format!("{}{which} - {}", array.name(), plane.summary())
    }

    /// Describes the numbers under the pointer as the array holds them, and reads no others; for a difference also
    /// those of both arrays.
    pub fn under_pointer(&self, window: Extent) -> Option<String> {
        let [x, y] = self.pixels(window).at(self.camera.pointer()?)?;
        let shown = self.on_show();
        let spot = shown.plane.spot(x, y)?;
        let mut text = format!("{}: {}", named(spot, &shown.plane), shown.values(spot)?);
        if self.at == self.count {
            for of in self.pair.map(|at| &self.all[at]) {
                text += &format!("; {} {}", of.array.name(), of.values(spot)?);
            }
        }
        Some(text)
    }

    /// Returns column and row of the picture at a position of the window.
    pub fn pixel_at(&self, at: [f64; 2], window: Extent) -> Option<[u32; 2]> {
        self.pixels(window).at(at)
    }

    /// Returns the link that shows the current picture.
    pub fn link(&mut self) -> Option<&mut LinkCore> {
        self.all[self.at].feed.as_mut().map(ArrayFeed::link_mut)
    }

    /// Explains how the shown array is interpreted and shown.
    pub fn explain(&self) -> String {
        self.on_show().plane.explain()
    }

    /// The visible section, which the caller may change.
    pub const fn camera(&mut self) -> &mut Camera {
        &mut self.camera
    }

    /// Number of pictures made from arrays so far.
    pub const fn pictures(&self) -> u64 {
        self.pictures
    }

    /// Size of the shown picture.
    pub fn image(&self) -> Extent {
        let plane = &self.on_show().plane;
        Extent::new(plane.width, plane.height)
    }

    fn on_show(&self) -> &ShownArray {
        &self.all[self.at]
    }

    /// Describes which of several arrays is shown, or which two.
    fn position(&self) -> Option<String> {
        let which = match self.at == self.count {
            true => format!("{} minus {}", self.pair[0] + 1, self.pair[1] + 1),
            false => format!("{}", self.at + 1),
        };
        (self.count > 1).then(|| format!("{which} of {}", self.count))
    }

    /// Shows an array with the common look.
    fn go(&mut self, to: usize) {
        if to >= self.count {
            self.notice = format!("only {}", counted(self.count, "array"));
            return;
        }
        let request = self.all[to].request;
        match self.show(to, request) {
            Ok(()) if to != self.last => (self.before, self.last) = (Some(self.last), to),
            Ok(()) => {}
            Err(error) => self.notice = error.to_string(),
        }
    }

    /// Shows the current array minus the previously shown one, or the next.
    fn subtract(&mut self) {
        let pair = [self.last, self.before.unwrap_or((self.last + 1) % self.count)];
        if pair[0] == pair[1] {
            self.notice = "a difference needs two arrays: open both, as in pixelferry view A.npy B.npy".into();
            return;
        }
        if self.pair != pair {
            self.all.truncate(self.count);
        }
        self.pair = pair;
        let mut made = || {
            if self.all.len() == self.count {
                self.all.push(self.all[pair[0]].minus(&self.all[pair[1]], &mut self.differ)?);
            }
            let request = self.all[self.count].request;
            self.show(self.count, request)
        };
        if let Err(error) = made() {
            let [one, two] = pair.map(|at| self.all[at].array.name());
            self.notice = format!("{one} minus {two}: {error}");
        }
    }

    /// Moves an end of the range, but not beyond the other.
    fn move_end(&mut self, end: usize, to: f64) {
        let (low, high) = self.on_show().plane.tone.range;
        let mut ends = [low, high];
        ends[end] = to;
        let is_kept = if high < low { ends[1] < ends[0] } else { ends[0] < ends[1] };
        if is_kept {
            self.change(|look, _| look.range = Range::Between(End::Value(ends[0]), End::Value(ends[1])));
        }
    }

    /// Changes the look and the picture. If the change is refused, it shows a message and changes nothing.
    fn change(&mut self, change: impl FnOnce(&mut Look, Range)) {
        let ShownArray { array, request, asked, .. } = self.on_show();
        let (before, mut request) = (*request, *request);
        change(&mut request.look, *asked);
        // A setting that another array's look needed may stay, but is not requested again.
        let refused = array.plane(&request).err().filter(|_| request.look.colormap != before.look.colormap);
        let done = refused.map_or(Ok(()), |refusal| Err(refusal.into())).and_then(|()| self.show(self.at, request));
        if let Err(error) = done {
            self.notice = error.to_string();
        }
    }

    /// Shows an array and gives its look to all others; a difference keeps its own.
    fn show(&mut self, at: usize, request: Request) -> Result<(), ViewError> {
        let image = self.image();
        let (is_new, left_out) = self.all[at].show(&self.display, &request)?;
        self.pictures += u64::from(is_new);
        if at < self.count && self.all[at].own.is_none() {
            let others = self.all[..self.count].iter_mut().filter(|shown| shown.own.is_none());
            others.for_each(|shown| shown.request = request);
        }
        self.notice = left_out.map(|refusal| refusal.to_string()).unwrap_or_default();
        if at != self.at {
            self.chart.release();
        }
        self.at = at;
        self.shows += 1;
        self.all[at].seen = self.shows;
        if self.image() != image {
            self.camera.fit();
        }
        self.bound();
        Ok(())
    }

    /// Saves the picture to the current folder, under a name that no array has.
    fn save_beside(&mut self) {
        let shown = &mut self.all[self.at];
        let mut path = PathBuf::from(shown.array.name().replace(['/', '\\'], "_"));
        path.set_extension("view.png");
        let Some(feed) = &mut shown.feed else { return };
        self.notice = match save_picture(feed.link_mut(), &path) {
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
        let ShownArray { array, plane, .. } = self.on_show();
        let whole = match array.waiting() {
            Some(_) => array.name().to_owned(),
            None => format!("{}: {} {}", array.name(), plane.number_name(), array.shape()),
        };
        let name = if self.is_titled { array.name() } else { &whole };
        let named = self.position().map(|position| format!("{position}: {name}"));
        let named = named.or_else(|| (!self.is_titled).then(|| name.to_owned()));
        let named: Vec<_> = named.into_iter().chain(self.frame()).collect();
        let measured = if plane.range == Range::OfData && plane.tone.range != (0.0, 1.0) {
            " (minimum to maximum, R changes it)"
        } else {
            ""
        };
        Lines {
            pointer: self.under_pointer(window).unwrap_or_else(|| match array.waiting() {
                Some(_) => String::new(),
                None if self.is_titled => format!("{whole}; ? shows the keys"),
                None => "? shows the keys".into(),
            }),
            look: format!("{:#}{measured}; {zoom}%", plane.tone),
            name: named.join("; "),
            notice: self.notice.clone(),
            help: self.has_help.then(keys),
        }
    }
}
