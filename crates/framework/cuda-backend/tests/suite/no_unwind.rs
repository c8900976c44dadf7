//! Checks that without CUDA no panic is even begun: the same holds in programs built with `panic = "abort"`.

use pixelferry_testing::Child;

/// A hook that ends the process stands for `panic = "abort"`: a panic that somebody catches would end it as well.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_asks_for_everything() {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let answer = cuda_backend::CudaBackend::open_best().map(|_| ());
    let compiled = cuda_backend::compile_ptx("k", "", 50, cuda_backend::Variant::Linear);
    println!("{answer:?} {compiled:?}");
}

#[test]
fn nothing_panics_inside() {
    Child::of("suite::no_unwind::child_asks_for_everything")
        .expect("the test's own program")
        .run()
        .expect("the child starts")
        .passed();
}
