//! The window, and a picture in its place.

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::live::Live;
use crate::shown::Shown;
use crate::view::ArrayView;
use image::ImageBuffer;
use pixelferry::api::gl::winit::event::WindowEvent;
use pixelferry::api::gl::{Flow, GlWindow, Waker, WindowApp, WindowOptions, run_window};
use pixelferry::{Extent, command::check_picture_file, save_rgba8};
use pixelferry_look::{Plane, Request, window_for};
use pixelferry_media::record::Recorder;
use std::mem;
use std::path::Path;

/// Smallest window: lines of text need room that a small array does not.
pub const SMALLEST: [u32; 2] = [640, 480];

/// Shows arrays in a window until it is closed, the first at first, with the keys of [`KEYS`](crate::KEYS); then also what comes
/// live.
///
/// Call it once in a process, from the main thread where the platform insists.
///
/// # Errors
/// [`ViewError::Refused`] before any window is opened; [`ViewError::Driver`] where there is none to be had.
/// Gives the recorder back, whose film goes on.
pub fn show(mut arrays: Vec<Array>, request: Request, live: Live) -> Result<Option<Recorder>, ViewError> {
    live.begin(&mut arrays)?;
    let waiting = Shown::all(arrays, &request)?;
    let options = WindowOptions::default().with_title("pixelferry view").with_size(size_for(&waiting));
    let mut app = App { waiting, live, view: None, title: String::new() };
    run_window(&options, &mut app)?;
    Ok(app.live.recorder)
}

/// Size of a window for arrays.
pub fn size_for(arrays: &[Shown]) -> Extent {
    let most = |side: fn(&Plane) -> u32| arrays.iter().map(|shown| i64::from(side(&shown.plane))).max().unwrap_or(1);
    let [width, height] = window_for([most(|plane| plane.width), most(|plane| plane.height)]);
    Extent::new(width.max(SMALLEST[0]), height.max(SMALLEST[1]))
}

/// Saves an array's picture, at its own size; no window and no driver is needed.
///
/// # Errors
/// [`ViewError::Refused`] where array and look do not go together, [`ViewError::Save`] where the file is not written.
pub fn save(array: &Array, request: &Request, file: &Path) -> Result<(), ViewError> {
    check_picture_file(file)?;
    let plane = array.measured(array.plane(request)?, &mut None)?;
    let pixels = array.read(&plane.span, |bytes| plane.pixels(bytes))??;
    // As many as the picture has.
    let picture = ImageBuffer::from_raw(plane.width, plane.height, pixels).ok_or(ReadError::NoFrame)?;
    Ok(save_rgba8(picture, file)?)
}

/// Explains in words what an array is taken for and how it is shown, with its range, and the table of what is guessed.
///
/// # Errors
/// [`ViewError::Refused`] where array and look do not go together.
pub fn explain(array: &Array, request: &Request) -> Result<String, ViewError> {
    Ok(array.measured(array.plane(request)?, &mut None)?.explain())
}

struct App {
    /// Until the window is open.
    waiting: Vec<Shown>,
    live: Live,
    view: Option<ArrayView>,
    title: String,
}

impl WindowApp for App {
    type Error = ViewError;

    fn waker(&mut self, waker: Waker) {
        self.live.wake_by(move || waker.wake());
    }

    fn init(&mut self, window: &GlWindow) -> Result<(), ViewError> {
        self.view = Some(self.live.view(window.display(), mem::take(&mut self.waiting))?);
        Ok(())
    }

    fn event(&mut self, window: &GlWindow, event: &WindowEvent) {
        if self.view.as_mut().is_some_and(|view| view.event(event, window.size())) {
            window.request_redraw();
        }
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, ViewError> {
        let Some(view) = &mut self.view else { return Ok(Flow::Exit) };
        self.live.follow(view);
        view.draw(window.size(), window.window().scale_factor() as f32)?;
        let title = view.title();
        if title != self.title {
            window.set_title(&title);
            self.title = title;
        }
        let Some(recorder) = &mut self.live.recorder else { return Ok(Flow::Wait) };
        let is_in_it = recorder.frame(window.display(), window.size())?;
        // What stays on show gets into the film, too.
        Ok(if is_in_it { Flow::Wait } else { Flow::Continue })
    }

    fn closing(&mut self, _: &GlWindow) {
        if let Some(Err(error)) = self.live.recorder.as_mut().map(Recorder::flush) {
            tracing::warn!(%error, "the last frames are not in the film");
        }
        self.view = None;
    }
}
