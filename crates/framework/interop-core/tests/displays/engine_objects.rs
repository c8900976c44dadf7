//! Images and buffers of an engine's: what it rendered is taken, and frames go into them. What displays on Vulkan and on wgpu
//! do alike; their suites have this file.

use cpu_fallback::CpuBackend;
use interop_core::{
    ComputeBackend, Display, Error, Intake, Outlet, OutletFrame, OutletOptions, PathId, Result, Surface, Unwritten,
    View,
};
use pixelferry_testing::Dice;
use std::sync::Arc;

/// An object of an engine's.
pub trait Object {
    fn surface(&self) -> Surface;

    /// Returns what the engine itself finds in it.
    fn got(&self) -> Vec<u8>;

    /// The engine makes every byte of it 255, where it can.
    fn whiten(&self) -> bool;
}

fn backend() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

pub fn intake(display: &Arc<dyn Display>, source: Surface, by: Option<PathId>) -> Result<Intake> {
    match by {
        Some(path) => Intake::open_by(backend(), Arc::clone(display), source, path),
        None => Intake::open(backend(), Arc::clone(display), source),
    }
}

pub fn outlet(display: &Arc<dyn Display>, target: Surface, by: Option<PathId>) -> Result<Outlet> {
    let options = by.map_or_else(OutletOptions::default, |path| OutletOptions::default().with_path(path));
    Outlet::open_with(backend(), Arc::clone(display), target, options)
}

/// For frames that write every pixel, so that nothing is read.
pub fn overwriting(display: &Arc<dyn Display>, target: Surface) -> Result<Outlet> {
    let options = OutletOptions::default().with_unwritten(Unwritten::Overwrite);
    Outlet::open_with(backend(), Arc::clone(display), target, options)
}

/// A frame of these tight rows or bytes.
pub fn write(bytes: &[u8]) -> impl FnMut(&mut OutletFrame<'_>) -> Result<()> {
    move |frame| {
        let (memory, view) = frame.target()?.into_parts();
        match view {
            View::Buffer(view) => memory.write(view.offset, bytes),
            View::Image(view) => {
                let rows = (0..).zip(bytes.chunks(view.row_len()));
                rows.into_iter().try_for_each(|(y, row)| memory.write(view.row(y).start, row))
            }
        }
    }
}

pub fn noise(dice: &mut Dice, len: usize) -> Vec<u8> {
    (0..len).map(|_| dice.below(256) as u8).collect()
}

/// Frames into the object and back, and what the engine finds in between, while it draws, too. The path, where it is offered.
pub fn round(display: &Arc<dyn Display>, object: &dyn Object, by: Option<PathId>, frames: usize) -> Option<PathId> {
    let (mut dice, desc) = (Dice(7), *object.surface().desc());
    let len = desc.byte_len().unwrap();
    let mut given = match outlet(display, object.surface(), by) {
        Ok(given) => given,
        Err(Error::Unavailable { .. }) if by.is_some() => return None,
        Err(other) => panic!("{by:?}, {desc}: {other}"),
    };
    let mut taken = intake(display, object.surface(), by).unwrap();
    for frame in 0..frames {
        let expected = noise(&mut dice, len);
        given.frame(write(&expected)).unwrap();
        assert!(object.got() == expected, "{desc} by {}, frame {frame}", given.path());
        assert!(taken.take().unwrap().read().unwrap() == expected, "{desc} by {}, frame {frame}", taken.path());
        if object.whiten() {
            assert!(taken.take().unwrap().read().unwrap() == vec![255; len], "{desc}: the engine draws on, {frame}");
        }
    }
    Some(taken.path())
}

/// The paths that carry frames both ways.
pub fn on_every_path(display: &Arc<dyn Display>, object: &dyn Object) -> Vec<PathId> {
    let ran: Vec<_> = PathId::ALL.into_iter().filter_map(|path| round(display, object, Some(path), 3)).collect();
    println!("{ran:?}");
    ran
}

/// An engine's window is dragged: it has another image every few frames, and draws in between.
pub fn objects_are_made_anew<O: Object>(display: &Arc<dyn Display>, objects: u32, make: impl Fn(u32, u32, usize) -> O) {
    let mut dice = Dice(30);
    for n in 0..objects {
        let (width, height) = (1 + dice.below(90) as u32, 1 + dice.below(60) as u32);
        round(display, &make(width, height, n as usize), None, 15).unwrap();
    }
}

pub fn refused(found: Result<impl Sized>, says: &str) {
    match found.err() {
        Some(error @ Error::InvalidInput { .. }) if error.to_string().contains(says) => println!("{error}"),
        other => panic!("{says}: {other:?}"),
    }
}
