//! A program's own path. Its panics are caught and count as failures of the path.

use super::contract::{SharingPath, not_begun};
use super::pairing::Pairing;
use crate::compute::Target;
use crate::describe::error::{Error, Result};
use crate::describe::panics::{self, contain};
use crate::describe::path_id::PathId;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Content, InPlaceDriver, Staging, Surface, SurfaceDriver, SurfacePart};
use std::sync::{Arc, OnceLock};

/// A path that the program supplies; a panic in it counts as its failure. [`super::PathSpec::open`] makes it.
pub struct PluggedPath {
    id: PathId,
    /// `None` only during the drop.
    path: Option<Box<dyn SharingPath>>,
    missing: Surface,
    /// The path's first panic.
    panicked: Arc<OnceLock<Error>>,
    /// The path's first synchronisation, used where it panics instead of returning one.
    sync: SyncKind,
}

impl PluggedPath {
    pub(super) fn open(
        id: PathId,
        syncs: &[SyncKind],
        pairing: &Pairing<'_>,
        open: &dyn Fn(&Pairing<'_>) -> Result<Box<dyn SharingPath>>,
    ) -> Result<Self> {
        // A path made from this pairing makes all its slots at once.
        let pairing = &Pairing { pieces_at_once: usize::MAX, ..*pairing };
        let path = panics::as_error(&what(id), || open(pairing))?;
        let sync = pairing.sync.or(syncs.first().copied()).unwrap_or(SyncKind::Finish);
        let panicked = Arc::default();
        Ok(Self { id, path: Some(path), missing: MissingSurface::of(*pairing.desc, &panicked), panicked, sync })
    }

    /// Runs `f`, unless the path has panicked before: its state is unknown then, so no frame is begun or finished.
    fn call<'a, R>(&'a mut self, f: impl FnOnce(&'a mut dyn SharingPath) -> Result<R>) -> Result<R> {
        match self.panicked.get() {
            Some(error) => Err(error.clone()),
            None => self.call_again(f),
        }
    }

    /// Runs `f` even after a panic, for frames that were finished before.
    fn call_again<'a, R>(&'a mut self, f: impl FnOnce(&'a mut dyn SharingPath) -> Result<R>) -> Result<R> {
        let Some(path) = self.path.as_deref_mut() else { return Err(not_begun()) };
        let done = panics::as_error(&what(self.id), || f(path));
        if let Err(error @ Error::Panicked { .. }) = &done {
            self.panicked.get_or_init(|| error.clone());
        }
        done
    }

    /// Returns a property of the path; `otherwise` where it panics.
    fn ask<'a, R>(&'a self, otherwise: R, f: impl FnOnce(&'a dyn SharingPath) -> R) -> R {
        let Some(path) = self.path.as_deref() else { return otherwise };
        match panics::as_error(&what(self.id), || Ok(f(path))) {
            Ok(answer) => answer,
            Err(error) => {
                self.panicked.get_or_init(|| error);
                otherwise
            }
        }
    }
}

fn what(id: PathId) -> String {
    format!("path {id}")
}

impl SharingPath for PluggedPath {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        self.call(|path| path.begin(part))
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.call(|path| path.target())
    }

    fn finish(&mut self) -> Result<()> {
        self.call(|path| path.finish())
    }

    fn flush(&mut self) -> Result<()> {
        self.call(|path| path.flush())
    }

    fn overlay_unshown(&mut self, shown: &mut [u8]) -> Result<()> {
        self.call_again(|path| path.overlay_unshown(shown))
    }

    fn frames_behind(&self) -> usize {
        self.ask(0, |path| path.frames_behind())
    }

    fn set_frames_behind(&mut self, frames: usize) -> Result<()> {
        self.call(|path| path.set_frames_behind(frames))
    }

    fn trim(&mut self) {
        // A panic is reported by the next call.
        let _ = self.call(|path| {
            path.trim();
            Ok(())
        });
    }

    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let before = self.call(|path| path.resize(pairing))?;
        if before.is_some() {
            self.missing = MissingSurface::of(*pairing.desc, &self.panicked);
        }
        Ok(before)
    }

    fn slots(&self) -> usize {
        // At least one slot: the one that is written.
        self.ask(1, |path| path.slots()).max(1)
    }

    fn slot(&self) -> usize {
        self.ask(0, |path| path.slot())
    }

    fn shown_frame(&self) -> Option<FrameTag> {
        self.ask(None, |path| path.shown_frame())
    }

    fn cancel(&mut self) {
        let _ = self.call(|path| {
            path.cancel();
            Ok(())
        });
    }

    fn surface(&self) -> &Surface {
        self.ask(&self.missing, |path| path.surface())
    }

    fn surface_mut(&mut self) -> &mut Surface {
        let Some(path) = self.path.as_deref_mut() else { return &mut self.missing };
        match panics::as_error(&what(self.id), || Ok(path.surface_mut())) {
            Ok(surface) => surface,
            Err(error) => {
                self.panicked.get_or_init(|| error);
                &mut self.missing
            }
        }
    }

    fn sync(&self) -> SyncKind {
        self.ask(self.sync, |path| path.sync())
    }
}

impl Drop for PluggedPath {
    fn drop(&mut self) {
        let path = self.path.take();
        contain("path of the program", || drop(path));
    }
}

/// Placeholder for a surface that the path panicked instead of returning.
struct MissingSurface {
    panicked: Arc<OnceLock<Error>>,
}

impl MissingSurface {
    fn of(desc: SurfaceDesc, panicked: &Arc<OnceLock<Error>>) -> Surface {
        let missing = || Self { panicked: Arc::clone(panicked) };
        Surface::of_no_display("the program's path".into(), desc, missing(), missing())
    }
}

impl<C: Content> SurfaceDriver<C> for MissingSurface {
    fn read_back(&mut self, _: &C::At) -> Result<Vec<u8>> {
        Err(self.panicked.get().cloned().unwrap_or(Error::NothingShown))
    }
}

impl<C: Content> InPlaceDriver<C> for MissingSurface {
    fn show(&mut self, _: &Staging, _: &C::View) -> Result<()> {
        Err(not_begun())
    }
}
