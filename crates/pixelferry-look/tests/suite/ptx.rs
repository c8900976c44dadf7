//! The PTX in the tree is that of the kernels beside it.

#[path = "../../../cuda-backend/src/ptx/stamp.rs"]
#[allow(dead_code)] // not every user needs all of it
mod stamp;

use pixelferry::PixelFormat;
use pixelferry_look::SHOW_PTX as PTX;

const SOURCE: &str = include_str!("../../kernels/show.cu");

#[test]
fn the_ptx_is_that_of_the_source() {
    let expected = stamp::line("kernels/show.cu", &cuda_backend::translation_unit(SOURCE));
    let found = PTX.lines().next().unwrap();
    assert_eq!(found, expected, "run `cargo xtask ptx`: kernels, prelude or conversions have changed");
}

#[test]
fn the_ptx_loads_on_old_drivers_and_has_every_entry() {
    assert!(PTX.contains("\n.version 8.0\n") && PTX.contains("\n.target sm_50\n"));
    for format in PixelFormat::ALL.map(|format| format.name().to_lowercase()) {
        for entry in [format!("pf_show_{format}("), format!("pf_show_{format}_surface(")] {
            assert!(PTX.contains(&format!(".entry {entry}")), "{entry}");
        }
    }
    for entry in ["pf_extent(", "pf_count(", "pf_minus32(", "pf_minus64("] {
        assert!(PTX.contains(&format!(".entry {entry}")), "{entry}");
    }
}
