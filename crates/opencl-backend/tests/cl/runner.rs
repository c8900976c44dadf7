//! Running features in processes of their own, and the table of what came of it.

use crate::{FEATURES, Feature};
use interop_core::Error;
use interop_core::describe::panics::catch;
use opencl_backend::cl::Device;
use pixelferry_testing::{Child, Need, Outcome, asked, judge, need};

const CHILD: &str = "PIXELFERRY_TEST_FEATURE";
const DEVICE: &str = "PIXELFERRY_TEST_DEVICE";

/// A test of this program where `driver` is the only one; [`Need::Nvidia`] stands for whatever the loader finds by default.
fn child(driver: Need, test: &str) -> Child {
    Child::of(test).unwrap().on(driver).short()
}

/// Names of the driver's devices with what tells it and its version, as a process of its own sees them.
fn devices(driver: Need) -> Result<Vec<String>, String> {
    let text = child(driver, "runner::child_devices").run().unwrap().output;
    let all: Vec<_> = text.lines().filter_map(|line| line.split("DEVICE: ").nth(1)).map(str::to_owned).collect();
    if all.is_empty() { Err(format!("it has no device: {}", tail(&text))) } else { Ok(all) }
}

fn run(driver: Need, device: usize, (name, _): &Feature) -> Outcome {
    let ended = child(driver, "runner::child_feature").env(CHILD, name).env(DEVICE, device.to_string()).run().unwrap();
    for note in ended.output.lines().filter_map(|line| line.split("NOTE: ").nth(1)) {
        println!("{} {name}: {note}", driver.name());
    }
    let line = ended.output.lines().find_map(|line| line.split("RESULT: ").nth(1)).unwrap_or("");
    match line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest)) {
        // Objects are dropped after the line was printed, and a driver may end the process even then.
        ("PASS", _) if ended.success() => Outcome::Pass,
        ("LACKS", why) if ended.success() => Outcome::Lacks(why.to_owned()),
        ("FAIL", why) => Outcome::Fails(why.to_owned()),
        _ => Outcome::Fails(format!("{}: {}", ended.how(), tail(&ended.output))),
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

fn outcomes(driver: Need, device: usize) -> Vec<(&'static str, Outcome)> {
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
fn table(driver: Need, device: &str, results: &[(&'static str, Outcome)]) -> Vec<String> {
    let mut failed = Vec::new();
    println!("\n## {}: {device}\n\n| feature | result |\n|---|---|", driver.name());
    for (name, outcome) in results {
        let text = judge(name, device, outcome).unwrap_or_else(|problem| {
            failed.push(format!("{} {name}: {problem}", driver.name()));
            format!("FAIL: {problem}")
        });
        println!("| {name} | {} |", text.replace('|', "\\|"));
    }
    failed
}

fn test(driver: Need) {
    let Some(devices) = need(driver, devices(driver)) else { return };
    let mut failed = Vec::new();
    for (index, device) in devices.iter().enumerate() {
        failed.extend(table(driver, device, &outcomes(driver, index)));
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn features_of_pocl() {
    test(Need::Pocl);
}

#[test]
fn features_of_rusticl() {
    test(Need::Rusticl);
}

#[test]
fn features_of_the_gpu() {
    if asked(Need::Nvidia) {
        test(Need::Nvidia);
    }
}

#[test]
#[ignore = "run as a child"]
fn child_devices() {
    for device in Device::all().unwrap() {
        let platform = device.platform().version().unwrap();
        println!("DEVICE: OpenCL {} ({platform}, {})", device.name(), device.driver_version());
    }
}

#[test]
#[ignore = "run as a child"]
fn child_feature() {
    let wanted = std::env::var(CHILD).unwrap();
    let index: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
    let device = Device::all().unwrap().swap_remove(index);
    let (_, run) = FEATURES.iter().find(|(name, _)| *name == wanted).unwrap();
    let result = catch(|| run(&device));
    // A line of its own: the harness has begun one.
    println!();
    match result {
        Ok(Ok(())) => println!("RESULT: PASS"),
        Ok(Err(Error::Unsupported { operation, reason, .. })) => {
            println!("RESULT: LACKS {operation}: {}", reason.replace('\n', " "));
        }
        Ok(Err(error)) => println!("RESULT: FAIL {}", error.to_string().replace('\n', " ")),
        Err(panic) => println!("RESULT: FAIL {}", panic.message().replace('\n', " ")),
    }
}
