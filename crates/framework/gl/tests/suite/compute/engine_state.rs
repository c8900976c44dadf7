//! In an engine's context every call leaves the state as it found it.

use super::common::FILL;
use super::{glsl, textures};
use crate::suite::common::tight;
use crate::suite::engine::Engine;
use crate::suite::images::queue;
use crate::suite::kernels::PAINT;
use crate::suite::state::{engine_framebuffers, make_unusual, snapshot, unchanged};
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, BufferView, ComputeBackend as _, Display as _, DrawOptions, Extent, ImageView, KernelSource, Link,
    LinkOptions, PixelFormat, StagingKind, SurfaceDesc, Target, Unwritten, View,
};
use pixelferry_gl::{GlBackend, Viewport};
use std::sync::Arc;

#[test]
fn an_engines_state_stays_as_it_was() {
    let Some(engine) = Engine::new() else { return };
    for on in [false, true] {
        let (gl, display) = (engine.glow(), engine.pixelferry(None));
        make_unusual(&gl, on, true);
        engine_framebuffers(&gl);
        let before = snapshot(&gl);
        let backend = unchanged(&gl, "on", || GlBackend::on(&display).unwrap());
        let build = |name, text| backend.build(&KernelSource::new(name).wgsl(text)).unwrap();
        let paint = unchanged(&gl, "build", || build("paint", PAINT));
        let fill = unchanged(&gl, "build", || build("fill", FILL));
        unchanged(&gl, "build wrong", || backend.build(&KernelSource::new("k").wgsl("fn k() {")).err().unwrap());
        let shared = || backend.allocate_shared(4096, queue(&backend), display.device()).unwrap();
        let (mut target, handle) = unchanged(&gl, "allocate_shared", shared);
        let mut others: Vec<_> =
            (0..4).map(|_| unchanged(&gl, "allocate", || backend.allocate(256).unwrap())).collect();
        for other in &mut others {
            unchanged(&gl, "write", || other.write(3, &[1; 200]).unwrap());
        }
        let image = View::Image(ImageView::packed(Extent::new(16, 16), PixelFormat::Rgba16F, 1, 0, false).unwrap());
        let buffer = View::Buffer(BufferView { offset: 4, len: 256 });
        unchanged(&gl, "launch", || {
            backend.launch(paint.as_ref(), Target::new(target.as_mut(), image).unwrap(), &[Arg::F32(0.5)]).unwrap();
        });
        let args: Vec<_> = others.iter().map(|memory| Arg::Memory(memory.as_ref())).collect();
        unchanged(&gl, "launch with memories", || {
            backend.launch(fill.as_ref(), Target::new(target.as_mut(), buffer).unwrap(), &args).unwrap();
        });
        unchanged(&gl, "write_pattern", || {
            let pattern = Pattern::for_view(&image, 1);
            backend.write_pattern(Target::new(target.as_mut(), image).unwrap(), &pattern).unwrap();
        });
        unchanged(&gl, "copy", || backend.copy(others[0].as_ref(), target.as_mut(), 1..99).unwrap());
        unchanged(&gl, "read", || target.read(0, &mut [0; 100]).unwrap());
        unchanged(&gl, "view", || target.map_read(0..100, &mut |_| Ok(())).unwrap());
        unchanged(&gl, "release", || target.release().unwrap());
        let staging =
            unchanged(&gl, "create_staging", || display.create_staging(StagingKind::External(handle), 4096).unwrap());
        let mut surface = display.create_in_place_surface(&SurfaceDesc::image(16, 16, PixelFormat::Rgba16F)).unwrap();
        unchanged(&gl, "read_in_place", || surface.read_in_place(&staging, &image).unwrap());
        let shader = unchanged(&gl, "build GLSL", || glsl::build(&backend, glsl::SHADER).unwrap());
        unchanged(&gl, "build wrong GLSL", || glsl::build(&backend, "void main() {").err().unwrap());
        unchanged(&gl, "launch GLSL", || {
            backend.launch(shader.as_ref(), Target::new(target.as_mut(), image).unwrap(), &[Arg::F32(0.5)]).unwrap();
        });
        unchanged(&gl, "drop", || drop((surface, staging, fill, shader, target, others)));
        let picture = SurfaceDesc::image(21, 13, PixelFormat::Rgba8);
        let surface = display.create_surface(&picture).unwrap();
        let handle = unchanged(&gl, "export", || surface.export(queue(&backend)).unwrap());
        let mut texture = unchanged(&gl, "import", || backend.import_surface(&handle, &picture).unwrap());
        for kernel in textures::kernels(&backend) {
            unchanged(&gl, "launch into a texture", || {
                let target = Target::new(texture.as_mut(), tight(&picture)).unwrap();
                backend.launch(kernel.as_ref(), target, &[Arg::F32(0.5)]).unwrap();
            });
        }
        unchanged(&gl, "read a texture", || texture.read(0, &mut vec![0; 21 * 13 * 4]).unwrap());
        drop((surface, handle, texture));
        unchanged(&gl, "drop", || drop((paint, backend)));
        assert_eq!(before, snapshot(&gl));
        assert_eq!(display.object_counts(), pixelferry_gl::ObjectCounts::default());
        if display.version() >= (4, 5) {
            let backend = Arc::new(GlBackend::on(&display).unwrap());
            let paint = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
            let target = display.create_offscreen_target(21, 13).unwrap();
            target.bind().unwrap();
            let desc = picture.with_unwritten(Unwritten::Overwrite);
            let mut link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::default()).unwrap();
            for _ in 0..3 {
                unchanged(&gl, "show", || {
                    let (mut place, options) = (display.bound_target(Viewport::full(21, 13)), DrawOptions::default());
                    link.show(&mut place, options, |next| next.launch(paint.as_ref(), &[Arg::F32(0.5)])).unwrap()
                });
            }
            drop(link);
            target.unbind().unwrap();
        }
    }
}
