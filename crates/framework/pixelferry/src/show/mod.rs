//! Shows a program's kernel in a window, or saves a picture where no window can be opened.

mod show_options;
mod window;

use interop_core::{Error, Result};
use pixelferry_gl::{WindowOptions, run_window};
pub use show_options::Show;
use window::Viewer;

/// Computes frames with a kernel and shows them in a window until it is closed.
///
/// The wheel zooms about the pointer, and a drag moves the picture. Keys: `F` fits all of it, `1` shows it at its own
/// size, Space pauses the time, `S` saves the shown picture, `?` lists the keys on standard error, Escape closes. Where
/// no window can be opened, one frame is saved as a picture, and a line says where. Standard error shows which device
/// computes and which draws, and which sources of the kernel do not build for other devices.
///
/// [`Show`] has options and arguments for the kernel. Call this function from the main thread, once in a process.
///
/// # Errors
/// [`Error::Unsupported`] where no pair of backend and display on this machine runs the kernel, with the reason of
/// each; [`Error::KernelBuild`] and [`Error::InvalidInput`] where none does because of a mistake in the text or the
/// arguments; [`Error::InvalidInput`] where the picture cannot be saved.
///
/// ```no_run
/// use pixelferry::prelude::*;
///
/// let rings = KernelSource::new("rings").cpu_image(|out, args| {
///     let t = args.f32(0)?;
///     out.par_pixels(|x, y| [(127.0 + 127.0 * (0.1 * (x as f32).hypot(y as f32) - t).sin()) as u8, 90, 160, 255])
/// });
/// pixelferry::show(Show::new(rings).arguments(|time| [Arg::F32(time)]))?;
/// # Ok::<(), pixelferry::Error>(())
/// ```
pub fn show(what: impl Into<Show>) -> Result<()> {
    what.into().run()
}

impl Show {
    /// Shows the frames; see [`show`].
    ///
    /// # Errors
    /// Those of [`show`].
    pub fn run(self) -> Result<()> {
        self.check()?;
        let options =
            WindowOptions::default().with_title(&*self.title).with_size(self.size).with_max_frames(self.frames);
        let mut viewer = Viewer::new(self);
        match run_window(&options, &mut viewer) {
            Ok(_) => Ok(()),
            // No window was opened, so nothing was shown yet.
            Err(error @ Error::Unavailable { .. }) if !viewer.is_open() => viewer.into_show().still(&error),
            Err(error) => Err(error),
        }
    }
}
