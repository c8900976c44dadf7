//! Running features in processes of their own, and the table of what came of it.

use crate::{FEATURES, Feature, POCL_LACKS, RUSTICL_LACKS};
use interop_core::Error;
use opencl_backend::cl::Device;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHILD: &str = "PIXELFERRY_TEST_FEATURE";
const DEVICE: &str = "PIXELFERRY_TEST_DEVICE";
const LIMIT: Duration = Duration::from_secs(60);

/// A driver to test, and what it is known to lack.
struct Driver {
    name: &'static str,
    icd: Option<&'static str>,
    lacks: Option<&'static [&'static str]>,
}

const DRIVERS: &[Driver] = &[
    Driver { name: "PoCL", icd: Some("/etc/OpenCL/vendors/pocl.icd"), lacks: Some(POCL_LACKS) },
    Driver { name: "rusticl", icd: Some("/etc/OpenCL/vendors/rusticl.icd"), lacks: Some(RUSTICL_LACKS) },
    Driver { name: "GPU", icd: None, lacks: None },
];

/// True where a skipped test is a failure.
fn required() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
        || std::env::var("PIXELFERRY_REQUIRE").is_ok_and(|v| v.split(',').any(|t| t.trim() == "opencl"))
}

#[derive(Debug)]
enum Outcome {
    Pass,
    Fail(String),
    Lacks(String),
}

fn child(driver: &Driver, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    if let Some(icd) = driver.icd {
        command.env("OCL_ICD_VENDORS", icd).env("RUSTICL_ENABLE", "llvmpipe");
    }
    command
}

/// Names of the driver's devices, as a process of its own sees them.
fn devices(driver: &Driver) -> Vec<String> {
    let output = child(driver, "runner::child_devices").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split("DEVICE: ").nth(1)).map(str::to_owned).collect()
}

fn run(driver: &Driver, device: usize, (name, _): &Feature) -> Outcome {
    let mut command = child(driver, "runner::child_feature");
    command.env(CHILD, name).env(DEVICE, device.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let begin = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if begin.elapsed() > LIMIT {
            process.kill().unwrap();
            process.wait().unwrap();
            return Outcome::Fail(format!("it did not end within {} s", LIMIT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = process.wait_with_output().unwrap();
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    for note in text.lines().filter_map(|line| line.split("NOTE: ").nth(1)) {
        println!("{} {name}: {note}", driver.name);
    }
    let line = text.lines().find_map(|line| line.split("RESULT: ").nth(1)).unwrap_or("");
    match line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest)) {
        // Objects are dropped after the line was printed, and a driver may end the process even then.
        ("PASS", _) if output.status.success() => Outcome::Pass,
        ("LACKS", why) if output.status.success() => Outcome::Lacks(why.to_owned()),
        ("FAIL", why) => Outcome::Fail(why.to_owned()),
        _ => Outcome::Fail(format!("the process ended with {}: {}", output.status, tail(&text))),
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

fn outcomes(driver: &Driver, device: usize) -> Vec<(&'static str, Outcome)> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get().min(8)) {
            scope.spawn(|| {
                while let Some(feature) = FEATURES.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let outcome = run(driver, device, feature);
                    results.lock().unwrap().push((feature.0, outcome));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(name, _)| FEATURES.iter().position(|feature| feature.0 == *name));
    results
}

/// Prints the table; gives the features that failed.
fn table(driver: &Driver, device: &str, results: &[(&'static str, Outcome)]) -> Vec<String> {
    let mut failed = Vec::new();
    println!("\n## {}: {device}\n\n| feature | result |\n|---|---|", driver.name);
    for (name, outcome) in results {
        // Other versions and machines may lack more.
        let known = !required() || driver.lacks.is_none_or(|lacks| lacks.contains(name));
        let text = match outcome {
            Outcome::Pass => "PASS".to_owned(),
            Outcome::Lacks(why) if known => format!("driver lacks it: {why}"),
            Outcome::Lacks(why) => format!("FAIL: it should have this, but: {why}"),
            Outcome::Fail(why) => format!("FAIL: {why}"),
        };
        println!("| {name} | {} |", text.replace('|', "\\|"));
        if text.starts_with("FAIL") {
            failed.push(format!("{} {name}: {text}", driver.name));
        }
    }
    failed
}

fn test(driver: &Driver) {
    if driver.icd.is_some_and(|icd| !std::fs::exists(icd).unwrap()) {
        assert!(!required(), "{} is required here, but is not installed", driver.name);
        return println!("SKIPPED: {} is not installed", driver.name);
    }
    let devices = devices(driver);
    if devices.is_empty() {
        assert!(!required(), "{} is required here, but has no device", driver.name);
        return println!("SKIPPED: {} has no device", driver.name);
    }
    let mut failed = Vec::new();
    for (index, device) in devices.iter().enumerate() {
        failed.extend(table(driver, device, &outcomes(driver, index)));
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn features_of_pocl() {
    test(&DRIVERS[0]);
}

#[test]
fn features_of_rusticl() {
    test(&DRIVERS[1]);
}

#[test]
fn features_of_the_gpu() {
    if std::env::var("PIXELFERRY_GPU").is_ok_and(|v| v == "1") {
        test(&DRIVERS[2]);
    } else {
        println!("SKIPPED: PIXELFERRY_GPU=1 is not set");
    }
}

#[test]
#[ignore = "run as a child"]
fn child_devices() {
    for device in Device::all().unwrap() {
        let platform = device.platform().version().unwrap();
        println!("DEVICE: {}, {platform}, driver {}", device.name(), device.driver_version());
    }
}

#[test]
#[ignore = "run as a child"]
fn child_feature() {
    let wanted = std::env::var(CHILD).unwrap();
    let index: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
    let device = Device::all().unwrap().swap_remove(index);
    let (_, run) = FEATURES.iter().find(|(name, _)| *name == wanted).unwrap();
    let result = catch_unwind(AssertUnwindSafe(|| run(&device)));
    // A line of its own: the harness has begun one.
    println!();
    match result {
        Ok(Ok(())) => println!("RESULT: PASS"),
        Ok(Err(Error::Unsupported { operation, reason, .. })) => {
            println!("RESULT: LACKS {operation}: {}", reason.replace('\n', " "));
        }
        Ok(Err(error)) => println!("RESULT: FAIL {}", error.to_string().replace('\n', " ")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
            println!("RESULT: FAIL {}", text.replace('\n', " "));
        }
    }
}
