//! Films of shown frames: pictures in order, at a constant rate, without stalling the drawing thread.
//!
//! A [`Recorder`] reads drawn frames through a ring of reads that the device performs while frames continue, and a
//! thread of its own writes the film. The film's name selects its kind: [`Output`]. Where the writer is behind, frames
//! are dropped and counted. If each picture is one frame of the film ([`RecordOptions::step`]), the program waits
//! instead, and no frame is dropped.
//!
//! ```
//! use pixelferry_media::record::{Output, RecordOptions, Recorder};
//! use pixelferry::{ImageDesc, PixelFormat};
//!
//! let path = std::env::temp_dir().join("pixelferry-doc.y4m");
//! // A second of film for each 25 pictures, however long they take.
//! let options = RecordOptions::default().with_rate(25).with_step(true);
//! let mut recorder = Recorder::create(Output::named(&path)?, options)?;
//! let image = ImageDesc::new(64, 48, PixelFormat::Rgba8);
//! for level in [50, 100, 150] {
//!     recorder.put(image, vec![level; 64 * 48 * 4])?;
//! }
//! let recorded = recorder.finish()?;
//! assert_eq!((recorded.frames, recorded.dropped), (3, 0));
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod film;
mod output;
mod recorder;
mod sink;

pub use error::RecordError;
pub use output::Output;
pub use recorder::{FilmSummary, RecordOptions, Recorder};
