//! Two contexts on one thread with default options.

use super::engine::{Maker, System};
use pixelferry::api::gl::GlDisplay;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::driver::{StagingKind, select};
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, Display as _, Error, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc,
    report::PathState,
};
use pixelferry_tests::{ramp, ramp_pixel};
use std::sync::Arc;

const DESC: SurfaceDesc = SurfaceDesc::image(96, 64, PixelFormat::Rgba8);

fn is_wrong<T>(what: &str, result: pixelferry::Result<T>) {
    match result {
        Err(Error::WrongContext { .. }) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: it was done in another context"),
    }
}

fn frame(number: u32) -> Vec<u8> {
    (0..96 * 64).flat_map(|i| ramp_pixel(i % 96, i / 96, number)).collect()
}

/// A link by every path that works here.
fn links(backend: &Arc<dyn ComputeBackend>, display: &Arc<GlDisplay>) -> Vec<(PathId, Link)> {
    let shown: Arc<dyn pixelferry::Display> = display.clone();
    let report = select::probe(backend, &shown, &DESC, &Policy::default()).unwrap();
    let open = |path| {
        let options = LinkOptions::new(Policy::default().with_force(path));
        Link::open(backend.clone(), shown.clone(), DESC, options).unwrap()
    };
    let works = |row: &pixelferry::report::PathReport| !matches!(row.state, PathState::NotOffered { .. });
    report.paths.iter().filter(|row| works(row)).map(|row| (row.id, open(row.id))).collect()
}

fn run(system: System) {
    let Some(maker) = Maker::of(system) else { return };
    let (first, second) = (maker.context(), maker.context());
    // Neither display was told how to ask.
    let of_second = second.pixelferry();
    first.make_current();
    let of_first = first.pixelferry();
    println!("RUNS ON {} by {system:?}", of_first.device());
    assert!(of_first.is_current() && !of_second.is_current());

    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let kernel = backend.build(&ramp()).unwrap();
    let mut links_of_first = links(&backend, &of_first);
    second.make_current();
    let mut links_of_second = links(&backend, &of_second);
    assert!(links_of_first.len() > 3 && links_of_first.len() == links_of_second.len());

    for round in 0..6 {
        let sides = [(&first, &mut links_of_first, 2 * round), (&second, &mut links_of_second, 2 * round + 1)];
        for (engine, links, number) in sides {
            engine.make_current();
            for (path, link) in links {
                link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(number)])).unwrap();
                assert!(link.read_back().unwrap() == frame(number), "{path}: another picture");
            }
        }
        // The second is current now: the first does nothing at all, and says why.
        let names = |gl: &glow::Context| {
            let is = |n: u32| glow::NativeTexture(n.try_into().unwrap());
            // SAFETY: the second context is current.
            (1..400).filter(|n| unsafe { gl.is_texture(is(*n)) }).count()
        };
        let before = names(of_second.gl());
        is_wrong("create_surface", of_first.create_surface(&DESC));
        is_wrong("create_staging", of_first.create_staging(StagingKind::Persistent, 4096));
        is_wrong("clear", of_first.clear([1.0; 4]));
        is_wrong("finish", of_first.finish());
        is_wrong("delete_dropped", of_first.delete_dropped());
        for (path, link) in &mut links_of_first {
            is_wrong(&path.to_string(), link.read_back());
        }
        assert_eq!(names(of_second.gl()), before);
        // SAFETY: the second context is current.
        assert_eq!(unsafe { of_second.gl().get_error() }, glow::NO_ERROR);
    }

    // Links go with the other context current, displays each in its own.
    drop(links_of_second);
    second.make_current();
    drop(links_of_first);
    drop(of_second);
    first.make_current();
    drop(of_first);
    println!("ALL DONE");
}

/// One context of each system: each is asked about its own, whatever the other says.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_of_either() {
    let (Some(egl), Some(glx)) = (Maker::of(System::Egl), Maker::of(System::Glx)) else { return };
    let of_egl = egl.context();
    let by_egl = of_egl.pixelferry();
    // A thread has one context of either system.
    of_egl.release();
    assert!(!by_egl.is_current());
    let of_glx = glx.context();
    let by_glx = of_glx.pixelferry();
    for _ in 0..3 {
        assert!(by_glx.is_current() && !by_egl.is_current());
        is_wrong("EGL's while GLX's is current", by_egl.create_surface(&DESC));
        by_glx.create_surface(&DESC).unwrap();
        of_glx.release();
        of_egl.make_current();
        assert!(by_egl.is_current() && !by_glx.is_current());
        is_wrong("GLX's while EGL's is current", by_glx.create_surface(&DESC));
        by_egl.create_surface(&DESC).unwrap();
        of_egl.release();
        of_glx.make_current();
    }
    drop(by_glx);
    of_glx.release();
    of_egl.make_current();
    drop(by_egl);
    println!("ALL DONE");
}

pixelferry_tests::tests! {
    #[ignore = "run by the tests of the module above, in a process of its own"]
    child_egl => run(System::Egl);
    #[ignore = "run by the tests of the module above, in a process of its own"]
    child_glx => run(System::Glx);
}
