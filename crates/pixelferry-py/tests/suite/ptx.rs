//! The PTX in the tree is that of the kernels beside it.

#[path = "../../../cuda-backend/src/ptx/stamp.rs"]
#[allow(dead_code)] // not every user needs all of it
mod stamp;

const SOURCE: &str = include_str!("../../kernels/pack.cu");
const PTX: &str = include_str!("../../src/ptx/pack.ptx");

#[test]
fn the_ptx_is_that_of_the_source() {
    let expected = stamp::line("kernels/pack.cu", &cuda_backend::translation_unit(SOURCE));
    let found = PTX.lines().next().unwrap();
    assert_eq!(found, expected, "run `cargo xtask ptx`: kernels, prelude or conversions have changed");
}

#[test]
fn the_ptx_loads_on_old_drivers() {
    assert!(PTX.contains("\n.version 8.0\n") && PTX.contains("\n.target sm_50\n"));
}
