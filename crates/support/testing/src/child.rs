//! Runs a test, or another program, in its own process with another environment.

use crate::machine::{MACHINE, Need};
use crate::patience::Patience;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Tells a child process which driver it was started with.
const GIVEN: &str = "PIXELFERRY_TEST_DRIVER";

/// Returns the OpenCL driver that [`Child::on`] started this process with, or [`Need::OpenCl`].
pub fn given() -> Need {
    let name = std::env::var(GIVEN).unwrap_or_default();
    MACHINE.iter().find(|row| row.name == name).map_or(Need::OpenCl, |row| row.need)
}

/// This test program, to be run again, or another program.
#[derive(Debug)]
pub struct Child {
    command: Command,
    name: String,
    patience: Patience,
    short: bool,
    /// The number of tests that must run.
    tests: usize,
}

impl Child {
    /// Runs a single test, even if it is ignored otherwise. `name` is the name of the test with its modules; the
    /// crate's name may precede them, as in `module_path!()`.
    ///
    /// # Errors
    /// The system cannot tell the path of this program.
    pub fn of(name: &str) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let this_crate = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
        Self::of_each(&[name.strip_prefix(this_crate).and_then(|rest| rest.strip_prefix("::")).unwrap_or(name)])
    }

    /// Runs only these tests, one after the other, named as for [`Child::of`].
    ///
    /// # Errors
    /// The system cannot tell the path of this program.
    pub fn of_each(names: &[&str]) -> io::Result<Self> {
        let arguments = [names, &["--exact", "--include-ignored"]].concat();
        Ok(Self { tests: names.len(), ..Self::with(&names.join(", "), &arguments)? })
    }

    /// Runs all tests whose names contain one of `parts`.
    ///
    /// # Errors
    /// The system cannot tell the path of this program.
    pub fn of_those(parts: &[&str]) -> io::Result<Self> {
        Self::with(&parts.join(", "), parts)
    }

    /// Runs all tests whose names do not contain `without`.
    ///
    /// # Errors
    /// The system cannot tell the path of this program.
    pub fn of_all(without: &str) -> io::Result<Self> {
        Self::with("all tests", &["--skip", without])
    }

    /// Runs another program, in which no test must run.
    pub fn of_program(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let name = program.as_ref().to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments);
        let child = Self { command, name, patience: Patience::new(), short: false, tests: 0 };
        child.without(&["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"])
    }

    fn with(name: &str, arguments: &[&str]) -> io::Result<Self> {
        let child = Self::of_program(std::env::current_exe()?, arguments);
        let mut child = Self { name: name.to_owned(), tests: 1, ..child };
        child.command.args(["--nocapture", "--test-threads=1"]);
        Ok(child)
    }

    /// Makes this driver the only one of its kind.
    #[must_use]
    pub fn on(self, driver: Need) -> Self {
        self.env(GIVEN, driver.name()).envs(driver.row().environment)
    }

    /// Sets a variable. No display server is named unless a variable names one.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets all these variables.
    #[must_use]
    pub fn envs(mut self, variables: &[(&str, &str)]) -> Self {
        self.command.envs(variables.iter().copied());
        self
    }

    /// Removes all these variables.
    #[must_use]
    pub fn without(mut self, variables: &[&str]) -> Self {
        variables.iter().for_each(|name| _ = self.command.env_remove(name));
        self
    }

    /// Marks a child that is short: it counts as hung if it does not end within [`Patience`], whatever it prints and
    /// computes.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }

    /// Runs the child with this OpenCL driver, and repeats what it prints.
    ///
    /// # Panics
    /// The child does not pass, or nothing ran on an OpenCL device although the machine must have the driver.
    #[track_caller]
    pub fn passes_on(self, driver: Need) {
        let ended = self.on(driver).run().unwrap_or_else(|e| panic!("the test could not be run again: {e}"));
        let output = ended.passed();
        println!("{output}");
        let ran = output.contains("device: OpenCL");
        assert!(ran || !driver.is_required(), "nothing ran on {}", driver.name());
    }

    /// Runs the child until it ends or hangs, which means that it prints and computes nothing for as long as
    /// [`Patience`] lasts.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn run(mut self) -> io::Result<ChildResult> {
        let mut process = self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let printed = Arc::new(AtomicUsize::new(0));
        let out = process.stdout.take().map(|pipe| Output::read(pipe, &printed));
        let err = process.stderr.take().map(|pipe| Output::read(pipe, &printed));
        let mut last = None;
        self.patience.renew();
        let (status, hung) = loop {
            if let Some(status) = process.try_wait()? {
                break (status, false);
            }
            let now = Some((printed.load(Ordering::Relaxed), computed(process.id())));
            if now != last && !self.short {
                last = now;
                self.patience.renew();
            }
            if self.patience.is_over() {
                process.kill()?;
                break (process.wait()?, true);
            }
            thread::sleep(Duration::from_millis(10));
        };
        let text = [out, err].into_iter().flatten().map(|output| output.text(hung)).collect();
        Ok(ChildResult { name: self.name, status, hung, output: text, tests: self.tests })
    }
}

/// Returns the clock ticks that a process and the children that it waited for have computed, or 0 if the system does
/// not tell them.
fn computed(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, in parentheses, may hold spaces; state is the 3rd field, the four times the 14th to 17th.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The output of a process, read on a thread.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Output {
    fn read(mut pipe: impl Read + Send + 'static, printed: &Arc<AtomicUsize>) -> Self {
        let (bytes, printed) = (Arc::new(Mutex::new(Vec::new())), Arc::clone(printed));
        let all = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(len @ 1..) = pipe.read(&mut part) {
                all.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&part[..len]);
                printed.fetch_add(len, Ordering::Relaxed);
            }
        });
        Self { bytes, reader }
    }

    fn text(self, hung: bool) -> String {
        // A process that was ended may have left other processes that hold the pipe.
        if !hung {
            let _ = self.reader.join();
        }
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// The result of a child process.
#[derive(Debug)]
pub struct ChildResult {
    name: String,
    /// The status with which it ended.
    pub status: ExitStatus,
    /// True if it hung and was ended for that.
    pub hung: bool,
    /// What it printed, standard error after standard output.
    pub output: String,
    tests: usize,
}

impl ChildResult {
    /// Returns true if it ended without being stopped and with status 0.
    pub fn success(&self) -> bool {
        self.status.success() && !self.hung
    }

    /// Describes how it ended, for messages.
    pub fn how(&self) -> String {
        let how = if self.hung { "hung and was ended, with".to_owned() } else { "ended with".to_owned() };
        format!("{} {how} {}", self.name, self.status)
    }

    /// Returns what it printed.
    ///
    /// # Panics
    /// The child did not pass, or ran fewer tests than were named.
    #[track_caller]
    pub fn passed(self) -> String {
        assert!(self.success(), "{}:\n{}", self.how(), self.output);
        let ran = self.output.split("running ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        assert!(ran >= Some(self.tests), "no such tests as {}:\n{}", self.name, self.output);
        self.output
    }
}

/// Runs the test `name` of this program in its own process. It sees `driver` as the only one of its kind, and no
/// display server unless `env` names one.
///
/// # Errors
/// The process cannot be started.
pub fn in_child(name: &str, driver: Option<Need>, env: &[(&str, &str)]) -> io::Result<ChildResult> {
    let child = Child::of(name)?;
    driver.into_iter().fold(child, Child::on).envs(env).run()
}

/// Runs a test in its own process. It must pass, and print one of `signs` or SKIPPED.
///
/// # Panics
/// The process does not pass, or prints none of these texts.
#[track_caller]
pub fn pass_in_child(name: &str, driver: Option<Need>, env: &[(&str, &str)], signs: &[&str]) {
    let ended = in_child(name, driver, env).unwrap_or_else(|e| panic!("{name} could not be run again: {e}"));
    println!("{}", ended.output);
    assert!(ended.success(), "with {driver:?} and {env:?} {}", ended.how());
    let ran = signs.iter().chain(&["SKIPPED: "]).any(|sign| ended.output.contains(sign));
    assert!(ran, "{name} with {driver:?} and {env:?}: nothing ran");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::need;
    use std::time::Instant;

    fn child(name: &str) -> Child {
        Child::of(&format!("child::tests::{name}")).unwrap()
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_passes() {
        println!("given {:?}, vendors {:?}", given(), std::env::var("OCL_ICD_VENDORS"));
        assert_eq!(std::env::var("DISPLAY").ok(), std::env::var("WANTED_DISPLAY").ok());
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_fails() {
        panic!("on purpose");
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_lacks_xvfb() {
        let _: Option<()> = need(Need::Xvfb, Err("it is not installed"));
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_has_xvfb() {
        need(Need::Xvfb, Ok::<_, String>(()));
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_sleeps() {
        thread::sleep(Duration::from_secs(3600));
    }

    #[test]
    #[ignore = "run by the tests below"]
    fn child_computes() {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(3600) {}
    }

    #[test]
    fn a_child_sees_its_driver_and_no_display_server() {
        let text = child("child_passes").on(Need::Pocl).run().unwrap().passed();
        assert!(text.contains("given Pocl, vendors Ok(\"pocl.icd\")"), "{text}");
        let env = [("DISPLAY", ":7"), ("WANTED_DISPLAY", ":7")];
        assert!(child("child_passes").envs(&env).run().unwrap().passed().contains("given OpenCl"));
    }

    fn panics(f: impl FnOnce() + Send) -> bool {
        std::thread::scope(|scope| scope.spawn(f).join().is_err())
    }

    #[test]
    fn a_child_that_fails_or_is_not_there_does_not_pass() {
        let ended = child("child_fails").run().unwrap();
        assert!(!ended.success() && !ended.hung && ended.output.contains("on purpose"), "{ended:?}");
        let absent = child("no_such_test").run().unwrap();
        assert!(panics(|| drop(absent.passed())));
    }

    #[test]
    fn a_child_must_run_something_or_say_that_it_skips() {
        let passes = |name: &str, signs: &[&str]| {
            let name = format!("child::tests::{name}");
            let env = [("CI", "false"), ("PIXELFERRY_REQUIRE", "")];
            !panics(|| pass_in_child(&name, None, &env, signs))
        };
        assert!(passes("child_passes", &["given"]));
        assert!(!passes("child_passes", &["RAN"]));
        assert!(passes("child_lacks_xvfb", &["RAN"]));
        assert!(!passes("child_fails", &["on purpose"]));
    }

    #[test]
    fn what_is_required_is_not_skipped() {
        let run = |name: &str, variable: &str, value: &str| {
            let child = child(name).without(&["CI", "PIXELFERRY_REQUIRE"]).env(variable, value);
            child.run().unwrap()
        };
        for (variable, value) in [("CI", "true"), ("PIXELFERRY_REQUIRE", "egl,xvfb"), ("PIXELFERRY_REQUIRE", "all")] {
            let ended = run("child_lacks_xvfb", variable, value);
            assert!(!ended.success(), "{variable}={value}: {}", ended.output);
            assert!(ended.output.contains("xvfb is required here, but: it is not installed"), "{}", ended.output);
        }
        assert!(run("child_lacks_xvfb", "PIXELFERRY_REQUIRE", "egl").passed().contains("SKIPPED: no xvfb"));
        // Also where the thing is there.
        let unknown = run("child_has_xvfb", "PIXELFERRY_REQUIRE", "xvfb,glx");
        assert!(!unknown.success() && unknown.output.contains("names 'glx'"), "{}", unknown.output);
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let soon = || Patience::of(Duration::from_millis(10));
        let ended = Child { patience: soon(), ..child("child_sleeps") }.run().unwrap();
        assert!(ended.hung && !ended.success(), "{ended:?}");
        let ended = Child { patience: soon(), ..child("child_computes").short() }.run().unwrap();
        assert!(ended.hung && ended.how().contains("hung and was ended"), "{ended:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_process_computed_is_told() {
        let before = computed(std::process::id());
        let begin = Instant::now();
        while computed(std::process::id()) < before + 3 {
            assert!(begin.elapsed() < Duration::from_secs(3600), "no time is told");
        }
    }
}
