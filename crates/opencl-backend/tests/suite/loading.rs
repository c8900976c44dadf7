//! Machines without OpenCL, and other drivers: this test program started again in another environment.

use crate::{required, skip};
use opencl_backend::{OpenClBackend, devices};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Set for the children, which print what [`devices`] says instead of testing.
const CHILD: &str = "PIXELFERRY_TEST_LOADING";

fn child(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).args(["--nocapture", "--test-threads=1"]);
    for name in
        ["OPENCL_DYLIB_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "RUSTICL_ENABLE", "CI", "PIXELFERRY_REQUIRE"]
    {
        command.env_remove(name);
    }
    command
}

fn report(vars: &[(&str, &str)]) -> String {
    let output = child(&["--exact", "loading::child_reports"]).env(CHILD, "1").envs(vars.iter().copied()).output();
    let output = output.unwrap();
    let text = text(&output);
    assert!(output.status.success(), "the child ended with {}:\n{text}", output.status);
    text
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn child_reports() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
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
    assert_unavailable(&report, &["libOpenCL could not be loaded", "ocl-icd-libopencl1"]);
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
    if let Err(error) = devices() {
        return skip("opencl", error);
    }
    let report = report(&[("OCL_ICD_VENDORS", vendors)]);
    if report.contains("FOUND: ") {
        return skip("ocl-icd", "this OpenCL loader ignores OCL_ICD_VENDORS");
    }
    assert_unavailable(&report, words);
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

const RUSTICL: &str = "/etc/OpenCL/vendors/rusticl.icd";

#[test]
#[cfg(target_os = "linux")]
fn with_a_driver_that_has_no_device() {
    if !std::fs::exists(RUSTICL).unwrap() {
        return skip("rusticl", format!("{RUSTICL} is not there"));
    }
    let report = report(&[("OCL_ICD_VENDORS", RUSTICL)]);
    assert_unavailable(&report, &["no usable device", "rusticl: no device", "RUSTICL_ENABLE"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_driver_without_devices_does_not_hide_others() {
    if !std::fs::exists(RUSTICL).unwrap() {
        return skip("rusticl", format!("{RUSTICL} is not there"));
    }
    let report = report(&[("RUSTICL_ENABLE", "llvmpipe")]);
    // PoCL's version ends with its own name.
    for word in ["FOUND: OpenCL llvmpipe", "PoCL"] {
        assert!(report.contains(word) || !required("rusticl"), "{word} not in: {report}");
    }
    assert!(report.contains("FOUND: "), "{report}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_whole_suite_on_rusticl() {
    if !std::fs::exists(RUSTICL).unwrap() {
        return skip("rusticl", format!("{RUSTICL} is not there"));
    }
    let vars = [("RUSTICL_ENABLE", "llvmpipe"), ("OCL_ICD_VENDORS", RUSTICL), ("PIXELFERRY_REQUIRE", "opencl")];
    let output = child(&["--skip", "loading::"]).envs(vars).output().unwrap();
    let text = text(&output);
    assert!(output.status.success() && text.contains("device: OpenCL llvmpipe"), "{}:\n{text}", output.status);
}
