//! User kernels: what they write, where, and what is refused.

use crate::suite::{content, every_device, memory_with, on_every_device, vouched};
use interop_core::{Arg, BufferView, ComputeBackend, Error, Extent, ImageView, Kernel, PixelFormat, Target, View};
use opencl_backend::OpenClBackend;
use pixelferry_testing::by_level;
use std::sync::Arc;

fn build(backend: &OpenClBackend, name: &'static str, text: impl Into<String>) -> Arc<dyn Kernel> {
    backend.build(&vouched(name, text.into())).unwrap()
}

/// Writes its own number into each pixel, in every byte of it.
fn numbering(backend: &OpenClBackend, format: PixelFormat) -> Arc<dyn Kernel> {
    let pixel = format.info().c_type;
    let value = match format.bytes_per_pixel() {
        1 => "n".to_owned(),
        size => format!("as_{pixel}((uchar{size})(n))"),
    };
    build(
        backend,
        "numbers",
        format!(
            "__kernel void numbers(PF_IMAGE({pixel}, out), int start) {{
               int x = get_global_id(0), y = get_global_id(1);
               if (x >= out_width || y >= out_height) return;
               uchar n = (uchar)(start + y * out_width + x);
               PF_STORE(out, x, y, {value});
             }}"
        ),
    )
}

/// Returns what [`numbering`] must leave in memory that held `before`.
fn numbered(view: &ImageView, before: u8, len: usize, start: u8) -> Vec<u8> {
    let mut bytes = vec![before; len];
    for y in 0..view.extent.height {
        for (x, pixel) in bytes[view.row(y)].chunks_mut(view.format.bytes_per_pixel()).enumerate() {
            pixel.fill((u32::from(start) + y * view.extent.width + x as u32) as u8);
        }
    }
    bytes
}

#[test]
fn images_of_every_format_width_and_direction() {
    on_every_device(|backend| {
        for format in PixelFormat::ALL {
            let kernel = numbering(backend, format);
            // Drivers compile a kernel again for each size of a group.
            for (w, h) in [(17, 9), (257, 3), (1, 1), (3, 5), (255, 2)].into_iter().take(by_level(1, 5, 5)) {
                for reversed in [false, true] {
                    let bpp = format.bytes_per_pixel();
                    let view = ImageView::packed(Extent::new(w, h), format, 64, 3 * bpp, reversed).unwrap();
                    let len = view.span().end + 70;
                    let mut memory = memory_with(backend, &vec![0xee; len]);
                    let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
                    backend.launch(kernel.as_ref(), target, &[Arg::I32(7)]).unwrap();
                    assert!(content(memory.as_mut()) == numbered(&view, 0xee, len, 7), "{format} {w}x{h} {reversed}");
                }
            }
        }
    });
}

#[test]
fn a_region_of_a_larger_image() {
    on_every_device(|backend| {
        let format = PixelFormat::Rgba8;
        let kernel = numbering(backend, format);
        let whole = ImageView::packed(Extent::new(40, 30), format, 1, 0, false).unwrap();
        let region = ImageView { offset: whole.row_start(4) + 5 * 4, extent: Extent::new(21, 13), ..whole };
        let len = whole.span().end;
        let mut memory = memory_with(backend, &vec![1; len]);
        let target = Target::new(memory.as_mut(), View::Image(region)).unwrap();
        backend.launch(kernel.as_ref(), target, &[Arg::I32(0)]).unwrap();
        assert!(content(memory.as_mut()) == numbered(&region, 1, len, 0));
    });
}

#[test]
fn buffers_with_offsets_own_types_and_items() {
    on_every_device(|backend| {
        let kernel = build(
            backend,
            "fill",
            "typedef struct { float x, y, z; } vertex;
             __kernel void fill(PF_BUFFER(vertex, out), float value) {
               size_t i = get_global_id(0);
               if (i >= PF_LEN(out)) return;
               PF_ITEM(out, i).x = value;
               PF_PTR(out)[i].y = (float)i;
               PF_ITEM(out, i).z = -1;
             }",
        );
        let mut memory = memory_with(backend, &[0; 16 + 12 * 100 + 8]);
        let view = View::Buffer(BufferView { offset: 16, len: 12 * 100 + 5 });
        backend.launch(kernel.as_ref(), Target::new(memory.as_mut(), view).unwrap(), &[Arg::F32(2.5)]).unwrap();
        let bytes = content(memory.as_mut());
        let floats: Vec<f32> = bytes.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect();
        assert_eq!(floats[..4], [0.0; 4]);
        for (i, vertex) in floats[4..304].chunks(3).enumerate() {
            assert_eq!(vertex, [2.5, i as f32, -1.0]);
        }
        assert_eq!(floats[304..], [0.0; 2]);

        // A structure may need any alignment up to 16.
        let view = View::Buffer(BufferView { offset: 4, len: 12 });
        let error = backend.launch(kernel.as_ref(), Target::new(memory.as_mut(), view).unwrap(), &[Arg::F32(0.0)]);
        assert!(error.unwrap_err().to_string().contains("multiple of 16"));
    });
}

#[test]
fn the_number_of_items_of_a_buffer() {
    on_every_device(|backend| {
        let text = "__kernel void count(PF_BUFFER(int, out)) { atomic_inc(&PF_PTR(out)[0]); }";
        for (items, least, most) in [(None, 25, 25 + 256), (Some(1000), 1000, 1000 + 256), (Some(0), 0, 0)] {
            let source = vouched("count", text);
            let kernel = backend.build(&items.map_or(source.clone(), |n| source.with_items(n))).unwrap();
            let mut memory = memory_with(backend, &[0; 100]);
            backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap();
            let count = i32::from_ne_bytes(content(memory.as_mut())[..4].try_into().unwrap());
            assert!((least..=most).contains(&count), "{items:?}: {count}");
        }
    });
}

#[test]
fn arguments_arrive_in_order() {
    on_every_device(|backend| {
        let kernel = build(
            backend,
            "k",
            "__kernel void k(PF_BUFFER(float, out), int a, uint b, float c, __global const float *d) {
               if (get_global_id(0) == 0) {
                 PF_ITEM(out, 0) = a; PF_ITEM(out, 1) = b; PF_ITEM(out, 2) = c; PF_ITEM(out, 3) = d[1];
               }
             }",
        );
        let input = memory_with(backend, &[1.0f32, 8.5].map(f32::to_ne_bytes).concat());
        let mut out = backend.allocate(16).unwrap();
        let args = [Arg::I32(-3), Arg::U32(4_000_000_000), Arg::F32(0.25), Arg::Memory(input.as_ref())];
        backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args).unwrap();
        let expected = [-3.0f32, 4e9, 0.25, 8.5].map(f32::to_ne_bytes).concat();
        assert_eq!(content(out.as_mut()), expected);
    });
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    on_every_device(|backend| {
        let text = "typedef float real;
                    __kernel void k(PF_BUFFER(float, out), float scale, __global float *from, real own, double8 big) {}";
        let text = format!("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{text}");
        let text =
            if backend.opened_device().has_extension("cl_khr_fp64") { text } else { text.replace("double8", "long8") };
        let kernel = build(backend, "k", text);
        let mut out = backend.allocate(16).unwrap();
        let other = backend.allocate(16).unwrap();
        let memory = Arg::Memory(other.as_ref());
        let mut refuse = |args: &[Arg<'_>], words: &[&str]| {
            let error = backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), args).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
            for word in words {
                assert!(error.to_string().contains(word), "{word}: {error}");
            }
        };
        refuse(&[], &["'k'", "4 arguments", "scale", "0 were given"]);
        refuse(&[Arg::I32(1), memory, Arg::F32(0.0), Arg::F32(0.0)], &["'scale'", "f32, but i32 was given"]);
        refuse(&[Arg::F32(1.0), Arg::U32(0), Arg::F32(0.0), Arg::F32(0.0)], &["'from'", "memory, but u32 was given"]);
        refuse(&[Arg::F32(1.0), memory, Arg::F32(0.0), Arg::F32(0.0)], &["'big'", "f32 was given"]);
        refuse(&[memory, memory, Arg::F32(0.0), Arg::F32(0.0)], &["'scale'", "memory was given"]);
    });
}

/// PoCL 3.1 takes eight bytes for a sampler's address, whatever the sampler is called.
#[test]
fn samplers_are_given_no_numbers() {
    on_every_device(|backend| {
        for declared in ["sampler_t", "mine"] {
            let text = format!(
                "typedef sampler_t mine; __kernel void k(PF_BUFFER(float, out), {declared} s) {{ PF_ITEM(out, 0) = 1; }}"
            );
            let kernel = build(backend, "k", text);
            let mut out = backend.allocate(16).unwrap();
            for arg in [Arg::U64(0x4141_4141_4141_4141), Arg::I64(0), Arg::F64(1.0), Arg::U32(1)] {
                let refused = backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &[arg]).unwrap_err();
                assert!(
                    matches!(refused, Error::InvalidInput { .. }) && refused.to_string().contains("'s'"),
                    "{refused}"
                );
            }
        }
    });
}

/// A number under a name of the program's own is a number of its size.
#[test]
fn numbers_under_other_names_arrive() {
    on_every_device(|backend| {
        let text = "typedef float real; typedef long far; enum colour { RED, BLUE };
                    __kernel void k(PF_BUFFER(float, out), real r, far f, enum colour c) {
                      if (get_global_id(0) == 0) PF_ITEM(out, 0) = r + f + c;
                    }";
        let kernel = build(backend, "k", text);
        let mut out = backend.allocate(16).unwrap();
        let args = [Arg::F32(0.5), Arg::I64(40), Arg::U32(1)];
        backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args).unwrap();
        assert_eq!(content(out.as_mut())[..4], 41.5f32.to_ne_bytes());
        let args = [Arg::F64(0.5), Arg::I64(40), Arg::U32(1)];
        let refused = backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args).unwrap_err();
        assert!(refused.to_string().contains("i32 or u32 or f32, but f64 was given"), "{refused}");
    });
}

#[test]
fn targets_that_do_not_fit_are_refused() {
    on_every_device(|backend| {
        let image = numbering(backend, PixelFormat::Rgba8);
        let buffer = build(backend, "k", "__kernel void k(PF_BUFFER(float4, out)) {}");
        let mut memory = backend.allocate(256).unwrap();
        let mut refuse = |kernel: &Arc<dyn Kernel>, view: View, word: &str| {
            let target = Target::new(memory.as_mut(), view).unwrap();
            let error = backend.launch(kernel.as_ref(), target, &[Arg::I32(0)]).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
            assert!(error.to_string().contains(word), "{word}: {error}");
        };
        let view =
            |format, offset, row_pitch| View::Image(ImageView { offset, row_pitch, extent: Extent::new(2, 2), format });
        refuse(&image, View::Buffer(BufferView { offset: 0, len: 16 }), "a buffer was given");
        refuse(&buffer, view(PixelFormat::Rgba8, 0, 8), "an image was given");
        refuse(&image, view(PixelFormat::Rgba32F, 0, 32), "uchar4, 4 B each, but a pixel of RGBA32F has 16 B");
        refuse(&image, view(PixelFormat::Rgba8, 2, 8), "multiples of the pixel's 4 bytes");
        refuse(&image, view(PixelFormat::Rgba8, 0, 10), "multiples of the pixel's 4 bytes");
        refuse(&buffer, View::Buffer(BufferView { offset: 8, len: 16 }), "multiple of 16 bytes");
    });
}

#[test]
fn kernels_and_memories_of_others_are_foreign() {
    for device in every_device() {
        let (here, there) = (OpenClBackend::open(&device).unwrap(), OpenClBackend::open(&device).unwrap());
        let text = "__kernel void k(PF_BUFFER(int, out), __global int *from) {}";
        let (kernel, stranger) = (build(&here, "k", text), build(&there, "k", text));
        let (mut a, mut b) = (here.allocate(64).unwrap(), there.allocate(64).unwrap());
        let c = here.allocate(64).unwrap();
        let foreign = |result: interop_core::Result<()>, what: &str| match result {
            Err(Error::Foreign { object, .. }) => assert_eq!(object, what),
            other => panic!("{other:?}"),
        };
        let args = [Arg::Memory(c.as_ref())];
        foreign(here.launch(stranger.as_ref(), Target::buffer(a.as_mut()), &args), "kernel");
        foreign(here.launch(kernel.as_ref(), Target::buffer(b.as_mut()), &args), "memory");
        foreign(here.launch(kernel.as_ref(), Target::buffer(a.as_mut()), &[Arg::Memory(b.as_ref())]), "memory");
        foreign(here.copy(a.as_ref(), b.as_mut(), 0..4), "memory");
        foreign(here.copy(b.as_ref(), a.as_mut(), 0..4), "memory");
        here.launch(kernel.as_ref(), Target::buffer(a.as_mut()), &args).unwrap();
        here.finish().unwrap();
    }
}

#[test]
fn pixels_can_be_read_back_and_converted() {
    on_every_device(|backend| {
        let kernel = build(
            backend,
            "k",
            "__kernel void k(PF_IMAGE(uchar4, out)) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x >= out_width || y >= out_height) return;
               float4 old = convert_float4(PF_AT(out, x, y)) / 255.0f;
               PF_STORE(out, x, y, pf_rgba8(old.zyx, old.w * 0.5f));
             }",
        );
        let mut memory = memory_with(backend, &[10, 20, 30, 200].repeat(15));
        let target = Target::image(memory.as_mut(), Extent::new(5, 3), PixelFormat::Rgba8).unwrap();
        backend.launch(kernel.as_ref(), target, &[]).unwrap();
        assert_eq!(content(memory.as_mut()), [30, 20, 10, 100].repeat(15));
    });
}

#[test]
fn a_required_group_size_is_used() {
    on_every_device(|backend| {
        let kernel = build(
            backend,
            "k",
            "__attribute__((reqd_work_group_size(8, 4, 1))) __kernel void k(PF_IMAGE(uchar2, out)) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x < out_width && y < out_height)
                 PF_AT(out, x, y) = (uchar2)(get_local_size(0), get_local_size(1));
             }",
        );
        let mut memory = backend.allocate(13 * 7 * 2).unwrap();
        let target = Target::image(memory.as_mut(), Extent::new(13, 7), PixelFormat::Rg8).unwrap();
        backend.launch(kernel.as_ref(), target, &[]).unwrap();
        assert_eq!(content(memory.as_mut()), [8, 4].repeat(13 * 7));
    });
}

#[test]
fn kernels_and_memories_outlive_the_backend() {
    on_every_device(|backend| {
        let (kernel, mut memory) = {
            let short = OpenClBackend::open(backend.opened_device()).unwrap();
            let kernel = build(&short, "k", "__kernel void k(PF_BUFFER(uchar, out)) { PF_ITEM(out, 0) = 9; }");
            let mut memory = short.allocate(1).unwrap();
            short.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap();
            (kernel, memory)
        };
        assert_eq!(content(memory.as_mut()), [9]);
        drop(kernel);
    });
}
