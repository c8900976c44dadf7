//! The backend on the display of this machine.

use super::common::{Both, alone, both};
use super::{common, suite};
use interop_core::{Display as _, PathId};

/// By a backend with a context and a thread of its own.
#[test]
fn the_conformance_suite_in_plain_memory() {
    let Some(backend) = alone() else { return };
    common::conforms_in_plain_memory(&backend);
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    let (Some(Both { display, backend }), Some(alone)) = (both(), alone()) else { return };
    println!("RAN ON {} ({})", backend.device(), display.device().driver);
    for (backend, stranger) in [(backend.as_ref(), alone.as_ref()), (alone.as_ref(), backend.as_ref())] {
        suite::ask(backend, stranger);
    }
}

/// By the number alone, as an engine's own compute shader would.
#[test]
fn a_frame_is_a_buffer_of_the_context() {
    use interop_core::{ComputeBackend, Error, Link, LinkOptions, Policy, RawMemory, SurfaceDesc, Target};
    use pixelferry_gl::glow::{self, HasContext as _};
    let Some(Both { display, backend }) = both() else { return };
    let policy = Policy::default().with_force(PathId::IN_QUEUE_IN_PLACE);
    let backend: std::sync::Arc<dyn ComputeBackend> = backend;
    let mut link = Link::open(backend, display.clone(), SurfaceDesc::buffer(12), LinkOptions::new(policy)).unwrap();
    for n in 0..5 {
        link.frame(|next| {
            // SAFETY: only bytes of the view are written, in the context, before the frame is finished.
            let raw = unsafe { next.raw() }?;
            let RawMemory::Gl { buffer } = raw.memory() else { panic!("{raw:?}") };
            let gl = display.gl();
            let name = glow::NativeBuffer(buffer.try_into().expect("a name"));
            // SAFETY: the context is current, and the bytes are inside the buffer.
            unsafe {
                gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(name));
                let at = raw.view().span().start as i32;
                gl.buffer_sub_data_u8_slice(glow::COPY_WRITE_BUFFER, at, &[n; 12]);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(link.read_back().unwrap(), [n; 12]);
    }
    let Some(alone) = alone() else { return };
    let mut memory = alone.allocate(8).unwrap();
    let refused = alone.raw(Target::buffer(memory.as_mut())).unwrap_err();
    assert!(matches!(refused, Error::Unsupported { .. }) && refused.to_string().contains("GlBackend::on"), "{refused}");
}
