//! The backend in a context of OpenGL ES.

use super::common::alone;
use super::{common, suite};
use interop_core::{Arg, BufferView, ComputeBackend, Error, KernelSource, Target, View};
use pixelferry_gl::GlBackend;
use pixelferry_gl::HeadlessOptions;
use pixelferry_testing::{Need, has, need};
use std::sync::Arc;

/// `None` after saying SKIPPED.
fn es() -> Option<Arc<dyn ComputeBackend>> {
    let backend = match GlBackend::open_es(&HeadlessOptions::default()) {
        Err(Error::Unsupported { reason, .. }) => return has("compute shaders", "OpenGL ES", Err(reason)),
        other => need(Need::Egl, other)?,
    };
    assert!(backend.device().driver.starts_with("OpenGL ES 3."), "{}", backend.device().driver);
    Some(Arc::new(backend))
}

#[test]
fn the_conformance_suite_in_plain_memory() {
    let Some(backend) = es() else { return };
    common::conforms_in_plain_memory(&backend);
}

#[test]
fn what_every_backend_of_wgsl_is_asked() {
    let (Some(backend), Some(stranger)) = (es(), alone()) else { return };
    println!("RAN ON {} ({})", backend.device(), backend.device().driver);
    suite::ask(backend.as_ref(), stranger.as_ref());
}

#[test]
fn a_shader_of_the_users_own_runs_and_says_what_is_wrong_in_it() {
    let Some(backend) = es() else { return };
    let text = "layout(local_size_x = 16) in;
        layout(std430, binding = 1) readonly buffer A { float a[]; };
        void main() {
          uint i = pf_index(gl_GlobalInvocationID);
          if (i < pf_items()) pf_put_f32(i, a[i] * pf_arg_f32(0));
        }";
    // SAFETY: it reads below the items of a launch whose memory is as long, and writes by `pf_put_f32`.
    let kernel = backend.build(&unsafe { KernelSource::new("scale").glsl(text) }).unwrap();
    let (mut from, mut to) = (backend.allocate(400).unwrap(), backend.allocate(400).unwrap());
    let numbers: Vec<u8> = (0..100).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    from.write(0, &numbers).unwrap();
    let target = Target::new(to.as_mut(), View::Buffer(BufferView { offset: 0, len: 400 })).unwrap();
    backend.launch(kernel.as_ref(), target, &[Arg::Memory(from.as_ref()), Arg::F32(0.5)]).unwrap();
    let mut found = vec![0; 400];
    to.read(0, &mut found).unwrap();
    let expected: Vec<u8> = (0..100).flat_map(|i| (i as f32 / 2.0).to_ne_bytes()).collect();
    assert!(found == expected);
    // A line as Mesa and as NVIDIA write it.
    for (wrong, parts) in [
        ("#version 320 es\nvoid main() {}", ["310 es"; 2]),
        ("layout(local_size_x = 1) in;\nvoid main() { no(); }", ["0:2(", "0(2)"]),
    ] {
        // SAFETY: it is refused.
        let refused = backend.build(&unsafe { KernelSource::new("wrong").glsl(wrong) });
        let Err(Error::KernelBuild { log, .. }) = refused else { panic!("{:?}", refused.err()) };
        assert!(parts.iter().any(|part| log.contains(part)), "{log}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let limited = HeadlessOptions::default().with_version_limit((3, 0));
    assert!(matches!(GlBackend::open_es(&limited), Err(Error::Unsupported { .. })));
    if es().is_some() {
        let none = HeadlessOptions::default().with_device(99);
        assert!(matches!(GlBackend::open_es(&none), Err(Error::InvalidInput { .. } | Error::Unavailable { .. })));
    }
}
