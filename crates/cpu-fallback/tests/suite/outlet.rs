//! Frames into an object that somebody else has: what is left after failures.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::display::{Part, Staging, Surface};
use interop_core::{Display, Error, Outlet, OutletFrame, PixelFormat, Result, SurfaceDesc, View};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// A surface that refuses what it is given, for a while.
struct Fickle {
    inner: Box<dyn Surface>,
    refuses: Rc<Cell<bool>>,
}

impl Fickle {
    fn check(&self) -> Result<()> {
        match self.refuses.get() {
            true => Err(Error::Unsupported { operation: "upload", device: "test".into(), reason: "on purpose".into() }),
            false => Ok(()),
        }
    }
}

impl Surface for Fickle {
    fn desc(&self) -> &SurfaceDesc {
        self.inner.desc()
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        self.check()?;
        self.inner.upload(at, bytes, view)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        self.check()?;
        self.inner.upload_staged(at, staging, view)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        self.inner.read_back(part)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn an_outlet_whose_paths_all_failed_keeps_the_one_it_has() {
    let display = MemoryDisplay::new() as Rc<dyn Display>;
    let desc = SurfaceDesc::image(9, 5, PixelFormat::R8);
    let refuses = Rc::new(Cell::new(false));
    let target = Fickle { inner: display.create_surface(&desc).unwrap(), refuses: Rc::clone(&refuses) };
    let mut outlet = Outlet::open(Arc::new(CpuBackend::new().unwrap()), display, Box::new(target)).unwrap();
    let works = |outlet: &Outlet| outlet.rows().iter().filter(|row| row.found.is_ok()).count();
    let before = (outlet.path(), works(&outlet));
    let write = |value| move |frame: &mut OutletFrame<'_>| frame.target()?.into_parts().0.write(0, &[value; 45]);
    for value in 1..4 {
        refuses.set(true);
        let error = outlet.frame(write(99)).unwrap_err();
        assert!(error.to_string().contains("on purpose"), "{error}");
        refuses.set(false);
        outlet.frame(write(value)).unwrap();
        assert_eq!(outlet.surface().read_back(&Part::full(&desc)).unwrap(), [value; 45]);
    }
    assert_eq!((outlet.path(), works(&outlet)), before, "it was not the paths' fault");
}
