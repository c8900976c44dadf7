//! The conformance suite into an engine's contexts of OpenGL ES, of each version: which paths run, and that all others say why
//! not.

use super::engine::{Maker, System};
use pixelferry::api::opencl;
use pixelferry::driver::backend_in;
use pixelferry::driver::conformance::{ConformanceRow, ConformanceTable, Manner, Outcome};
use pixelferry::{ComputeBackend, CpuBackend, Display, Error, PathId};
use pixelferry_tests::{Level, Need, conform, few, from, given, need, pass_in_child};
use std::collections::HashSet;
use std::sync::Arc;

const VARIABLE: &str = "MESA_GLES_VERSION_OVERRIDE";

/// Paths of memory of the host that a version of Mesa's has.
const IN_ALL: [PathId; 2] = [PathId::PBO_ORPHAN, PathId::HOST_ROUND_TRIP];
/// By extensions of ES 3.1.
const FROM_3_1: [PathId; 3] = [PathId::HOST_VISIBLE_IN_PLACE, PathId::HOST_VISIBLE_UPLOAD, PathId::PBO_PERSISTENT];
/// By compute shaders of ES 3.1.
const IN_QUEUE: [PathId; 2] = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD];

fn in_each(child: &str, driver: Option<Need>) {
    for version in few(&["3.2", "3.1", "3.0"], 1) {
        pass_in_child(child, driver, &[(VARIABLE, version)], &["RAN ON"]);
    }
}

pixelferry_tests::tests! {
    threads_to_opengl_es => in_each("contexts::es::child_threads", None);
    pocl_to_opengl_es => if from(Level::All) { in_each("contexts::es::child_opencl", Some(Need::Pocl)) };
    #[ignore = "run by the test above, in a process of its own"]
    child_threads => check(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_opencl() {
    let Some(backend) = need(given(), opencl::OpenClBackend::open_best()) else { return };
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

/// The paths that passed; a path that failed a case is told.
fn passed(rows: &[ConformanceRow]) -> HashSet<PathId> {
    println!("{}", ConformanceTable(rows));
    let failed = |row: &&ConformanceRow| matches!(row.outcome, Outcome::Fail(_));
    assert_eq!(rows.iter().filter(failed).count(), 0, "cases failed");
    rows.iter().filter(|row| row.outcome == Outcome::Pass).map(|row| row.path).collect()
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    let Some(maker) = Maker::of(System::EglEs) else { return };
    let engine = maker.context();
    let gl = engine.pixelferry();
    let version = format!("{}.{}", gl.version().0, gl.version().1);
    println!("RAN ON {} to OpenGL ES {version}", backend.device());
    let is_mesa = gl.device().driver.contains("Mesa 22.3");
    assert!(!is_mesa || std::env::var(VARIABLE).as_deref() == Ok(&version));
    let display: Arc<dyn Display> = gl.clone();
    let more = if version == "3.0" { &[][..] } else { &FROM_3_1 };
    let expected: HashSet<_> = IN_ALL.iter().chain(more).copied().collect();
    for manner in few(&[Manner::default(), Manner::late(3)], 1) {
        let found = passed(&conform(backend, &display, *manner));
        assert!(IN_ALL.iter().all(|path| found.contains(path)), "{found:?}");
        assert!(!is_mesa || found == expected, "{found:?}");
    }
}

/// Kernels in WGSL run in the engine's own context, between its draws.
#[test]
fn kernels_in_the_context_itself() {
    in_each("contexts::es::child_in_queue", None);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_in_queue() {
    let Some(maker) = Maker::of(System::EglEs) else { return };
    let engine = maker.context();
    let gl = engine.pixelferry();
    println!("RAN ON {}", gl.device().driver);
    let backend = match pixelferry::api::gl::GlBackend::on(&gl) {
        Ok(backend) => Arc::new(backend) as Arc<dyn ComputeBackend>,
        Err(Error::Unsupported { reason, .. }) => {
            assert!(gl.version() < (3, 1) && reason.contains("OpenGL ES 3.1"), "{reason}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(Arc::ptr_eq(&backend_in(&backend, gl.as_ref()), &backend));
    let display: Arc<dyn Display> = gl.clone();
    let found = passed(&conform(&backend, &display, Manner::default()));
    assert!(IN_QUEUE.iter().all(|path| found.contains(path)), "{found:?}");
}
