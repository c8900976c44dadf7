//! Shows arrays in a window, or saves a picture instead.

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::live_arrays::LiveArrays;
use crate::shown_array::{ShownArray, by_data};
use crate::view::ArrayView;
use image::ImageBuffer;
use pixelferry::api::gl::winit::event::WindowEvent;
use pixelferry::api::gl::{Flow, GlWindow, Waker, WindowApp, WindowOptions, run_window};
use pixelferry::{Extent, command::check_picture_file, save_rgba8};
use pixelferry_look::{Plane, Request, window_for};
use pixelferry_media::record::Recorder;
use std::mem;
use std::path::Path;

/// Smallest window: lines of text need room that a small array does not have.
pub const SMALLEST: [u32; 2] = [640, 480];

/// Shows arrays in a window until the user closes it, the first array first, with the keys of [`KEYS`](crate::KEYS). It
/// then also shows what `live` brings.
///
/// Call it once in a process, and from the main thread on platforms that require it. Returns the recorder, whose film
/// continues.
///
/// # Errors
/// [`ViewError::Refused`] before any window is opened; [`ViewError::Driver`] if no window can be opened.
pub fn show(mut arrays: Vec<Array>, request: Request, live: LiveArrays) -> Result<Option<Recorder>, ViewError> {
    live.begin(&mut arrays)?;
    let waiting = ShownArray::all(arrays, &request)?;
    let options = WindowOptions::default().with_title("pixelferry view").with_size(size_for(&waiting));
    let mut app = App { waiting, live, view: None, title: String::new() };
    run_window(&options, &mut app)?;
    Ok(app.live.recorder)
}

/// Returns the size of a window for arrays.
pub fn size_for(arrays: &[ShownArray]) -> Extent {
    let most = |side: fn(&Plane) -> u32| arrays.iter().map(|shown| i64::from(side(&shown.plane))).max().unwrap_or(1);
    let [width, height] = window_for([most(|plane| plane.width), most(|plane| plane.height)]);
    Extent::new(width.max(SMALLEST[0]), height.max(SMALLEST[1]))
}

/// Saves an array's picture at its own size; needs no window and no driver.
///
/// # Errors
/// [`ViewError::Refused`] if array and look do not match, [`ViewError::Save`] if the file cannot be written.
pub fn save(array: &Array, request: &Request, file: &Path) -> Result<(), ViewError> {
    check_picture_file(file)?;
    let plane = array.measured(array.plane(&by_data(*request))?, &mut None)?;
    let pixels = array.read(&plane.span, |bytes| plane.pixels(bytes))??;
    // The buffer has exactly the picture's bytes.
    let picture = ImageBuffer::from_raw(plane.width, plane.height, pixels).ok_or(ReadError::NoFrame)?;
    Ok(save_rgba8(picture, file)?)
}

/// Explains how an array is interpreted and shown, with its range and the table of guesses.
///
/// # Errors
/// [`ViewError::Refused`] if array and look do not match.
pub fn explain(array: &Array, request: &Request) -> Result<String, ViewError> {
    Ok(array.measured(array.plane(&by_data(*request))?, &mut None)?.explain())
}

struct App {
    /// Arrays to show once the window is open.
    waiting: Vec<ShownArray>,
    live: LiveArrays,
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
        // The film must include a picture that does not change.
        Ok(if is_in_it { Flow::Wait } else { Flow::Continue })
    }

    fn closing(&mut self, _: &GlWindow) {
        if let Some(Err(error)) = self.live.recorder.as_mut().map(Recorder::flush) {
            tracing::warn!(%error, "the last frames are missing in the film");
        }
        self.view = None;
    }
}
