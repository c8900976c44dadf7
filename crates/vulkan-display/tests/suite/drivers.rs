//! The tests of compute devices again, with one OpenCL driver each.

use pixelferry_testing::{Child, Need};

fn all_on(driver: Need) {
    let child = Child::of("conformance::compute_devices_show").unwrap().on(driver).run().unwrap();
    let output = child.passed();
    println!("{output}");
    let ran = output.contains("device: OpenCL");
    assert!(ran || !driver.is_required(), "nothing ran on {}", driver.name());
}

#[test]
fn on_pocl() {
    all_on(Need::Pocl);
}

#[test]
fn on_rusticl() {
    all_on(Need::Rusticl);
}
