//! This test program started again, with one OpenCL driver each.

use pixelferry_testing::{Child, Need};

fn all_on(driver: Need) {
    Child::of_all("drivers::").unwrap().passes_on(driver);
}

#[test]
fn on_pocl() {
    all_on(Need::Pocl);
}

#[test]
fn on_rusticl() {
    all_on(Need::Rusticl);
}
