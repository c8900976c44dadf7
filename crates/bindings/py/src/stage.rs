//! The stage that shows the arrays of one viewer. It lives on the thread of its display, which is never a Python
//! thread.

use crate::array::{Array, Layout};
use crate::array_intake::{ArrayIntake, Scratch};
use crate::array_outlets::{ArrayOutlets, TargetOpener};
use crate::content::Content;
use crate::engine::{ArrayLocation, Engine, Engines};
use crate::failure::Failure;
use crate::feed::Feed;
use crate::items::Items;
use crate::object::Object;
use crate::raw::context::UserContext;
use crate::raw::memory::Readable;
use crate::recording::StageFilms;
use pixelferry::api::gl::winit::event::WindowEvent;
use pixelferry::api::gl::{GlDisplay, GlWindow, OffscreenTarget, Viewport};
use pixelferry::driver::describe::panics::catch;
use pixelferry::{
    BufferDesc, ComputeBackend as _, Display, DrawOptions, Error, Extent, Fit, HeadlessDisplay, ImageAccess, ImageDesc,
    LinkBuilder, LinkCore, PathId, PixelFormat, Policy, RowOrder, ShownFrame, SurfaceDesc, Unwritten, picture,
    picture_png, save_picture,
};
use pixelferry_look::{MemoryLocation, Plane, Request};
use pixelferry_media::record::{FilmSummary, Output, RecordOptions, Recorder};
use pixelferry_view::{Array as Seen, ArrayView, ReadError, ViewError, pixel_at};
use serde_json::Value;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// The render target.
pub enum Screen {
    Window(GlWindow),
    /// OpenGL without a window: a framebuffer of the viewer's size.
    Offscreen(Arc<GlDisplay>, Box<OffscreenTarget>),
    /// Nothing is drawn.
    Memory(Arc<dyn Display>),
    /// The program's own context, in which the program draws.
    Program(Rc<UserContext>),
}

impl Screen {
    /// Makes an offscreen target.
    pub fn headless(opened: HeadlessDisplay, size: Extent) -> Result<Self, Failure> {
        Ok(match opened.gl() {
            Some(gl) => {
                // A display that was opened since may have made another context current.
                gl.make_current()?;
                let target = gl.create_offscreen_target(size.width, size.height)?;
                Self::Offscreen(gl.clone(), Box::new(target))
            }
            None => Self::Memory(opened.display()),
        })
    }

    fn gl(&self) -> Option<&Arc<GlDisplay>> {
        match self {
            Self::Window(window) => Some(window.display()),
            Self::Offscreen(gl, _) => Some(gl),
            Self::Memory(_) => None,
            Self::Program(context) => Some(context.display()),
        }
    }

    fn display(&self) -> Arc<dyn Display> {
        match self {
            Self::Window(window) => window.display().clone(),
            Self::Offscreen(gl, _) => gl.clone(),
            Self::Memory(display) => display.clone(),
            Self::Program(context) => context.display().clone(),
        }
    }

    /// Describes an image with the properties that its drawer expects.
    const fn image(&self, image: ImageDesc, rows: RowOrder) -> ImageDesc {
        match self {
            Self::Program(_) => image.with_access(ImageAccess::Texture).with_row_order(rows),
            Self::Window(_) | Self::Offscreen(..) | Self::Memory(_) => image.with_access(ImageAccess::Any),
        }
    }

    /// Makes the window's context current, because several windows share a thread.
    fn make_current(&self) -> Result<(), Failure> {
        match self {
            Self::Window(window) => Ok(window.make_current()?),
            Self::Offscreen(gl, _) => Ok(gl.make_current()?),
            Self::Memory(_) => Ok(()),
            Self::Program(context) => context.check(),
        }
    }
}

/// Paths to try first for arrays on the GPU that draws. `direct` alone is as fast, and calibration cannot distinguish
/// the two. But if kernels of the array's producer run before, the hand-over of `direct` in OpenGL's own order makes
/// the GPU switch between compute and graphics once more (H200, 4K: 1.42 ms a frame instead of 1.12 ms). The second
/// path is for textures that keep their name.
const PRODUCED_BY_CUDA: [PathId; 2] = [PathId::EXTERNAL_TEXTURE, PathId::EXTERNAL_UPLOAD];

/// Pictures keep their aspect ratio in windows.
const FIT: Fit = Fit::Contain;

/// Settings of a viewer.
pub struct Settings {
    /// Format of pictures.
    pub format: PixelFormat,
    /// Row order of the program's own textures: where row 0 of an array is.
    pub rows: RowOrder,
    pub policy: Policy,
}

/// Status of the current path.
pub struct Status {
    pub explain: String,
    /// JSON.
    pub report: String,
}

/// Stage that shows the arrays of one viewer.
pub struct Stage {
    // Before the screen, in whose context they are.
    /// Shows arrays closely, instead of plain pictures.
    closely: Option<ArrayView>,
    feeds: Vec<Feed>,
    /// Reads from an object of the program.
    taking: Option<ArrayIntake>,
    /// Writes to an object of the program.
    giving: Option<ArrayOutlets>,
    /// Scratch memory for captures on a GPU.
    scratch: Option<Scratch>,
    film: StageFilms,
    screen: Screen,
    settings: Settings,
    /// The most recently shown picture.
    shown: Option<Plane>,
}

/// A texture of the program's context.
#[derive(Clone, Copy)]
pub struct NamedTexture {
    pub name: u32,
    pub target: u32,
    pub size: Extent,
    pub path: PathId,
}

/// A buffer object of the program's context.
#[derive(Clone, Copy)]
pub struct NamedBuffer {
    pub name: u32,
    pub offset: usize,
    pub bytes: usize,
    pub path: PathId,
}

/// A picture: rows of RGBA bytes, top row first.
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

impl Stage {
    pub fn new(screen: Screen, settings: Settings) -> Self {
        let (feeds, taking, giving, scratch, closely, film) = Default::default();
        Self { closely, feeds, taking, giving, scratch, film, screen, settings, shown: None }
    }

    /// Returns the failure, or its cause: without its window a stage fails anywhere, in winit with a panic.
    pub fn explained(&self, failure: Failure) -> Failure {
        match &self.screen {
            Screen::Window(window) if catch(|| window.size()).is_err() => Failure::destroyed(),
            _ => failure,
        }
    }

    /// Shows an array. When this returns, the array is no longer read.
    pub fn show(&mut self, array: &Readable<Plane>, engine: &Engine) -> Result<(), Failure> {
        self.screen.make_current()?;
        self.closely = None;
        let array = &array.measured()?;
        let plane = array.description();
        plane.check_sides(self.screen.display().caps().max_image_side)?;
        // Arrays are always written completely.
        let image = ImageDesc::new(plane.width, plane.height, self.settings.format);
        let image = self.screen.image(image, self.settings.rows).with_unwritten(Unwritten::Overwrite);
        self.shown = Some(self.put(array, engine, SurfaceDesc::Image(image))?);
        self.draw()
    }

    /// Shows an array closely, beside arrays of other names, with the last `keep` frames of each. The request is this
    /// array's look; without one, it has the look of the first array.
    pub fn look(
        &mut self,
        make: impl FnOnce() -> Result<Seen, ReadError>,
        request: Request,
        keep: usize,
    ) -> Result<(), Failure> {
        self.screen.make_current()?;
        let Screen::Window(window) = &self.screen else {
            return Err(Failure::Shape("an array with a name needs a window; leave out name= or headless=True".into()));
        };
        let array = make().map_err(ViewError::from)?;
        match &mut self.closely {
            Some(view) => view.put_as(array, Some(request).filter(|request| *request != Request::default()))?,
            none => {
                none.insert(ArrayView::open(window.display(), vec![array], request)?).keep(keep, ArrayView::MOST_BYTES)
            }
        }
        self.draw()
    }

    /// Handles the window's events while arrays are shown closely.
    pub fn follow(&mut self, event: &WindowEvent) -> Result<(), Failure> {
        if let (Some(view), Screen::Window(window)) = (&mut self.closely, &self.screen) {
            window.make_current()?;
            if view.event(event, window.size()) {
                window.request_redraw();
            }
        }
        Ok(())
    }

    /// Makes a buffer from an array. When this returns, the array is no longer read.
    pub fn fill(&mut self, array: &Readable<Items>, engine: &Engine) -> Result<(), Failure> {
        self.screen.make_current()?;
        let desc = BufferDesc::new(array.description().len as u64).with_unwritten(Unwritten::Overwrite);
        self.put(array, engine, SurfaceDesc::Buffer(desc)).map(drop)
    }

    fn put<D: Content>(&mut self, array: &Readable<D>, engine: &Engine, desc: SurfaceDesc) -> Result<D, Failure> {
        let place = array.description().span().place;
        self.feed::<D>(place, engine, desc, array.description().work())?.put(array, engine)
    }

    /// Returns the feed for arrays at `place` and moves it to the end of the list, where the current one is.
    fn feed<D: Content>(
        &mut self,
        place: MemoryLocation,
        engine: &Engine,
        desc: SurfaceDesc,
        work: impl Into<String>,
    ) -> Result<&mut Feed, Failure> {
        match self.feeds.iter().position(|feed| feed.place == place) {
            Some(at) => {
                self.feeds[at..].rotate_left(1);
                if let Some(feed) = self.feeds.last_mut()
                    && *feed.link.link().desc() != desc
                {
                    feed.link.resize(desc)?;
                }
            }
            None => {
                let display = self.screen.display();
                let mut policy = self.settings.policy.clone();
                if let Engine::Cuda(backend) = engine
                    && matches!(place, MemoryLocation::Cuda(_))
                    && backend.device().same_device(display.device()).is_yes()
                {
                    policy.prefer = PRODUCED_BY_CUDA.into_iter().find(|path| policy.paths.get(*path).is_some());
                }
                let builder = LinkBuilder::new(desc).shown_by(&display).policy(policy).work(work);
                self.feeds.push(Feed::open::<D>(place, engine, desc, builder)?);
            }
        }
        self.feeds.last_mut().ok_or_else(nothing_shown)
    }

    /// Draws the shown frame, if there is one.
    pub fn draw(&mut self) -> Result<(), Failure> {
        self.screen.make_current()?;
        if let (Some(view), Screen::Window(window)) = (&mut self.closely, &self.screen) {
            let size = window.size();
            if size.width > 0 && size.height > 0 {
                view.draw(size, window.window().scale_factor() as f32)?;
                let is_in_it = self.film.record(|recorder| recorder.frame(window.display(), size));
                window.present()?;
                again(window, is_in_it);
            }
            return Ok(());
        }
        let Some(feed) = self.feeds.last() else { return Ok(()) };
        let shown = feed.link.link().shown()?;
        let SurfaceDesc::Image(image) = shown.desc() else { return Ok(()) };
        let draw = |gl: &GlDisplay, width, height| {
            let area = Extent::new(width, height);
            // Skip the clear if the picture covers everything: it would cost as much as the draw.
            if FIT.place(image.extent, area) != area.full() {
                gl.clear([0.0, 0.0, 0.0, 1.0])?;
            }
            let options = DrawOptions::default().with_fit(FIT);
            gl.draw(shown.surface(), Viewport::full(width, height), options)
        };
        match &self.screen {
            Screen::Memory(_) if self.film.is_under_way() => {
                let Pixels { width, height, bytes } = self.screenshot()?;
                let image = ImageDesc::new(width, height, PixelFormat::Rgba8);
                self.film.record(|recorder| recorder.put(image, bytes));
            }
            Screen::Memory(_) | Screen::Program(_) => {}
            Screen::Offscreen(gl, target) => {
                target.bind()?;
                let (width, height) = target.size();
                draw(gl, width, height)?;
                self.film.record(|recorder| recorder.frame(gl, Extent::new(width, height)));
            }
            Screen::Window(window) => {
                let size = window.size();
                // The window may be minimised.
                if size.width > 0 && size.height > 0 {
                    draw(window.display(), size.width, size.height)?;
                    let is_in_it = self.film.record(|recorder| recorder.frame(window.display(), size));
                    window.present()?;
                    again(window, is_in_it);
                }
            }
        }
        Ok(())
    }

    /// Records everything shown from now on.
    pub fn record(&mut self, output: Output, options: RecordOptions) -> Result<u64, Failure> {
        if matches!(self.screen, Screen::Program(_)) {
            return Err(Failure::Shape(
                "this cannot be recorded because the program does the drawing; record a Viewer instead".into(),
            ));
        }
        self.film.begin(output, options)
    }

    /// Ends the film of that number, which includes the shown frame.
    pub fn stop(&mut self, number: u64) -> Result<FilmSummary, Failure> {
        if self.film.is_by_clock() {
            self.draw()?;
        }
        self.screen.make_current()?;
        self.film.end(number)
    }

    /// Column and row of the array at a position of the window, in pixels from its top left corner.
    pub fn pixel_at(&self, x: f64, y: f64) -> Option<(u32, u32)> {
        let Screen::Window(window) = &self.screen else { return None };
        if let Some(view) = &self.closely {
            return view.pixel_at([x, y], window.size()).map(Into::into);
        }
        let feed = self.feeds.last()?;
        let SurfaceDesc::Image(ImageDesc { extent, .. }) = feed.link.link().desc() else { return None };
        pixel_at(FIT.placement(*extent, window.size()), *extent, [x, y]).map(Into::into)
    }

    /// Draws the texture into the bound framebuffer.
    pub fn draw_into(&self, viewport: Viewport, options: DrawOptions) -> Result<(), Failure> {
        self.screen.make_current()?;
        let (display, shown) = self.program()?;
        Ok(display.draw(shown.surface(), viewport, options)?)
    }

    /// Handles a new size of the window.
    pub fn resized(&mut self, size: Extent) -> Result<(), Failure> {
        self.screen.make_current()?;
        if let Screen::Window(window) = &self.screen {
            window.resize(size)?;
        }
        self.draw()
    }

    /// Brings queued frames to the screen and waits for them.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.screen.make_current()?;
        if let (Some(feed), None) = (self.feeds.last_mut(), &self.closely)
            && feed.link.link().frames_behind() > 0
        {
            feed.link.link_mut().flush()?;
            self.draw()?;
        }
        Ok(self.screen.display().finish()?)
    }

    /// Returns the link of the shown frame.
    fn link(&mut self) -> Option<&mut LinkCore> {
        match &mut self.closely {
            Some(view) => view.link(),
            None => self.feeds.last_mut().map(|feed| feed.link.link_mut()),
        }
    }

    fn newest(&mut self) -> Result<&mut LinkCore, Failure> {
        self.screen.make_current()?;
        let link = self.link().ok_or_else(nothing_shown)?;
        link.flush()?;
        Ok(link)
    }

    /// Returns the most recently shown frame in its own size, as the display has it.
    pub fn screenshot(&mut self) -> Result<Pixels, Failure> {
        let picture = picture(self.newest()?)?;
        let (width, height) = picture.dimensions();
        Ok(Pixels { width, height, bytes: picture.into_raw() })
    }

    /// Returns that frame as a PNG; `None` before the first array.
    pub fn png(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        if self.feeds.is_empty() && self.closely.is_none() {
            return Ok(None);
        }
        match picture_png(self.newest()?) {
            Err(Error::NothingShown) => Ok(None),
            png => Ok(png.map(Some)?),
        }
    }

    /// Returns the shown content as it is stored, in memory of its own. A picture of OpenGL gets to a GPU directly;
    /// everything else passes through the host.
    pub fn capture(&mut self, wanted: ArrayLocation, engines: &Engines) -> Result<Array, Failure> {
        let taker = engines.taker(wanted, Some(self.screen.display().device()))?;
        let desc = *self.newest()?.shown()?.desc();
        if let (Some(backend), SurfaceDesc::Image(image)) = (&taker, desc)
            && let Some(gl) = self.screen.gl().cloned()
        {
            let mut scratch = match self.scratch.take().filter(|scratch| scratch.is_of(&image, backend)) {
                Some(scratch) => scratch,
                None => Scratch::open(&gl, image, backend)?,
            };
            let array = scratch.read(&gl, self.newest()?.shown()?.surface());
            self.scratch = Some(scratch);
            return array;
        }
        Array::of_bytes(&self.newest()?.read_back()?, Layout::of(&desc)?, taker.as_ref())
    }

    /// Opens the path from a texture or buffer of the program to arrays.
    pub fn open_source(
        &mut self,
        object: &Object,
        wanted: ArrayLocation,
        path: Option<PathId>,
        engines: &Engines,
    ) -> Result<PathId, Failure> {
        let context = self.context()?;
        let engine = match engines.taker(wanted, Some(context.display().device()))? {
            Some(backend) => Engine::Cuda(backend),
            None => engines.engine(MemoryLocation::Host)?,
        };
        let surface = context.opened(object)?;
        let taking = ArrayIntake::open(engine, context.display().clone(), surface, self.settings.rows, path)?;
        Ok(self.taking.insert(taking).path())
    }

    /// Opens the path from arrays to a texture or buffer of the program's context.
    pub fn open_target(&mut self, object: Object, path: Option<PathId>) -> Result<SurfaceDesc, Failure> {
        let context = self.context()?;
        self.open_way(Box::new(move || Ok((context.display().clone(), context.opened(&object)?))), path)
    }

    /// Returns the display, which draws, or without drawing holds the pictures.
    pub fn display(&self) -> Arc<dyn Display> {
        self.screen.display()
    }

    /// Opens the path from arrays to the result of `open`, which is opened once here.
    pub fn open_way(&mut self, open: TargetOpener, path: Option<PathId>) -> Result<SurfaceDesc, Failure> {
        let desc = *open()?.1.desc();
        self.giving = Some(ArrayOutlets::new(open, self.settings.rows, path));
        Ok(desc)
    }

    /// Writes an array there. When this returns, the array is no longer read.
    pub fn give<D: Content>(&mut self, array: &Readable<D>, engine: &Engine) -> Result<PathId, Failure> {
        self.screen.make_current()?;
        self.giving.as_mut().ok_or_else(nothing_shown)?.write(array, engine)
    }

    /// Describes the findings about the paths there.
    pub fn target(&self) -> String {
        self.giving.as_ref().map(ArrayOutlets::explain).unwrap_or_default()
    }

    /// The program's context.
    fn context(&self) -> Result<Rc<UserContext>, Failure> {
        match &self.screen {
            Screen::Program(context) => Ok(context.clone()),
            _ => Err(nothing_shown()),
        }
    }

    /// Returns what the program has rendered there so far.
    pub fn take(&mut self) -> Result<(Array, PathId), Failure> {
        self.screen.make_current()?;
        let taking = self.taking.as_mut().ok_or_else(nothing_shown)?;
        Ok((taking.read()?, taking.path()))
    }

    /// Describes the findings about the paths from there.
    pub fn source(&self) -> Option<String> {
        self.taking.as_ref().map(ArrayIntake::explain)
    }

    /// Writes the picture of the newest array to a file.
    pub fn save(&mut self, file: &Path) -> Result<(), Failure> {
        Ok(save_picture(self.newest()?, file)?)
    }

    /// `None` before the first array.
    pub fn status(&mut self) -> Result<Option<Status>, Failure> {
        let json = |found: serde_json::Result<Value>| found.map_err(|e| Failure::Device(e.to_string()));
        let (report, mut explain) = match (&mut self.closely, self.feeds.last()) {
            (Some(view), _) => {
                let Some(link) = view.link() else { return Ok(None) };
                (json(serde_json::to_value(link.report()))?, link.explain() + &view.explain())
            }
            (None, Some(feed)) => {
                let (link, together) = (feed.link.link(), feed.link.report());
                let mut report = json(serde_json::to_value(link.report()))?;
                report["together"] = json(serde_json::to_value(together))?;
                let shown = self.shown.map(|plane| plane.explain()).unwrap_or_default();
                (report, format!("{}{together}{shown}", link.explain()))
            }
            (None, None) => return Ok(None),
        };
        if let Screen::Window(window) = &self.screen {
            explain += &format!("  vsync: {}\n", window.vsync());
        }
        Ok(Some(Status { explain, report: report.to_string() }))
    }

    /// The program's context, and the shown frame.
    fn program(&self) -> Result<(&GlDisplay, ShownFrame<'_>), Failure> {
        match (&self.screen, self.feeds.last()) {
            (Screen::Program(context), Some(feed)) => Ok((context.display(), feed.link.link().shown()?)),
            _ => Err(nothing_shown()),
        }
    }

    /// The texture of the most recently shown array.
    pub fn texture(&self) -> Result<NamedTexture, Failure> {
        let (display, shown) = self.program()?;
        let SurfaceDesc::Image(image) = shown.desc() else { return Err(nothing_shown()) };
        let texture = display.surface_texture(shown.surface())?;
        Ok(NamedTexture { name: texture.id(), target: texture.target, size: image.extent, path: shown.path() })
    }

    /// The buffer of the most recently shown array.
    pub fn buffer(&self) -> Result<NamedBuffer, Failure> {
        let (display, shown) = self.program()?;
        let buffer = display.surface_buffer(shown.surface())?;
        Ok(NamedBuffer { name: buffer.id(), offset: buffer.offset, bytes: buffer.len, path: shown.path() })
    }

    /// The current path; `None` before the first array.
    pub fn path(&mut self) -> Option<&'static str> {
        self.link().map(|link| link.path().name())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The links' objects are deleted in their context; without it, the display keeps them.
        if let Err(error) = self.screen.make_current() {
            tracing::debug!(?error, "a viewer is dropped without its context");
        } else {
            self.film.record(Recorder::flush);
        }
    }
}

/// Draws again if the film does not yet include a picture that stays.
fn again(window: &GlWindow, is_in_it: Option<bool>) {
    if is_in_it == Some(false) {
        window.request_redraw();
    }
}

fn nothing_shown() -> Failure {
    Failure::Shape("nothing has been shown yet; show an array first".into())
}
