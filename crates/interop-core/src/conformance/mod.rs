//! One suite for every (backend, display, path): what users may rely on, whoever implements it.
//!
//! Backends and displays of other crates run it too: [`run`] gives rows, [`Table`] prints them. What displays draw is
//! [`Drawing`]s.

mod cases;
mod drawing;
mod table;
mod unwritten;

pub use cases::CASES;
pub use drawing::Drawing;
pub use table::{Outcome, Row, Table};

use crate::capability::{Support, SyncKind};
use crate::compute::ComputeBackend;
use crate::display::Display;
use crate::error::Result;
use crate::format::PixelFormat;
use crate::link::{Link, LinkOptions};
use crate::path::{PathId, Paths};
use crate::pattern::Pattern;
use crate::select::{Mode, Policy};
use crate::surface::SurfaceDesc;
use crate::view::{ImageView, View};
use std::rc::Rc;
use std::sync::Arc;

/// Why a case did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The pair does not offer the path for this surface.
    Skipped(String),
    /// It is not as promised.
    Failed(String),
}

impl From<crate::Error> for Failure {
    fn from(e: crate::Error) -> Self {
        Self::Failed(e.to_string())
    }
}

/// What a case is run on.
pub struct Context<'a> {
    /// The side that writes.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The side that shows.
    pub display: &'a Rc<dyn Display>,
    /// What may be taken.
    pub paths: &'a Paths,
    /// The path of these that is.
    pub path: PathId,
    /// How frames are shown, and how the two sides are kept apart.
    pub manner: Manner,
}

/// A part of the [`Policy`] that every case must hold for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// See [`Policy::mode`].
    pub mode: Mode,
    /// See [`Policy::sync`].
    pub sync: Option<SyncKind>,
}

impl Manner {
    /// Shown so many frames late.
    pub const fn late(frames: usize) -> Self {
        Self { mode: Mode::FramesLate(frames), sync: None }
    }
}

impl Context<'_> {
    /// Opens a link by this very path.
    pub fn open(&self, desc: SurfaceDesc) -> Result<Link, Failure> {
        let Manner { mode, sync } = self.manner;
        let policy = Policy { paths: self.paths.clone(), force: Some(self.path), mode, sync, ..Policy::default() };
        let pairing = policy.pairing(self.backend, self.display, &desc);
        let offered = policy.paths.get(self.path).map(|spec| spec.offer(&pairing));
        if let Some(Support::No(reason)) = offered {
            return Err(Failure::Skipped(reason));
        }
        let options = LinkOptions { policy };
        Ok(Link::open(Arc::clone(self.backend), Rc::clone(self.display), desc, options)?)
    }

    /// Formats of images that the display shows.
    pub fn formats(&self) -> Vec<PixelFormat> {
        self.display.caps().image_formats.clone()
    }

    /// Finishes a frame with the pattern of `nonce`, written by a kernel. Returns its bytes in tight rows.
    pub fn pattern_frame(&self, link: &mut Link, nonce: u32) -> Result<Vec<u8>, Failure> {
        let desc = *link.desc();
        let mut frame = link.acquire()?;
        let view = tight(&desc)?;
        let pattern = Pattern::for_view(&view, nonce);
        self.backend.write_pattern(frame.target()?, &pattern)?;
        frame.finish()?;
        link.flush()?;
        let mut bytes = vec![0; view.payload_len()];
        pattern.write(&view, &mut bytes);
        Ok(bytes)
    }
}

/// The view of tight rows in the surface's order.
pub fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(crate::view::BufferView { offset: 0, len: desc.byte_len("tight")? }),
    })
}

/// Fails where `shown` differs from `expected`, saying where.
pub fn same_bytes(what: &str, expected: &[u8], shown: &[u8]) -> Result<(), Failure> {
    if expected.len() != shown.len() {
        return Err(Failure::Failed(format!("{what}: {} bytes shown, {} expected", shown.len(), expected.len())));
    }
    match expected.iter().zip(shown).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(Failure::Failed(format!(
            "{what}: byte {at} of {} is {:#04x}, should be {:#04x}",
            shown.len(),
            shown[at],
            expected[at]
        ))),
    }
}

/// Runs every case on every built-in path between the two.
pub fn run(backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>, manner: Manner) -> Vec<Row> {
    run_on(&Paths::default(), backend, display, manner)
}

/// The same on these paths, a program's own among them.
pub fn run_on(paths: &Paths, backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>, manner: Manner) -> Vec<Row> {
    let mut rows = Vec::new();
    for path in paths.iter().map(|spec| spec.id) {
        for case in CASES {
            let outcome = match (case.run)(&Context { backend, display, paths, path, manner }) {
                Ok(()) => Outcome::Pass,
                Err(Failure::Skipped(reason)) => Outcome::Skipped(reason),
                Err(Failure::Failed(reason)) => Outcome::Fail(reason),
            };
            rows.push(Row {
                compute: backend.device().to_string(),
                display: display.device().to_string(),
                path,
                case: case.name,
                outcome,
            });
        }
    }
    rows
}
