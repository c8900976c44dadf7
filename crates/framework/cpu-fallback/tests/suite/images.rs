//! Images of every format, size, pitch and direction, written by kernels and by the pattern.

use cpu_fallback::{CpuBackend, CpuKernelExt, CpuOptions};
use half::f16;
use interop_core::{ComputeBackend, Error, Extent, ImageView, Kernel, KernelSource, PixelFormat, Target, View};
use pixelferry_testing::Dice;
use std::sync::Arc;

/// No bound for small images, so that even one pixel goes through the pool.
fn parallel() -> CpuBackend {
    CpuBackend::with_options(&CpuOptions::default().with_threads(3).with_serial_items(0)).unwrap()
}

const FILLER: u8 = 0xA5;

/// Bytes of a memory of `len` bytes, first filled with [`FILLER`], after `write` was let at the view.
fn written(
    backend: &CpuBackend,
    len: usize,
    view: View,
    write: impl FnOnce(Target<'_>) -> interop_core::Result<()>,
) -> Vec<u8> {
    let mut memory = backend.allocate(len).unwrap();
    memory.write(0, &vec![FILLER; len]).unwrap();
    write(Target::new(memory.as_mut(), view).unwrap()).unwrap();
    let mut bytes = vec![0; len];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

/// Byte `at` of the pixel that the kernel below writes.
fn byte(x: u32, y: u32, at: usize) -> u8 {
    (x + 7 * y + 31 * at as u32) as u8
}

fn bytes<const N: usize>(x: u32, y: u32) -> [u8; N] {
    std::array::from_fn(|at| byte(x, y, at))
}

fn kernel(backend: &CpuBackend) -> Arc<dyn Kernel> {
    let source = KernelSource::new("positions").cpu_image(|out, _| match out.format() {
        // A pixel may be any type of its size.
        PixelFormat::R8 => out.par_pixels(|x, y| byte(x, y, 0)),
        PixelFormat::R16F => out.par_pixels(|x, y| f16::from_ne_bytes(bytes(x, y))),
        PixelFormat::Rgb10A2 => out.par_pixels(|x, y| u32::from_ne_bytes(bytes(x, y))),
        PixelFormat::Rgba16F => out.par_rows::<[f16; 4]>(|y, row| {
            for (x, pixel) in (0..).zip(row) {
                let bytes = bytes::<8>(x, y);
                *pixel = std::array::from_fn(|c| f16::from_ne_bytes([bytes[2 * c], bytes[2 * c + 1]]));
            }
        }),
        format => match format.bytes_per_pixel() {
            2 => out.par_pixels(bytes::<2>),
            4 => out.par_pixels(bytes::<4>),
            8 => out.par_pixels(bytes::<8>),
            _ => out.par_pixels(bytes::<16>),
        },
    });
    backend.build(&source).unwrap()
}

/// Returns what the kernel must leave in a memory of `len` bytes.
fn expected(len: usize, view: &ImageView) -> Vec<u8> {
    let mut bytes = vec![FILLER; len];
    for y in 0..view.extent.height {
        for x in 0..view.extent.width {
            let start = view.row_start(y) + x as usize * view.format.bytes_per_pixel();
            for (at, to) in bytes[start..start + view.format.bytes_per_pixel()].iter_mut().enumerate() {
                *to = byte(x, y, at);
            }
        }
    }
    bytes
}

#[test]
fn every_format_and_odd_sizes_in_both_directions() {
    for backend in [CpuBackend::new().unwrap(), parallel()] {
        let kernel = kernel(&backend);
        for format in PixelFormat::ALL {
            for (width, height) in [(1, 1), (1, 7), (7, 1), (33, 17), (65, 67), (129, 3)] {
                for (alignment, base, reversed) in [(1, 0, false), (1, 3, true), (64, 64, false), (256, 1, true)] {
                    let extent = Extent::new(width, height);
                    let view = ImageView::packed(extent, format, alignment, base, reversed).unwrap();
                    let len = view.span().end + 5;
                    let bytes = written(&backend, len, View::Image(view), |target| {
                        backend.launch(kernel.as_ref(), target, &[])
                    });
                    assert!(bytes == expected(len, &view), "{view:?}");
                }
            }
        }
    }
}

#[test]
fn a_region_leaves_its_surroundings_alone() {
    let backend = parallel();
    let kernel = kernel(&backend);
    let whole = ImageView::packed(Extent::new(50, 40), PixelFormat::Rgba8, 1, 0, false).unwrap();
    let region = ImageView { extent: Extent::new(11, 9), ..whole.moved_to(whole.row_start(6) + 4 * 13) };
    let len = whole.span().end;
    let bytes = written(&backend, len, View::Image(region), |target| backend.launch(kernel.as_ref(), target, &[]));
    assert!(bytes == expected(len, &region));
}

#[test]
fn a_pixel_type_of_the_wrong_size_is_refused_and_named() {
    let backend = CpuBackend::new().unwrap();
    let source = KernelSource::new("wide").cpu_image(|out, _| out.par_pixels(|_, _| [0.0f32; 4]));
    let kernel = backend.build(&source).unwrap();
    let mut memory = backend.allocate(4096).unwrap();
    let target = Target::image(memory.as_mut(), Extent::new(4, 4), PixelFormat::Rgba8).unwrap();
    let error = backend.launch(kernel.as_ref(), target, &[]).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }));
    let text = error.to_string();
    assert!(text.contains("'wide'") && text.contains("16 B, a pixel of RGBA8 has 4 B"), "{text}");
}

#[test]
fn large_images_are_the_same_with_any_number_of_threads() {
    let extent = Extent::new(501, 333);
    let view = ImageView::packed(extent, PixelFormat::Rgba32F, 1, 0, true).unwrap();
    let len = view.span().end;
    let all: Vec<Vec<u8>> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let backend = CpuBackend::with_options(&CpuOptions::default().with_threads(threads)).unwrap();
            let kernel = kernel(&backend);
            written(&backend, len, View::Image(view), |target| backend.launch(kernel.as_ref(), target, &[]))
        })
        .collect();
    assert!(all[0] == expected(len, &view) && all[0] == all[1] && all[0] == all[2]);
}

/// Rows of any size and pitch, in either direction, anywhere.
#[test]
fn any_view_gets_its_pixels_and_nothing_else() {
    let mut dice = Dice(11);
    let backends = [CpuBackend::new().unwrap(), parallel()];
    let kernels = backends.each_ref().map(kernel);
    for n in 0..256 {
        let mut below = |most| dice.below(most);
        let format = PixelFormat::ALL[below(PixelFormat::ALL.len())];
        let extent = Extent::new(1 + below(69) as u32, 1 + below(39) as u32);
        let row = extent.width as usize * format.bytes_per_pixel();
        // One row has no next one to overlap.
        let pitch = if extent.height == 1 { 0 } else { row + below(40) };
        let (before, after) = (below(40), below(9));
        let last = before + pitch * (extent.height as usize - 1);
        let (offset, row_pitch) = if below(2) == 0 { (before, pitch as isize) } else { (last, -(pitch as isize)) };
        let view = ImageView { offset, row_pitch, extent, format };
        let (len, of) = (last + row + after, n % 2);
        let bytes = written(&backends[of], len, View::Image(view), |target| {
            backends[of].launch(kernels[of].as_ref(), target, &[])
        });
        assert!(bytes == expected(len, &view), "{view:?}");
    }
}
