//! Machines without OpenCL, and other drivers: this test program started again in another environment.

use opencl_backend::{OpenClBackend, devices};
use pixelferry_testing::{Child, Need, by_level, need};
use std::path::PathBuf;

/// All but this module and the one that starts drivers itself; last those that take most of their time to compile.
#[cfg(target_os = "linux")]
const SUITE: [&str; 6] = [
    "suite::memory::",
    "suite::pattern::",
    "suite::threads::",
    "suite::timeline::",
    "suite::build::",
    "suite::launch::",
];

/// Variables that name drivers.
const DRIVERS: [&str; 4] = ["OPENCL_DYLIB_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "RUSTICL_ENABLE"];

/// Returns what [`devices`] says where only these variables name drivers.
fn report(vars: &[(&str, &str)]) -> String {
    Child::of("suite::loading::child_reports").unwrap().without(&DRIVERS).envs(vars).run().unwrap().passed()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("pixelferry-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_reports() {
    match devices() {
        Ok(all) => all.iter().for_each(|d| println!("FOUND: {} {}", d.identity(), d.version())),
        Err(error) => println!("ERROR: {error}"),
    }
    if let Err(error) = OpenClBackend::open_best() {
        println!("BEST: {error}");
    }
}

fn assert_unavailable(report: &str, words: &[&str]) {
    for prefix in ["ERROR: ", "BEST: "] {
        let line = report.lines().find_map(|l| l.split(prefix).nth(1)).unwrap_or_else(|| panic!("{report}"));
        for word in ["OpenCL is not available"].iter().chain(words) {
            assert!(line.contains(word), "{word} not in: {line}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_the_library() {
    // The loader takes the first file of that name, and this one is no library.
    let folder = folder("no-library");
    std::fs::write(folder.join("libOpenCL.so.1"), "not a library\n".repeat(100)).unwrap();
    let report = report(&[("LD_LIBRARY_PATH", folder.to_str().unwrap())]);
    // With the loader's own words: which file, and what is wrong with it.
    let file = folder.join("libOpenCL.so.1");
    let words = ["libOpenCL could not be loaded", file.to_str().unwrap(), "invalid ELF header", "ocl-icd-libopencl1"];
    assert_unavailable(&report, &words);
    // So is one that the environment names.
    let named = folder.join("named.so");
    std::fs::write(&named, "not a library\n".repeat(100)).unwrap();
    let environment = [("LD_LIBRARY_PATH", folder.to_str().unwrap()), ("OPENCL_DYLIB_PATH", named.to_str().unwrap())];
    assert_unavailable(&self::report(&environment), &["could not be loaded", "named.so", "invalid ELF header"]);
}

#[test]
#[cfg(target_os = "linux")]
fn with_a_library_that_is_not_opencl() {
    let report = report(&[("OPENCL_DYLIB_PATH", "libc.so.6")]);
    assert_unavailable(&report, &["no clGetPlatformIDs", "OPENCL_DYLIB_PATH"]);
}

/// Tests the report under `vendors`, the folder of drivers. Khronos's own loader does not heed it for root.
#[cfg(target_os = "linux")]
fn assert_unavailable_with_vendors(vendors: &str, words: &[&str]) {
    if need(Need::OpenCl, devices()).is_none() {
        return;
    }
    let report = report(&[("OCL_ICD_VENDORS", vendors)]);
    let heeds = if report.contains("FOUND: ") { Err("this OpenCL loader ignores OCL_ICD_VENDORS") } else { Ok(()) };
    if need(Need::OclIcd, heeds).is_some() {
        assert_unavailable(&report, words);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_driver() {
    let words = ["found no driver", "pocl-opencl-icd", "RUSTICL_ENABLE"];
    assert_unavailable_with_vendors(folder("no-drivers").to_str().unwrap(), &words);
}

#[test]
#[cfg(target_os = "linux")]
fn with_a_driver_file_that_names_no_library() {
    let folder = folder("broken-driver");
    std::fs::write(folder.join("broken.icd"), "libno-such-driver.so\n").unwrap();
    assert_unavailable_with_vendors(folder.to_str().unwrap(), &["pocl-opencl-icd"]);
}

/// The file that names rusticl to loaders.
#[cfg(target_os = "linux")]
fn rusticl() -> Option<&'static str> {
    let file = "/etc/OpenCL/vendors/rusticl.icd";
    need(Need::Rusticl, if std::fs::exists(file).unwrap() { Ok(file) } else { Err(format!("{file} is not there")) })
}

#[test]
#[cfg(target_os = "linux")]
fn with_a_driver_that_has_no_device() {
    let Some(file) = rusticl() else { return };
    let report = report(&[("OCL_ICD_VENDORS", file)]);
    assert_unavailable(&report, &["no usable device", "rusticl: no device", "RUSTICL_ENABLE"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_driver_without_devices_does_not_hide_others() {
    if rusticl().is_none() {
        return;
    }
    let report = report(&[("RUSTICL_ENABLE", "llvmpipe")]);
    assert!(report.contains("FOUND: "), "{report}");
    for (driver, word) in [(Need::Rusticl, "FOUND: OpenCL llvmpipe"), (Need::Pocl, "PoCL")] {
        need(driver, if report.contains(word) { Ok(()) } else { Err(format!("{word} not in: {report}")) });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_whole_suite_on_rusticl() {
    if rusticl().is_some() {
        let suite = &SUITE[..by_level(4, 6, 6)];
        let text = Child::of_those(suite).unwrap().without(&DRIVERS).on(Need::Rusticl).run().unwrap().passed();
        assert!(text.contains("device: OpenCL llvmpipe"), "{text}");
    }
}
