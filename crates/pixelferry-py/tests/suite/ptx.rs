//! The PTX in the tree is that of the kernels beside it.

#[path = "../../../cuda-backend/src/ptx/stamp.rs"]
#[allow(dead_code)] // not every user needs all of it
mod stamp;

use pixelferry::PixelFormat;

const PTX: &str = include_str!("../../src/ptx/show.ptx");
const EACH: [(&str, &str, &str); 2] = [
    ("kernels/show.cu", include_str!("../../kernels/show.cu"), PTX),
    ("kernels/pack.cu", include_str!("../../kernels/pack.cu"), include_str!("../../src/ptx/pack.ptx")),
];

#[test]
fn the_ptx_is_that_of_the_source() {
    for (name, source, ptx) in EACH {
        let expected = stamp::line(name, &cuda_backend::translation_unit(source));
        let found = ptx.lines().next().unwrap();
        assert_eq!(found, expected, "run `cargo xtask ptx`: kernels, prelude or conversions have changed");
    }
}

#[test]
fn the_ptx_loads_on_old_drivers_and_has_every_entry() {
    for (name, _, ptx) in EACH {
        assert!(ptx.contains("\n.version 8.0\n") && ptx.contains("\n.target sm_50\n"), "{name}");
    }
    for format in PixelFormat::ALL.map(|format| format.name().to_lowercase()) {
        for entry in [format!("pf_show_{format}("), format!("pf_show_{format}_surface(")] {
            assert!(PTX.contains(&format!(".entry {entry}")), "{entry}");
        }
    }
}
