//! Every driver against threads, each in a process of its own.

use crate::suite::scenes;
use pixelferry::api::opencl;
use pixelferry::{BackendChoice, ComputeBackend, CpuBackend, open_backend};
use pixelferry_tests::{Need, given, need, pass_in_child};
use std::sync::Arc;

/// Names the API to take in place of OpenCL.
const INSTEAD: &str = "PIXELFERRY_TEST_BACKEND";

/// A driver's first device, and threads.
pub type Pair = [Arc<dyn ComputeBackend>; 2];

type Check = fn(&Pair);

/// Checks that compare both backends.
const CHECKS: [(&str, Check); 7] = [
    ("plasma", scenes::plasma),
    ("every format", scenes::formats),
    ("fluid", scenes::fluid),
    ("a fluid on the move", scenes::fluid_on_the_move),
    ("filters", scenes::filters),
    ("a video", scenes::video),
    ("sine", scenes::sine),
];

fn opened() -> Option<Arc<dyn ComputeBackend>> {
    Some(match std::env::var(INSTEAD).as_deref() {
        Ok("gl") => need(Need::Egl, open_backend(BackendChoice::Gl, &[]))?,
        Ok("wgpu") => need(Need::Lavapipe, open_backend(BackendChoice::Wgpu, &[]))?,
        _ => Arc::new(need(given(), opencl::OpenClBackend::open_best())?),
    })
}

#[test]
#[ignore = "run by the tests below, in a process that sees one driver"]
fn child() {
    let Some(driver) = opened() else { return };
    println!("RAN ON {}", driver.device());
    let pair = [driver, Arc::new(CpuBackend::new().unwrap())];
    for (name, check) in CHECKS {
        println!("{name}");
        check(&pair);
    }
}

fn on(driver: Option<Need>, env: &[(&str, &str)]) {
    pass_in_child("suite::drivers::child", driver, env, &["RAN ON"]);
}

pixelferry_tests::tests! {
    scenes_are_the_same_on_pocl => on(Some(Need::Pocl), &[]);
    scenes_are_the_same_on_rusticl => on(Some(Need::Rusticl), &[]);
    scenes_are_the_same_on_opengl => on(None, &[(INSTEAD, "gl")]);
    scenes_are_the_same_on_wgpu => on(None, &[(INSTEAD, "wgpu")]);
}
