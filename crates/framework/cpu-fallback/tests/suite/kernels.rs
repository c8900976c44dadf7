//! Kernels: buffers, arguments, failures, and memory given twice.

use cpu_fallback::{CpuBackend, CpuKernelExt, CpuOptions};
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, BufferView, ComputeBackend, ComputeMemory, Error, Extent, HostBlock, Kernel, KernelSource, Language,
    PixelFormat, QueueOptions, Target, View,
};
use std::panic::panic_any;
use std::sync::Arc;

fn backends() -> [CpuBackend; 2] {
    [
        CpuBackend::new().unwrap(),
        CpuBackend::with_options(&CpuOptions::default().with_threads(2).with_serial_items(0)).unwrap(),
    ]
}

fn content(memory: &mut dyn ComputeMemory) -> Vec<u8> {
    let mut bytes = vec![0; memory.len()];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

fn scale(backend: &CpuBackend) -> Arc<dyn Kernel> {
    let source = KernelSource::new("scale").cpu_buffer(|out, args| {
        let (factor, input) = (args.f32(0)?, args.memory::<f32>(1)?);
        out.par_items(|i| factor * input.get(i).copied().unwrap_or(0.0))
    });
    backend.build(&source).unwrap()
}

#[test]
fn items_chunks_and_slices_reach_every_byte() {
    for backend in backends() {
        for (offset, len) in [(0, 40_000), (1, 40_001), (3, 4), (8, 4099)] {
            let source = KernelSource::new("steps").cpu_buffer(|out, _| {
                out.par_items(|i| i as u32)?;
                out.par_chunks::<u32>(1000, |chunk, items| items.iter_mut().for_each(|v| *v += chunk as u32))
            });
            let kernel = backend.build(&source).unwrap();
            let mut memory = backend.allocate(offset + len + 3).unwrap();
            let target = Target::new(memory.as_mut(), View::Buffer(BufferView { offset, len })).unwrap();
            backend.launch(kernel.as_ref(), target, &[]).unwrap();
            let mut expected = vec![0; offset + len + 3];
            for i in 0..len / 4 {
                expected[offset + 4 * i..][..4].copy_from_slice(&((i + i / 1000) as u32).to_ne_bytes());
            }
            assert!(content(memory.as_mut()) == expected, "{offset} {len}");
        }
    }
}

/// Payload of a panic that panics again when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a drop, on purpose");
    }
}

/// A kernel of any of the kinds, all of whose work items panic.
fn bombs() -> KernelSource {
    KernelSource::new("bombs")
        .cpu_image(|out, _| {
            out.par_rows::<[u8; 4]>(|_, _| panic_any(Bomb))?;
            out.par_pixels::<[u8; 4]>(|_, _| panic_any(Bomb))
        })
        .cpu_buffer(|out, _| match out.byte_len() {
            4 => panic_any(Bomb),
            8 => out.par_items::<u32>(|_| panic_any(Bomb)),
            _ => out.par_chunks::<u32>(64, |_, _| panic_any(Bomb)),
        })
}

#[test]
fn panics_that_carry_what_panics_again_end_the_launch_and_no_more() {
    for backend in backends() {
        let (kernel, good) = (backend.build(&bombs()).unwrap(), scale(&backend));
        let failed = |outcome| {
            let text = format!("{outcome:?}");
            assert!(matches!(outcome, Err(Error::KernelFailed { .. })) && text.contains("it panicked"), "{text}");
        };
        let mut image = backend.allocate(4 * 300 * 200).unwrap();
        let target = Target::image(image.as_mut(), Extent::new(300, 200), PixelFormat::Rgba8).unwrap();
        failed(backend.launch(kernel.as_ref(), target, &[]));
        let queue = backend.queue(QueueOptions::in_order()).unwrap();
        for bytes in [4, 8, 400_000] {
            let mut memory = backend.allocate(bytes).unwrap();
            failed(backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]));
            let event = queue.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[], &[]).unwrap();
            failed(event.wait());
            let input = backend.allocate(4).unwrap();
            let args = [Arg::F32(2.0), Arg::Memory(input.as_ref())];
            backend.launch(good.as_ref(), Target::buffer(memory.as_mut()), &args).unwrap();
            queue.launch(good.as_ref(), Target::buffer(memory.as_mut()), &args, &[]).unwrap().wait().unwrap();
        }
    }
}

#[test]
fn items_that_do_not_fit_are_refused() {
    let backend = CpuBackend::new().unwrap();
    type Code = fn(&mut cpu_fallback::CpuBuffer<'_>) -> interop_core::Result<()>;
    let cases: [(&str, Code); 5] = [
        ("larger than the target", |out| out.par_items(|_| [0u64; 8])),
        ("no size", |out| out.par_items(|_| ())),
        ("empty chunks", |out| out.par_chunks::<u8>(0, |_, _| ())),
        ("not aligned", |out| out.as_slice_mut::<u32>().map(|_| ())),
        ("no size, chunks", |out| out.par_chunks::<[u8; 0]>(4, |_, _| ())),
    ];
    for (name, code) in cases {
        let kernel = backend.build(&KernelSource::new(name).cpu_buffer(move |out, _| code(out))).unwrap();
        let mut memory = backend.allocate(64).unwrap();
        let target = Target::new(memory.as_mut(), View::Buffer(BufferView { offset: 1, len: 17 })).unwrap();
        let error = backend.launch(kernel.as_ref(), target, &[]).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains(name), "{error}");
    }
    let source = KernelSource::new("aligned").cpu_buffer(|out, _| {
        out.as_slice_mut::<u32>()?.fill(7);
        Ok(())
    });
    let kernel = backend.build(&source).unwrap();
    let mut memory = backend.allocate(18).unwrap();
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap();
    let expected: Vec<u8> = [7u32; 4].iter().flat_map(|v| v.to_ne_bytes()).chain([0, 0]).collect();
    assert_eq!(content(memory.as_mut()), expected);
}

#[test]
fn arguments_arrive_and_wrong_ones_are_named() {
    for backend in backends() {
        let kernel = scale(&backend);
        let mut input = backend.allocate(400).unwrap();
        let floats: Vec<f32> = (0..100).map(|i| i as f32).collect();
        input.write(0, bytemuck::cast_slice(&floats)).unwrap();
        let mut out = backend.allocate(400).unwrap();
        let args = [Arg::F32(0.5), Arg::Memory(input.as_ref())];
        backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args).unwrap();
        let halves: Vec<f32> = floats.iter().map(|v| v * 0.5).collect();
        assert_eq!(content(out.as_mut()), bytemuck::cast_slice::<f32, u8>(&halves));

        for (args, named) in [
            (&[][..], "argument 0 (f32) is missing"),
            (&[Arg::I32(1), Arg::Memory(input.as_ref())][..], "argument 0 is i32"),
            (&[Arg::F32(1.0), Arg::U32(3)][..], "argument 1 is u32"),
        ] {
            let error = backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), args).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains(named), "{error}");
        }
    }
}

#[test]
fn a_panic_is_an_error_and_everything_goes_on() {
    for backend in backends() {
        let source = KernelSource::new("fragile").cpu_image(|out, args| {
            let bad = args.u32(0)?;
            out.par_pixels(|x, y| {
                assert!(y != bad, "row {y} is bad");
                [x as u8, y as u8, 1, 1]
            })
        });
        let kernel = backend.build(&source).unwrap();
        let mut memory = backend.allocate(4 * 64 * 64).unwrap();
        let mut run = |bad| {
            let target = Target::image(memory.as_mut(), Extent::new(64, 64), PixelFormat::Rgba8).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::U32(bad)])
        };
        for _ in 0..3 {
            match run(13) {
                Err(Error::KernelFailed { kernel, reason, .. }) => {
                    assert_eq!(kernel, "fragile");
                    assert!(reason.contains("row 13 is bad"), "{reason}");
                }
                other => panic!("{other:?}"),
            }
            run(1000).unwrap();
        }
        let bytes = content(memory.as_mut());
        assert_eq!(bytes[4 * (13 * 64 + 5)..][..4], [5, 13, 1, 1]);
    }
}

#[test]
fn a_panic_with_no_text_and_an_error_of_the_kernels_own() {
    let backend = CpuBackend::new().unwrap();
    let mut memory = backend.allocate(4).unwrap();
    let kernel = backend.build(&KernelSource::new("k").cpu_buffer(|_, _| std::panic::panic_any(5))).unwrap();
    let error = backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap_err();
    assert!(matches!(error, Error::KernelFailed { .. }), "{error}");
    let source = KernelSource::new("k").cpu_buffer(|_, _| Err(Error::invalid("k", "not today")));
    let kernel = backend.build(&source).unwrap();
    let error = backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap_err();
    assert_eq!(error.to_string(), "k: not today");
}

#[test]
fn kernels_without_the_closure_that_is_needed() {
    let backend = CpuBackend::new().unwrap();
    for source in [
        // SAFETY: nothing runs either.
        unsafe { KernelSource::new("cl").opencl_c("__kernel void cl() {}") },
        // SAFETY: nothing runs either.
        unsafe { KernelSource::new("text").with_text(Language::Rust, "fn text() {}") },
        KernelSource::new("none"),
    ] {
        assert!(matches!(backend.build(&source), Err(Error::Unsupported { .. })));
    }
    let mut memory = backend.allocate(64).unwrap();
    let images_only = backend.build(&KernelSource::new("i").cpu_image(|_, _| Ok(()))).unwrap();
    let error = backend.launch(images_only.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap_err();
    assert!(error.to_string().contains("cpu_buffer"), "{error}");
    let buffers_only = backend.build(&KernelSource::new("b").cpu_buffer(|_, _| Ok(()))).unwrap();
    let target = Target::image(memory.as_mut(), Extent::new(4, 4), PixelFormat::Rgba8).unwrap();
    let error = backend.launch(buffers_only.as_ref(), target, &[]).unwrap_err();
    assert!(error.to_string().contains("cpu_image"), "{error}");
}

#[test]
fn objects_of_another_backend_are_foreign() {
    let (a, b) = (CpuBackend::new().unwrap(), CpuBackend::new().unwrap());
    let kernel = scale(&a);
    let (mut of_a, mut of_b) = (a.allocate(64).unwrap(), b.allocate(64).unwrap());
    let is_foreign = |outcome: interop_core::Result<()>| assert!(matches!(outcome, Err(Error::Foreign { .. })));
    is_foreign(b.launch(kernel.as_ref(), Target::buffer(of_b.as_mut()), &[]));
    is_foreign(a.launch(kernel.as_ref(), Target::buffer(of_b.as_mut()), &[]));
    let args = [Arg::F32(1.0), Arg::Memory(of_b.as_ref())];
    is_foreign(a.launch(kernel.as_ref(), Target::buffer(of_a.as_mut()), &args));
    is_foreign(a.copy(of_b.as_ref(), of_a.as_mut(), 0..4));
    is_foreign(a.copy(of_a.as_ref(), of_b.as_mut(), 0..4));
    let view = View::Buffer(BufferView { offset: 0, len: 64 });
    is_foreign(a.write_pattern(Target::buffer(of_b.as_mut()), &Pattern::for_view(&view, 1)));
}

#[test]
fn the_target_cannot_be_an_argument_too() {
    for backend in backends() {
        let kernel = scale(&backend);
        let block = HostBlock::allocate(4096).unwrap();
        let mut one = backend.import_host(&block).unwrap();
        let two = backend.import_host(&block).unwrap();
        let args = [Arg::F32(1.0), Arg::Memory(two.as_ref())];
        let error = backend.launch(kernel.as_ref(), Target::buffer(one.as_mut()), &args).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        assert!(error.to_string().contains("argument 1 (memory)"), "{error}");
        // Part of the target is enough.
        let part = Target::new(one.as_mut(), View::Buffer(BufferView { offset: 4092, len: 4 })).unwrap();
        assert!(backend.launch(kernel.as_ref(), part, &args).is_err());
        // The same memory twice as an argument is only read.
        let mut out = backend.allocate(4096).unwrap();
        let args = [Arg::F32(1.0), Arg::Memory(one.as_ref()), Arg::Memory(two.as_ref())];
        backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args).unwrap();
        // A refused launch must leave nothing locked.
        one.write(0, &[1; 8]).unwrap();
    }
}

#[test]
fn kernels_may_use_rayon_themselves() {
    use rayon::prelude::*;
    let backend = CpuBackend::with_options(&CpuOptions::default().with_threads(3).with_serial_items(0)).unwrap();
    let source = KernelSource::new("own").cpu_buffer(|out, _| {
        let threads = rayon::current_num_threads() as u8;
        out.as_slice_mut::<u8>()?.par_iter_mut().for_each(|b| *b = threads);
        Ok(())
    });
    let kernel = backend.build(&source).unwrap();
    let mut memory = backend.allocate(100).unwrap();
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap();
    assert_eq!(content(memory.as_mut()), [3; 100]);
}
