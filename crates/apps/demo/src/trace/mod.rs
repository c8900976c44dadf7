//! Traces: what the host and the devices did, frame by frame, in one file that `chrome://tracing` and
//! [Perfetto](https://ui.perfetto.dev) open.
//!
//! The file is an array of the
//! [trace event format](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). The spans of
//! the crate `tracing` are slices of the thread that made them. What devices did ([`pixelferry::driver::devices::timeline`]) has a track
//! for each of their queues, and an arrow leads to it from the moment at which the host queued it. Frame, path and slot
//! are arguments of both.
//!
//! ```no_run
//! use pixelferry_demo::trace::Trace;
//! use tracing_subscriber::layer::SubscriberExt as _;
//! use tracing_subscriber::util::SubscriberInitExt as _;
//!
//! # fn run(backend: &dyn pixelferry::ComputeBackend, display: &dyn pixelferry::Display)
//! #     -> Result<(), Box<dyn std::error::Error>> {
//! let trace = Trace::create("out.json")?;
//! tracing_subscriber::registry().with(trace.layer()).init();
//! trace.watch(backend, display)?;
//! for frame in 0..100 {
//!     // ... a frame ...
//!     trace.collect(backend, display)?;
//! }
//! trace.finish()?;
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | what a program calls | [`Trace`] |
//! | the file, event by event | `file` |
//! | from spans to events | `layer` |

mod error;
mod file;
mod layer;
mod writer;

pub use error::TraceError;
pub use writer::Trace;
