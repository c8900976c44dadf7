//! The PTX in the tree is that of the kernels beside it, and loads on old drivers.

#[path = "../../src/ptx/stamp.rs"]
mod stamp;

/// A crate's kernels, by the path of its folder in `crates`, of their text and of their PTX.
macro_rules! kernels {
    ($($krate:literal $text:literal $ptx:literal,)*) => {
        [$((
            concat!("kernels/", $text),
            include_str!(concat!("../../../../", $krate, "/kernels/", $text)),
            include_str!(concat!("../../../../", $krate, "/src/ptx/", $ptx)),
        )),*]
    };
}

#[test]
fn all_ptx_is_that_of_its_source() {
    for (file, text, ptx) in kernels! {
        "framework/cuda-backend" "pattern.cu" "pattern.ptx",
        "framework/compute-display" "draw.cu" "draw.ptx",
        "apps/look" "show.cu" "show.ptx",
        "apps/media" "rgb.cu" "rgb.ptx",
        "bindings/py" "pack.cu" "pack.ptx",
    } {
        let text = if file.ends_with("pattern.cu") { stamp::pattern_text(text) } else { text.into() };
        let expected = stamp::line(file, &cuda_backend::translation_unit(&text));
        let found = ptx.lines().next().unwrap();
        assert_eq!(found, expected, "run `cargo xtask ptx`: kernels, prelude or conversions have changed");
        assert!(ptx.contains("\n.version 8.0\n") && ptx.contains("\n.target sm_50\n"), "{file}");
    }
}
