//! CUDA beside OpenGL on one NVIDIA GPU, with no window: `PIXELFERRY_GPU=1`.

use crate::suite::common;
use crate::suite::opengl::with_both;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, BufferView, ComputeBackend, ComputeMemory, Display, Extent, HandleType, ImageView, Intake, KernelSource,
    Outlet, OutletFrame, OutletOptions, PathId, PixelFormat, Surface, SurfaceDesc, SurfacePart, Target, View,
};
use std::sync::Arc;

#[test]
fn the_conformance_suite() {
    with_both(|backend, display| {
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let display: Arc<dyn Display> = display;
        common::conformance(&backend, &display);
    });
}

type ImportedSurface = (Surface, Box<dyn ComputeMemory>);

fn import(
    backend: &dyn ComputeBackend,
    display: &dyn Display,
    desc: SurfaceDesc,
) -> interop_core::Result<ImportedSurface> {
    let surface = display.create_surface(&desc)?;
    let memory = backend.import_surface(&surface.export(HandleType::GlObject)?, &desc)?;
    Ok((surface, memory))
}

#[test]
fn textures_take_kernels_of_every_sort() {
    const ADD: &str = "
extern \"C\" __global__ void add(PF_IMAGE(uchar4, out), unsigned int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < out_width && y < out_height) PF_AT(out, x, y).y += n + x;
}";
    const STORE: &str = "
extern \"C\" __global__ void store(PF_IMAGE(uchar4, out), unsigned int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < out_width && y < out_height) PF_STORE(out, x, y, make_uchar4(x, n + x, y, 4));
}";
    with_both(|backend, display| {
        let (width, height) = (37, 21);
        let (_surface, mut memory) =
            import(&backend, display.as_ref(), SurfaceDesc::image(width, height, PixelFormat::Rgba8)).unwrap();
        let whole = ImageView::packed(Extent::new(width, height), PixelFormat::Rgba8, 1, 0, false).unwrap();
        assert!(memory.read(0, &mut [0; 4]).unwrap_err().to_string().contains("acquire"));
        memory.acquire().unwrap();
        for reversed in [false, true] {
            let outer = ImageView::packed(whole.extent, whole.format, 1, 0, reversed).unwrap();
            common::check_pattern(&backend, memory.as_mut(), View::Image(outer), 3);
            let inner = ImageView { offset: outer.row_start(4) + 12, extent: Extent::new(30, 9), ..outer };
            common::check_pattern(&backend, memory.as_mut(), View::Image(inner), 4);
            for (name, text) in [("store", STORE), ("add", ADD)] {
                // SAFETY: both write pixels below the width and height only, and take a number.
                let source = unsafe { KernelSource::new(name).cuda_cpp(text) };
                let Some(kernel) = common::compiled(backend.build(&source)) else { continue };
                let mut expected = vec![10; memory.len()];
                memory.write(0, &expected).unwrap();
                let target = Target::new(memory.as_mut(), View::Image(inner)).unwrap();
                backend.launch(kernel.as_ref(), target, &[Arg::U32(7)]).unwrap();
                for y in 0..9 {
                    for (x, pixel) in expected[inner.row(y)].chunks_mut(4).enumerate() {
                        let x = x as u8;
                        match name {
                            "store" => pixel.copy_from_slice(&[x, 7 + x, y as u8, 4]),
                            _ => pixel[1] += 7 + x,
                        }
                    }
                }
                let mut found = vec![0; memory.len()];
                memory.read(0, &mut found).unwrap();
                assert!(found == expected, "{name}, reversed {reversed}");
            }
        }
        memory.release().unwrap();
    });
}

#[test]
fn several_objects_are_mapped_beside_each_other() {
    with_both(|backend, display| {
        let image = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
        let (_a, mut a) = import(&backend, display.as_ref(), image).unwrap();
        let (_b, mut b) = import(&backend, display.as_ref(), SurfaceDesc::buffer(1000)).unwrap();
        let mut c = backend.allocate(1000).unwrap();
        for _ in 0..3 {
            a.acquire().and_then(|()| b.acquire()).unwrap();
            a.write(0, &[1; 1024]).unwrap();
            b.write(0, &[2; 1000]).unwrap();
            backend.copy(a.as_ref(), b.as_mut(), 0..64).unwrap();
            backend.copy(b.as_ref(), c.as_mut(), 0..128).unwrap();
            a.release().and_then(|()| b.release()).unwrap();
        }
        let mut bytes = [0; 128];
        c.read(0, &mut bytes).unwrap();
        assert!(bytes[..64].iter().all(|b| *b == 1) && bytes[64..].iter().all(|b| *b == 2));
        // Copies into the texture, whole rows and parts of rows.
        let (_d, mut d) = import(&backend, display.as_ref(), image).unwrap();
        a.acquire().unwrap();
        d.acquire().unwrap();
        backend.copy(a.as_ref(), d.as_mut(), 0..1024).unwrap();
        c.write(0, &(0..250).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
        backend.copy(c.as_ref(), d.as_mut(), 8..248).unwrap();
        let mut bytes = [0; 1024];
        d.read(0, &mut bytes).unwrap();
        let expected = |i: usize| if (8..248).contains(&i) { i as u8 } else { 1 };
        assert!(bytes.iter().enumerate().all(|(i, b)| *b == expected(i)), "{bytes:?}");
        assert!(d.read(1, &mut [0; 4]).is_err(), "half a pixel");
    });
}

#[test]
fn wrong_handles_are_refused() {
    with_both(|backend, display| {
        let desc = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
        let surface = display.create_surface(&desc).unwrap();
        let handle = surface.export(HandleType::GlObject).unwrap();
        for wrong in [
            SurfaceDesc::image(17, 16, PixelFormat::Rgba8),
            SurfaceDesc::image(16, 16, PixelFormat::Rgba32F),
            SurfaceDesc::buffer(1024),
        ] {
            let error = backend.import_surface(&handle, &wrong).map(|_| ()).unwrap_err();
            println!("{error}");
        }
        // The right one still works.
        drop(backend.import_surface(&handle, &desc).unwrap());
    });
}

/// Calls of OpenGL come before CUDA's turn or after it, as they were made: `glBufferSubData`, too.
#[test]
fn an_engines_buffer_is_written_in_order() {
    const BYTES: usize = 5000;
    with_both(|backend, display| {
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let shown: Arc<dyn Display> = display.clone();
        let desc = SurfaceDesc::buffer(BYTES as u64);
        let (all, view) = (SurfacePart::full(&desc), View::Buffer(BufferView { offset: 0, len: BYTES }));
        let options = OutletOptions::default().with_path(PathId::DIRECT);
        let surface = || display.create_surface(&desc).unwrap();
        let mut outlet = Outlet::open_with(backend.clone(), shown.clone(), surface(), options).unwrap();
        let mut intake = Intake::open_by(backend.clone(), shown, surface(), PathId::DIRECT).unwrap();
        let mut taken = backend.allocate(BYTES).unwrap();
        for n in 0..500_u32 {
            let [drawn, other] = [vec![n as u8; BYTES], vec![!(n as u8); BYTES]];
            let pattern = Pattern { and_mask: 0, or_mask: u32::from(!(n as u8)) * 0x0101_0101, nonce: 0 };
            let write = |frame: &mut OutletFrame<'_>| backend.write_pattern(frame.target()?, &pattern);
            outlet.surface().upload(&all, &drawn, &view).unwrap();
            outlet.frame_bytes(0..64, write).unwrap();
            let found = outlet.surface().read_back(&all).unwrap();
            assert!(found[..64] == other[..64] && found[64..] == drawn[64..], "frame {n}, after OpenGL");
            outlet.frame(write).unwrap();
            outlet.surface().upload(&all, &drawn, &view).unwrap();
            assert!(outlet.surface().read_back(&all).unwrap() == drawn, "frame {n}, before OpenGL");

            intake.source().upload(&all, &drawn, &view).unwrap();
            let input = intake.take().unwrap();
            backend.copy(input.memory(), taken.as_mut(), 0..BYTES).unwrap();
            drop(input);
            intake.source().upload(&all, &other, &view).unwrap();
            let mut found = vec![0; BYTES];
            taken.read(0, &mut found).unwrap();
            assert!(found == drawn, "frame {n}, what was taken before OpenGL");
        }
    });
}
