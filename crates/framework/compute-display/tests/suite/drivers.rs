//! This test program started again, with one OpenCL driver each.

use pixelferry_testing::{Child, Level, Need, from, level};

fn all_on(driver: Need) {
    let child = if level() == Level::Short { Child::of_those(&["every_drawing"]) } else { Child::of_all("drivers::") };
    child.unwrap().passes_on(driver);
}

#[test]
fn on_pocl() {
    // The devices that the loader lists are tested anyway.
    if from(Level::All) {
        all_on(Need::Pocl);
    }
}

#[test]
fn on_rusticl() {
    all_on(Need::Rusticl);
}
