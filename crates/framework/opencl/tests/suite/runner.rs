//! Running features in processes of their own, and the table of what came of it.

use crate::suite::{FEATURES, Feature};
use interop_core::Error;
use interop_core::describe::panics::catch;
use pixelferry_opencl::{Context, Device, Queue};
use pixelferry_testing::{Child, Need, Outcome, asked, judge, need};

const CHILD: &str = "PIXELFERRY_TEST_FEATURE";
const DEVICE: &str = "PIXELFERRY_TEST_DEVICE";

type Outcomes = Vec<(&'static str, Outcome)>;

/// Features in turn, in processes that go on to the next one until one ends or hangs: that is the feature's failure. Gives the
/// names of the driver's devices, too, with what tells it and its version, as these processes see them.
fn run(driver: Need, device: usize, features: &[Feature]) -> Result<(Vec<String>, Outcomes), String> {
    let (mut devices, mut outcomes) = (Vec::new(), Vec::new());
    while let Some(left) = features.get(outcomes.len()..).filter(|left| !left.is_empty()) {
        let names: Vec<_> = left.iter().map(|(name, _)| *name).collect();
        // [`Need::Nvidia`] stands for whatever the loader finds by default.
        let child = Child::of("suite::runner::child_features").unwrap().on(driver);
        let ended = child.env(CHILD, names.join("\n")).env(DEVICE, device.to_string()).run().unwrap();
        let told = |what: &'static str| ended.output.lines().filter_map(move |line| line.split(what).nth(1));
        told("NOTE: ").for_each(|note| println!("{}: {note}", driver.name()));
        devices = told("DEVICE: ").map(str::to_owned).collect();
        if devices.is_empty() {
            return Err(format!("it has no device: {}", tail(&ended.output)));
        }
        // Some loaders take what they find by default where the named one is missing.
        if driver == Need::Rusticl && devices.iter().any(|device| device.contains("PoCL")) {
            return Err(format!("the loader gave {devices:?}"));
        }
        let results: Vec<_> = told("RESULT: ").map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
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
            let begins = told("BEGIN: ").count();
            match left.get(results.len()).filter(|_| begins > results.len()) {
                Some((name, _)) => outcomes.push((name, failure)),
                None if results.is_empty() => outcomes.push((left[0].0, failure)),
                None => outcomes[begun + results.len() - 1].1 = failure,
            }
        } else if results.is_empty() {
            outcomes.push((left[0].0, Outcome::Fails(format!("nothing ran: {}", tail(&ended.output)))));
        }
    }
    Ok((devices, outcomes))
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

/// All of them, by as many processes as the machine has processors for each of two drivers, which are tested beside each other.
fn outcomes(driver: Need, device: usize) -> Result<(Vec<String>, Outcomes), String> {
    let at_once = std::thread::available_parallelism().map_or(1, |n| (n.get() / 2).clamp(1, 8));
    std::thread::scope(|scope| {
        let parts = FEATURES.chunks(FEATURES.len().div_ceil(at_once));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || run(driver, device, part))).collect();
        let mut all = (Vec::new(), Vec::new());
        for part in parts {
            let (devices, outcomes) = part.join().unwrap()?;
            all.0 = devices;
            all.1.extend(outcomes);
        }
        Ok(all)
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
    let Some((devices, first)) = need(driver, outcomes(driver, 0)) else { return };
    let mut failed = table(driver, &devices[0], &first);
    for (index, device) in devices.iter().enumerate().skip(1) {
        failed.extend(table(driver, device, &outcomes(driver, index).unwrap().1));
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
fn child_features() {
    let index: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
    let mut all = Device::all().unwrap();
    for device in &all {
        let platform = device.platform().version().unwrap();
        println!("\nDEVICE: OpenCL {} ({platform}, {})", device.name(), device.driver_version());
    }
    // PoCL reads its library of functions anew for each context: features that need none of their own share this one.
    let context = Context::new(&[all.swap_remove(index)]).unwrap();
    for wanted in std::env::var(CHILD).unwrap().lines() {
        let (name, run) = FEATURES.iter().find(|(name, _)| *name == wanted).unwrap();
        // A line of its own: the harness has begun one.
        println!("\nBEGIN: {name}");
        let result = match catch(|| run(&Queue::new(&context)?)) {
            Ok(Ok(())) => "PASS".to_owned(),
            Ok(Err(Error::Unsupported { operation, reason, .. })) => format!("LACKS {operation}: {reason}"),
            Ok(Err(error)) => format!("FAIL {error}"),
            Err(panic) => format!("FAIL {}", panic.message()),
        };
        println!("\nRESULT: {}", result.replace('\n', " "));
    }
}
