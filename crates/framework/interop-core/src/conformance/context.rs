//! The devices, paths and settings that a case runs with.

use super::failure::Failure;
use super::pixels::tight;
use crate::compute::ComputeBackend;
use crate::describe::error::Result;
use crate::describe::format::PixelFormat;
use crate::describe::pattern::Pattern;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::{Support, SyncKind};
use crate::display::Display;
use crate::link::{Link, LinkCore, LinkOptions};
use crate::path::{PathId, Paths};
use crate::select::{Audit, Mode, Policy};
use std::num::NonZero;
use std::sync::Arc;

/// The devices, paths and settings that a case runs with.
pub struct Context<'a> {
    /// The backend, which writes frames.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The display, which shows frames.
    pub display: &'a Arc<dyn Display>,
    /// The set that `path` belongs to.
    pub paths: &'a Paths,
    /// The only path that the case may use.
    pub path: PathId,
    /// Mode and synchronisation of the links.
    pub manner: Manner,
}

/// The settings of the [`Policy`] under which every case must pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// Selects which frame is shown, see [`Policy::mode`].
    pub mode: Mode,
    /// Synchronisation of the two sides, see [`Policy::sync`].
    pub sync: Option<SyncKind>,
}

impl Manner {
    /// Shows frames this many behind.
    pub const fn late(frames: usize) -> Self {
        Self { mode: Mode::FramesBehind(frames), sync: None }
    }
}

impl Context<'_> {
    /// Opens a link on exactly this path.
    pub fn open(&self, desc: SurfaceDesc) -> Result<Link, Failure> {
        let Manner { mode, sync } = self.manner;
        // A wrong frame is an error of a forced path, and so is an audit that takes a right one for wrong.
        let audit = Audit::Every(NonZero::<u32>::MIN);
        let policy =
            Policy { paths: self.paths.clone(), force: Some(self.path), mode, sync, audit, ..Policy::default() };
        let pairing = policy.pairing(self.backend, self.display, &desc);
        let offered = policy.paths.get(self.path).map(|spec| spec.check_support(&pairing));
        if let Some(Support::No(reason)) = offered {
            return Err(Failure::Skipped(reason));
        }
        let options = LinkOptions { policy };
        Ok(Link::open(Arc::clone(self.backend), Arc::clone(self.display), desc, options)?)
    }

    /// Returns the formats of images that the display shows.
    pub fn formats(&self) -> Vec<PixelFormat> {
        self.display.caps().image_formats.clone()
    }

    /// Finishes a frame with the pattern of `nonce`, written by a kernel. Returns its bytes in tight rows.
    pub fn pattern_frame(&self, link: &mut LinkCore, nonce: u32) -> Result<Vec<u8>, Failure> {
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
