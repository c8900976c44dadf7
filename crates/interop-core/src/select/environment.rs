//! What the user of a program may ask for without changing it.
//!
//! | variable | values |
//! |---|---|
//! | `PIXELFERRY_PATH` | a path's name: that path or an error |
//! | `PIXELFERRY_SYNC` | `host-fence`, `binary-semaphore`, `timeline-semaphore`, `implicit`, `finish` |
//! | `PIXELFERRY_MODE` | `latency`, `late:N`, `throughput`, `throughput:N` |
//! | `PIXELFERRY_CALIBRATE_MS` | time for measuring; 0 takes the first that works |
//! | `PIXELFERRY_PROFILES` | a folder for what was measured, or `off` |
//!
//! Each stands above what the program asked for.

use super::policy::{MAX_FRAMES_LATE, Mode, Policy};
use super::profile::Profiles;
use crate::capability::SyncKind;
use crate::error::{Error, Result};
use std::time::Duration;

impl Policy {
    /// The policy with what the environment says instead of the program. Empty variables count as not set.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] that names the variable, its value and what may stand there.
    pub fn overridden(self) -> Result<Self> {
        self.overridden_by(&|name| std::env::var(name).ok())
    }

    fn overridden_by(mut self, get: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let value = |name: &'static str| get(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        if let Some(text) = value("PIXELFERRY_PATH") {
            self.force = Some(text.parse()?);
            self.overridden.push("PIXELFERRY_PATH");
        }
        if let Some(text) = value("PIXELFERRY_SYNC") {
            self.sync = Some(sync(&text)?);
            self.overridden.push("PIXELFERRY_SYNC");
        }
        if let Some(text) = value("PIXELFERRY_MODE") {
            self.mode = mode(&text)?;
            self.overridden.push("PIXELFERRY_MODE");
        }
        if let Some(text) = value("PIXELFERRY_CALIBRATE_MS") {
            let milliseconds = text.parse().map_err(|_| wrong("PIXELFERRY_CALIBRATE_MS", &text, "a whole number"))?;
            self.budget = Duration::from_millis(milliseconds);
            self.overridden.push("PIXELFERRY_CALIBRATE_MS");
        }
        if let Some(text) = value("PIXELFERRY_PROFILES") {
            self.profiles = if text == "off" { Profiles::Off } else { Profiles::Folder(text.into()) };
        }
        Ok(self)
    }
}

fn wrong(variable: &str, value: &str, wanted: &str) -> Error {
    Error::invalid("environment", format!("{variable} is '{value}'; give {wanted}"))
}

fn sync(text: &str) -> Result<SyncKind> {
    let all = [
        SyncKind::HostFence,
        SyncKind::BinarySemaphore,
        SyncKind::TimelineSemaphore,
        SyncKind::Implicit,
        SyncKind::Finish,
    ];
    let name = |kind: &SyncKind| kind.to_string().replace(' ', "-");
    all.into_iter()
        .find(|kind| name(kind) == text)
        .ok_or_else(|| wrong("PIXELFERRY_SYNC", text, &format!("one of {}", all.each_ref().map(name).join(", "))))
}

fn mode(text: &str) -> Result<Mode> {
    let problem = || {
        let wanted = format!("latency, late:N, throughput or throughput:N with N at most {MAX_FRAMES_LATE}");
        wrong("PIXELFERRY_MODE", text, &wanted)
    };
    let (word, number) = match text.split_once(':') {
        Some((word, number)) => (word, Some(number.parse::<usize>().map_err(|_| problem())?)),
        None => (text, None),
    };
    match (word, number) {
        (_, Some(n)) if n > MAX_FRAMES_LATE => Err(problem()),
        ("latency", None) => Ok(Mode::Latency),
        ("late", Some(frames)) => Ok(Mode::FramesLate(frames)),
        ("throughput", most) => Ok(Mode::Throughput { most: most.unwrap_or(MAX_FRAMES_LATE) }),
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PathId;

    fn of(list: &[(&str, &str)]) -> Result<Policy> {
        let get = |name: &str| list.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Policy::default().overridden_by(&get)
    }

    #[test]
    fn every_variable_is_heard() {
        let policy = of(&[
            ("PIXELFERRY_PATH", "pbo-orphan"),
            ("PIXELFERRY_SYNC", "timeline-semaphore"),
            ("PIXELFERRY_MODE", "throughput:4"),
            ("PIXELFERRY_CALIBRATE_MS", "0"),
            ("PIXELFERRY_PROFILES", "off"),
        ])
        .unwrap();
        assert_eq!((policy.force, policy.sync), (Some(PathId::PboOrphan), Some(SyncKind::TimelineSemaphore)));
        assert_eq!((policy.mode, policy.budget), (Mode::Throughput { most: 4 }, Duration::ZERO));
        assert_eq!((policy.profiles, policy.overridden.len()), (Profiles::Off, 4));
        assert_eq!(of(&[("PIXELFERRY_MODE", "late:3")]).unwrap().mode, Mode::FramesLate(3));
        assert!(of(&[("PIXELFERRY_PATH", " ")]).unwrap().force.is_none());
        assert!(of(&[]).unwrap().overridden.is_empty());
    }

    #[test]
    fn what_cannot_be_is_an_error_that_says_what_can() {
        for (name, value, wanted) in [
            ("PIXELFERRY_PATH", "telepathy", "host-round-trip"),
            ("PIXELFERRY_SYNC", "hope", "host-fence"),
            ("PIXELFERRY_MODE", "late", "late:N"),
            ("PIXELFERRY_MODE", "late:17", "at most 16"),
            ("PIXELFERRY_MODE", "latency:1", "latency"),
            ("PIXELFERRY_CALIBRATE_MS", "-1", "whole number"),
        ] {
            let error = of(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains(value), "{error}");
        }
    }
}
