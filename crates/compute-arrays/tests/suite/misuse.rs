//! What callers get wrong is refused, with a reason.

use crate::{backends, on_every_backend};
use compute_arrays::{Arrays, Expr, Monoid, Scan};
use cpu_fallback::CpuBackend;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, BufferView, ComputeBackend, ComputeCaps, ComputeMemory, DeviceIdentity, Error, Extent, Kernel, KernelSource,
    PixelFormat, Result, Target, View,
};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

fn refused<T: Debug>(result: Result<T>, words: &str) {
    match result {
        Err(error @ Error::InvalidInput { .. }) if error.to_string().contains(words) => {}
        other => panic!("expected a refusal with '{words}', got {other:?}"),
    }
}

#[test]
fn shapes_must_agree() {
    on_every_backend(|arrays| {
        let (a, b) = (arrays.from_slice(&[1.0f32; 4]).unwrap(), arrays.from_slice(&[1.0f32; 5]).unwrap());
        refused(arrays.eval(&a + &b), "[4] and [5]");
        refused(arrays.eval(Expr::constant(1.0f32)), "Arrays::tabulate");
        refused(arrays.tabulate(&[3], &a), "[4]");
        refused(arrays.tabulate::<u32>(&[usize::MAX, 2], 1), "counted");
        refused(arrays.tabulate::<u32>(&[usize::MAX / 2], 1), "counted");
        let mut c = arrays.empty::<f32>(&[5]).unwrap();
        refused(c.assign(&a), "[4]");
        refused(c.update(|old| old + &a), "[4]");
        refused(a.expr().scan_into(&Monoid::sum(), Scan::Inclusive, &mut c), "[4]");
        refused(c.write(&[0.0; 4]), "4 elements");
        refused(c.read(&mut [0.0; 6]), "6 elements");
        refused(a.view().item(&[4]), "outside");
        refused(arrays.from_slice(&[1]).unwrap().reshape(&[2]), "another number");
        // Nothing was changed by all that.
        assert_eq!(a.to_vec().unwrap(), [1.0; 4]);
    });
}

/// A side of 0 makes the others harmless, though their product cannot be counted.
#[test]
fn arrays_of_no_elements_have_none_whatever_their_shape() {
    on_every_backend(|arrays| {
        let shape = [usize::MAX, 2, 0];
        let mut none = arrays.empty::<f32>(&shape).unwrap();
        assert_eq!((none.len(), none.is_empty(), none.to_vec().unwrap()), (0, true, vec![]));
        none.update(|old| old + 1.0).unwrap();
        let same = arrays.eval(none.view().transpose().expr() * 2.0).unwrap();
        assert_eq!((same.len(), same.shape()), (0, &[0, 2, usize::MAX][..]));
        assert_eq!(none.sum().unwrap(), 0.0);
        let running = none.view().expr().scan(&Monoid::sum(), Scan::Inclusive).unwrap();
        assert_eq!(running.len(), 0);
        refused(none.view().item(&[0, 0, 0]), "outside");
        refused(none.expr().minimum(), "no elements");
    });
}

#[test]
fn arrays_of_two_owners_do_not_mix() {
    let all = backends();
    for first in &all {
        let here = Arrays::new(Arc::clone(first)).unwrap();
        let there = Arrays::new(Arc::clone(&all[0])).unwrap();
        let (a, mut b) = (here.from_slice(&[1u32; 4]).unwrap(), there.from_slice(&[1u32; 4]).unwrap());
        let results = [
            here.eval(&a + &b).map(|_| ()),
            here.eval(&b).map(|_| ()),
            b.assign(&a),
            a.expr().scan_into(&Monoid::sum(), Scan::Inclusive, &mut b),
            a.expr().reduce_into(&Monoid::sum(), &mut b),
        ];
        for result in results {
            assert!(matches!(result, Err(Error::Foreign { .. })), "{result:?}");
        }
    }
}

#[test]
fn memory_of_another_backend_is_found_out() {
    on_every_backend(|arrays| {
        let other = CpuBackend::new().unwrap();
        let mut foreign = arrays.from_memory::<u32>(other.allocate(64).unwrap(), &[16]).unwrap();
        let a = arrays.from_slice(&[1u32; 16]).unwrap();
        assert!(matches!(foreign.assign(&a), Err(Error::Foreign { .. })));
        assert!(matches!(arrays.eval(&foreign + &a), Err(Error::Foreign { .. })));
        assert!(matches!(foreign.sum(), Err(Error::Foreign { .. })));
        refused(arrays.from_memory::<u32>(other.allocate(63).unwrap(), &[16]), "too few");
    });
}

/// Memory of a caller's own type, which says that it is longer than what it wraps.
struct Boast(Box<dyn ComputeMemory>);

impl ComputeMemory for Boast {
    fn len(&self) -> usize {
        1 << 16
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.0.read(offset, into)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.0.write(offset, from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.0.map_read(range, f)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.0.map_write(range, f)
    }

    fn release(&mut self) -> Result<()> {
        self.0.release()
    }
}

#[test]
fn memory_that_says_more_than_it_has_shows_nothing_of_others() {
    on_every_backend(|arrays| {
        let small = Box::new(Boast(arrays.backend().allocate(64).unwrap()));
        let mut array = arrays.from_memory::<u32>(small, &[1 << 14]).unwrap();
        let same = arrays.from_slice(&vec![1u32; 1 << 14]).unwrap();
        assert!(matches!(array.sum(), Err(Error::Foreign { .. })));
        assert!(matches!(arrays.eval(&array + &same), Err(Error::Foreign { .. })));
        assert!(matches!(array.assign(&same), Err(Error::Foreign { .. })));
        assert!(array.to_vec().is_err());
    });
}

#[test]
fn parts_of_closures_stay_there() {
    on_every_backend(|arrays| {
        let mut a = arrays.from_slice(&[1u32; 4]).unwrap();
        let mut stolen = None;
        a.update(|old| {
            stolen = Some(old.clone());
            old
        })
        .unwrap();
        refused(arrays.tabulate(&[4], stolen.unwrap()), "closure");
        let mut side = None;
        Monoid::new(0u32, |a, b| {
            side = Some(a.clone());
            a + b
        })
        .unwrap();
        refused(arrays.tabulate(&[4], side.unwrap()), "closure");
        refused(Monoid::new(0u64, |a, b| a + b + Expr::index()), "closure");
    });
}

#[test]
fn too_deep_is_an_error_and_not_the_end() {
    on_every_backend(|arrays| {
        let a = arrays.from_slice(&[1u32; 4]).unwrap();
        let mut e = a.expr();
        for _ in 0..200_000 {
            e = e + 1;
        }
        refused(arrays.eval(e), "deep");
    });
}

#[test]
fn targets_are_checked_and_only_they_are_written() {
    on_every_backend(|arrays| {
        let mut memory = arrays.backend().allocate(64).unwrap();
        memory.write(0, &[0xff; 64]).unwrap();
        let a = arrays.from_slice(&[1u32, 2, 3]).unwrap();
        let part = |offset, len| View::Buffer(BufferView { offset, len });
        arrays.write(Target::new(memory.as_mut(), part(16, 12)).unwrap(), &a * 2).unwrap();
        let mut bytes = [0u8; 64];
        memory.read(0, &mut bytes).unwrap();
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_ne_bytes(*b)).collect();
        assert_eq!(words[3..8], [u32::MAX, 2, 4, 6, u32::MAX]);
        refused(arrays.write(Target::new(memory.as_mut(), part(2, 12)).unwrap(), &a), "whole number");
        refused(arrays.write(Target::new(memory.as_mut(), part(0, 11)).unwrap(), &a), "whole number");
        refused(arrays.write(Target::new(memory.as_mut(), part(0, 16)).unwrap(), &a), "4 elements");
        let image = Target::image(memory.as_mut(), Extent::new(2, 2), PixelFormat::Rgba8).unwrap();
        refused(arrays.write(image, &a), "image");
    });
}

/// A double: a backend that breaks its contract and gives less memory than it was asked for.
struct Short(CpuBackend);

// SAFETY: all calls are handed on unchanged, but for the length that the test is about; the CPU's backend checks every range.
unsafe impl ComputeBackend for Short {
    fn device(&self) -> &DeviceIdentity {
        self.0.device()
    }

    fn caps(&self) -> &ComputeCaps {
        self.0.caps()
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        self.0.build(source)
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        self.0.allocate(bytes.min(64))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        self.0.launch(kernel, target, args)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.0.write_pattern(target, pattern)
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        self.0.copy(from, to, range)
    }

    fn finish(&self) -> Result<()> {
        self.0.finish()
    }
}

#[test]
fn memory_shorter_than_asked_for_is_refused() {
    let arrays = Arrays::new(Arc::new(Short(CpuBackend::new().unwrap()))).unwrap();
    assert!(arrays.empty::<u32>(&[16]).is_ok());
    let error = arrays.empty::<u32>(&[17]).unwrap_err();
    assert!(matches!(&error, Error::Driver(_)) && error.to_string().contains("64 bytes were given for 68"), "{error}");
}
