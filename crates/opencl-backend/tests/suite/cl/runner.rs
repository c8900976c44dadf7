//! Running features in processes of their own, and the table of what came of it.

use super::{FEATURES, Feature};
use interop_core::Error;
use interop_core::describe::panics::catch;
use opencl_backend::cl::Device;
use pixelferry_testing::{Child, Need, Outcome, asked, judge, need};

const CHILD: &str = "PIXELFERRY_TEST_FEATURE";
const DEVICE: &str = "PIXELFERRY_TEST_DEVICE";

/// A test of this program where `driver` is the only one; [`Need::Nvidia`] stands for whatever the loader finds by default.
fn child(driver: Need, test: &str) -> Child {
    Child::of(test).unwrap().on(driver)
}

/// Names of the driver's devices with what tells it and its version, as a process of its own sees them.
fn devices(driver: Need) -> Result<Vec<String>, String> {
    let text = child(driver, "cl::runner::child_devices").run().unwrap().output;
    let all: Vec<_> = text.lines().filter_map(|line| line.split("DEVICE: ").nth(1)).map(str::to_owned).collect();
    if all.is_empty() { Err(format!("it has no device: {}", tail(&text))) } else { Ok(all) }
}

/// Features in turn, in processes that go on to the next one until one ends or hangs: that is the feature's failure.
fn run(driver: Need, device: usize, features: &[Feature]) -> Vec<(&'static str, Outcome)> {
    let mut outcomes = Vec::new();
    while let Some(left) = features.get(outcomes.len()..).filter(|left| !left.is_empty()) {
        let names: Vec<_> = left.iter().map(|(name, _)| *name).collect();
        let ended = child(driver, "cl::runner::child_features").env(CHILD, names.join("\n"));
        let ended = ended.env(DEVICE, device.to_string()).run().unwrap();
        for note in ended.output.lines().filter_map(|line| line.split("NOTE: ").nth(1)) {
            println!("{}: {note}", driver.name());
        }
        let results = ended.output.lines().filter_map(|line| line.split("RESULT: ").nth(1));
        let results: Vec<_> = results.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        let begun = outcomes.len();
        outcomes.extend(left.iter().zip(&results).map(|((name, _), (word, why))| {
            let why = (*why).to_owned();
            let outcome = match *word {
                "PASS" => Outcome::Pass,
                "LACKS" => Outcome::Lacks(why),
                _ => Outcome::Fails(why),
            };
            (*name, outcome)
        }));
        if !ended.success() {
            let failure = Outcome::Fails(format!("{}: {}", ended.how(), tail(&ended.output)));
            // Objects are dropped after the line was printed, and a driver may end the process even then.
            let begins = ended.output.lines().filter(|line| line.contains("BEGIN: ")).count();
            match left.get(results.len()).filter(|_| begins > results.len()) {
                Some((name, _)) => outcomes.push((name, failure)),
                None if results.is_empty() => outcomes.push((left[0].0, failure)),
                None => outcomes[begun + results.len() - 1].1 = failure,
            }
        } else if results.is_empty() {
            outcomes.push((left[0].0, Outcome::Fails(format!("nothing ran: {}", tail(&ended.output)))));
        }
    }
    outcomes
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

/// All of them, by as many processes at a time as the machine has processors.
fn outcomes(driver: Need, device: usize) -> Vec<(&'static str, Outcome)> {
    let at_once = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
    std::thread::scope(|scope| {
        let parts = FEATURES.chunks(FEATURES.len().div_ceil(at_once));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || run(driver, device, part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
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
fn child_features() {
    let index: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
    let device = Device::all().unwrap().swap_remove(index);
    for wanted in std::env::var(CHILD).unwrap().lines() {
        let (name, run) = FEATURES.iter().find(|(name, _)| *name == wanted).unwrap();
        // A line of its own: the harness has begun one.
        println!("\nBEGIN: {name}");
        let result = match catch(|| run(&device)) {
            Ok(Ok(())) => "PASS".to_owned(),
            Ok(Err(Error::Unsupported { operation, reason, .. })) => format!("LACKS {operation}: {reason}"),
            Ok(Err(error)) => format!("FAIL {error}"),
            Err(panic) => format!("FAIL {}", panic.message()),
        };
        println!("\nRESULT: {}", result.replace('\n', " "));
    }
}
