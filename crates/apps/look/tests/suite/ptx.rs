//! The PTX in the tree.

use pixelferry::PixelFormat;
use pixelferry_look::SHOW_PTX as PTX;

#[test]
fn the_ptx_has_every_entry() {
    for format in PixelFormat::ALL.map(|format| format.name().to_lowercase()) {
        for entry in [format!("pf_show_{format}("), format!("pf_show_{format}_surface(")] {
            assert!(PTX.contains(&format!(".entry {entry}")), "{entry}");
        }
    }
    for entry in ["pf_extent(", "pf_count(", "pf_minus32(", "pf_minus64("] {
        assert!(PTX.contains(&format!(".entry {entry}")), "{entry}");
    }
}
