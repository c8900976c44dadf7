//! Where CUDA is missing, no panic is even begun: the same holds in programs built with `panic = "abort"`.

use std::process::Command;

const CHILD: &str = "PIXELFERRY_TEST_CHILD";

/// A hook that ends the process stands for `panic = "abort"`: a panic that somebody catches would end it as well.
#[test]
fn nothing_panics_inside() {
    if std::env::var_os(CHILD).is_some() {
        std::panic::set_hook(Box::new(|_| std::process::abort()));
        let answer = cuda_backend::CudaBackend::open_best().map(|_| ());
        let compiled = cuda_backend::compile_ptx("k", "", 50, cuda_backend::Variant::Linear);
        println!("{answer:?} {compiled:?}");
        return;
    }
    let program = std::env::current_exe().expect("the test's own program");
    let child = Command::new(program).args(["nothing_panics_inside", "--nocapture"]).env(CHILD, "1").output();
    let child = child.expect("the child starts");
    assert!(child.status.success(), "{}\n{}", child.status, String::from_utf8_lossy(&child.stderr));
}
