//! The path `direct`.

use super::rig::open;
use interop_core::conformance::{CASES, Context, Failure, Manner};
use pixelferry::driver::Paths;
use pixelferry::{
    Arg, ComputeBackend, Display, ImageDesc, KernelSource, Link, LinkOptions, Mode, PathId, PixelFormat, Policy,
    SurfaceDesc, SyncKind, report::PathState,
};
use pixelferry_tests::by_level;
use std::sync::Arc;

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_conforms() {
    let Some((backend, display)) = open() else { return };
    let events = backend.caps().can_open_semaphore(SyncKind::SharedEvent).is_yes();
    let backend = backend as Arc<dyn ComputeBackend>;
    let display = display as Arc<dyn Display>;
    let (mut ran, mut expected) = (0, 0);
    for sync in [None, Some(SyncKind::Implicit), Some(SyncKind::Finish), Some(SyncKind::SharedEvent)] {
        let manner = Manner { mode: Mode::Latency, sync };
        // An outlet keeps its sides apart in its own way.
        for case in CASES.iter().filter(|case| sync.is_none() || !case.name.starts_with("an engine's object")) {
            expected += usize::from(sync != Some(SyncKind::SharedEvent) || events);
            let context = Context {
                backend: &backend,
                display: &display,
                paths: &Paths::default(),
                path: PathId::DIRECT,
                manner,
            };
            match (case.run)(&context) {
                Ok(()) => ran += 1,
                Err(Failure::Skipped(reason)) => {
                    assert!(sync == Some(SyncKind::SharedEvent) && !events, "{}: {reason}", case.name);
                }
                Err(Failure::Failed(reason)) => panic!("{}, {sync:?}: {reason}", case.name),
            }
        }
    }
    assert!(ran == expected && ran > 3 * CASES.len() / 2, "{ran} of {expected}");
    println!("ALL DONE: {ran} cases");
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_way_back() {
    let Some((backend, display)) = open() else { return };
    let backend = backend as Arc<dyn ComputeBackend>;
    let engine = crate::way_back::gl_engine::GlEngine::new(display);
    // The other paths are the driver's, with the layer or without.
    let paths = by_level(&[PathId::DIRECT][..], &PathId::ALL, &PathId::ALL);
    let ran = crate::way_back::both_ways(&backend, &engine, paths);
    assert!(ran.contains("direct"), "{ran:?}");
    println!("ALL DONE: {ran:?}");
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_links() {
    let Some((backend, display)) = open() else { return };
    let desc = SurfaceDesc::Image(ImageDesc::new(65, 33, PixelFormat::Rgba8));
    let report = interop_core::select::probe(
        &(Arc::clone(&backend) as Arc<dyn ComputeBackend>),
        &(Arc::clone(&display) as Arc<dyn Display>),
        &desc,
        &Policy::default(),
    )
    .unwrap();
    let direct = report.paths.iter().find(|row| row.id == PathId::DIRECT).unwrap();
    assert!(direct.state.works(), "{}", direct.state.detail());
    let text = "kernel void ramp(PF_IMAGE(uchar4, out), uint n) {
                  int x = get_global_id(0), y = get_global_id(1);
                  if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x + n, y, n, 255));
                }";
    // SAFETY: it writes pixels below the width and height only, and takes a number.
    let kernel = backend.build(&unsafe { KernelSource::new("ramp").opencl_c(text) }).unwrap();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mut before = None;
    for round in 0..by_level(5, 20, 20) {
        let policy = Policy::default().with_force(PathId::DIRECT);
        let backend = Arc::clone(&backend) as Arc<dyn ComputeBackend>;
        let display_of_link = Arc::clone(&display) as Arc<dyn Display>;
        let mut link = Link::open(backend, display_of_link, desc, LinkOptions::new(policy)).unwrap();
        for frame in 0..20 {
            let n = round * 20 + frame;
            let mut next = link.acquire().unwrap();
            next.launch(kernel.as_ref(), &[Arg::U32(n)]).unwrap();
            next.finish().unwrap();
            assert_eq!(link.read_back().unwrap()[..4], [n as u8, 0, n as u8, 255]);
        }
        assert!(!matches!(link.report().paths[0].state, PathState::Demoted { .. }));
        drop(link);
        let now = (descriptors(), format!("{:?}", display.object_counts()));
        let first = before.get_or_insert_with(|| now.clone());
        assert_eq!(*first, now, "round {round}");
    }
    println!("ALL DONE");
}
