//! The tests of compute devices again, with one OpenCL driver each.

use pixelferry_testing::{Child, Level, Need, from};

fn all_on(driver: Need) {
    Child::of("conformance::compute_devices_show").unwrap().passes_on(driver);
}

#[test]
fn on_pocl() {
    all_on(Need::Pocl);
}

#[test]
fn on_rusticl() {
    if from(Level::All) {
        all_on(Need::Rusticl);
    }
}
