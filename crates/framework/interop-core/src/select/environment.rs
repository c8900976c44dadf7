//! Environment variables with which a user changes the selection without changing the program.
//!
//! | variable | values |
//! |---|---|
//! | `PIXELFERRY_PATH` | a path's name: uses that path or fails |
//! | `PIXELFERRY_SYNC` | a name of [`SyncKind`], e.g. `host-fence` or `shared-event`: the synchronisation, where a path
//! supports it |
//! | `PIXELFERRY_MODE` | `latency`, `behind:N`, `throughput`, `throughput:N` |
//! | `PIXELFERRY_CALIBRATE_MS` | time for measurements in milliseconds; 0 takes the first path that works |
//! | `PIXELFERRY_TRIALS` | `off`, `asked`, `spread`: when paths are compared that the start had no time for (see
//! [`Trials`]) |
//! | `PIXELFERRY_AUDIT` | `off`, `auto`, or `N`: every Nth frame is audited (see [`Audit`]) |
//! | `PIXELFERRY_PROFILES` | a folder for measurements, or `off` |
//! | `PIXELFERRY_DRAW` | a name of [`Manner`]: draws in that manner, where the target and the device support it |
//!
//! Each variable overrides the program's setting. Displays read the last one; [`Policy::overridden`] only checks it.

use super::policy::{Audit, MAX_FRAMES_BEHIND, Mode, Policy, Profiles, Trials};
use crate::describe::error::Result;
use crate::describe::variable::{text, wrong};
use crate::devices::capability::SyncKind;
use crate::draw::Manner;
use std::ffi::OsString;
use std::time::Duration;

const PATH: &str = "PIXELFERRY_PATH";
const SYNC: &str = "PIXELFERRY_SYNC";
const MODE: &str = "PIXELFERRY_MODE";
const CALIBRATE_MS: &str = "PIXELFERRY_CALIBRATE_MS";
const TRIALS: &str = "PIXELFERRY_TRIALS";
const AUDIT: &str = "PIXELFERRY_AUDIT";
const PROFILES: &str = "PIXELFERRY_PROFILES";

/// Names of all variables.
pub const VARIABLES: [&str; 8] = [PATH, SYNC, MODE, CALIBRATE_MS, TRIALS, AUDIT, PROFILES, Manner::VARIABLE];

impl Policy {
    /// Returns the policy with the settings of the environment applied. Empty variables count as unset.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::Error::InvalidInput) with the variable, its value and the allowed values.
    pub fn overridden(self) -> Result<Self> {
        self.overridden_by(&|name| std::env::var_os(name))
    }

    fn overridden_by(mut self, get: &dyn Fn(&str) -> Option<OsString>) -> Result<Self> {
        if let Some(path) = text(get, PATH, "the name of a path")? {
            let names = || format!("one of {}", self.paths.names());
            self.force = Some(self.paths.named(&path).map_err(|_| wrong(PATH, &path, &names()))?);
            self.overridden.push(PATH);
        }
        if let Some(sync) = text(get, SYNC, "the name of a synchronisation")? {
            let names = || format!("one of {}", SyncKind::ALL.map(SyncKind::name).join(", "));
            self.sync = Some(sync.parse().map_err(|_| wrong(SYNC, &sync, &names()))?);
            self.overridden.push(SYNC);
        }
        if let Some(name) = text(get, MODE, "the name of a mode")? {
            self.mode = mode(&name)?;
            self.overridden.push(MODE);
        }
        if let Some(number) = text(get, CALIBRATE_MS, "a whole number")? {
            let milliseconds = number.parse().map_err(|_| wrong(CALIBRATE_MS, &number, "a whole number"))?;
            self.budget = Duration::from_millis(milliseconds);
            self.overridden.push(CALIBRATE_MS);
        }
        if let Some(name) = text(get, TRIALS, "off, asked or spread")? {
            self.trials = match name.as_str() {
                "off" => Trials::Off,
                "asked" => Trials::Asked,
                "spread" => Trials::default(),
                _ => return Err(wrong(TRIALS, &name, "off, asked or spread")),
            };
            self.overridden.push(TRIALS);
        }
        if let Some(name) = text(get, AUDIT, "off, auto or a number of frames")? {
            self.audit = match name.as_str() {
                "off" => Audit::Off,
                "auto" => Audit::Auto,
                number => Audit::Every(
                    number.parse().map_err(|_| wrong(AUDIT, number, "off, auto or a number of frames from 1 on"))?,
                ),
            };
            self.overridden.push(AUDIT);
        }
        // Displays read this variable themselves, and would report an invalid value only when they draw.
        if Manner::asked(get)?.is_some() {
            self.overridden.push(Manner::VARIABLE);
        }
        // The name of a folder need not be Unicode.
        if let Some(folder) = get(PROFILES).filter(|folder| !folder.is_empty()) {
            self.profiles = if folder == "off" { Profiles::Off } else { Profiles::Folder(folder.into()) };
        }
        Ok(self)
    }
}

fn mode(text: &str) -> Result<Mode> {
    let problem = || {
        let wanted = format!("latency, behind:N, throughput or throughput:N with N at most {MAX_FRAMES_BEHIND}");
        wrong(MODE, text, &wanted)
    };
    let (word, number) = match text.split_once(':') {
        Some((word, number)) => (word, Some(number.parse::<usize>().map_err(|_| problem())?)),
        None => (text, None),
    };
    match (word, number) {
        (_, Some(n)) if n > MAX_FRAMES_BEHIND => Err(problem()),
        ("latency", None) => Ok(Mode::Latency),
        ("behind", Some(frames)) => Ok(Mode::FramesBehind(frames)),
        ("throughput", most) => Ok(Mode::Throughput { most: most.unwrap_or(MAX_FRAMES_BEHIND) }),
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{PathId, PathSpec, Paths};
    use crate::{Error, Support};

    fn of(list: &[(&str, &str)]) -> Result<Policy> {
        let get = |name: &str| list.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        Policy::default().overridden_by(&get)
    }

    #[test]
    fn every_variable_is_heard() {
        let policy = of(&[
            ("PIXELFERRY_PATH", "pbo-orphan"),
            ("PIXELFERRY_SYNC", "timeline-semaphore"),
            ("PIXELFERRY_MODE", "throughput:4"),
            ("PIXELFERRY_CALIBRATE_MS", "0"),
            ("PIXELFERRY_TRIALS", "off"),
            ("PIXELFERRY_AUDIT", "7"),
            ("PIXELFERRY_PROFILES", "off"),
            ("PIXELFERRY_DRAW", "compute"),
        ])
        .unwrap();
        assert_eq!((policy.force, policy.sync), (Some(PathId::PBO_ORPHAN), Some(SyncKind::TimelineSemaphore)));
        assert_eq!((policy.mode, policy.budget), (Mode::Throughput { most: 4 }, Duration::ZERO));
        assert_eq!((policy.profiles, policy.trials, policy.overridden.len()), (Profiles::Off, Trials::Off, 7));
        assert_eq!(policy.audit, Audit::Every(7.try_into().unwrap()));
        assert_eq!(of(&[("PIXELFERRY_MODE", "behind:3")]).unwrap().mode, Mode::FramesBehind(3));
        assert!(of(&[("PIXELFERRY_PATH", " ")]).unwrap().force.is_none());
        assert!(of(&[]).unwrap().overridden.is_empty());
    }

    #[test]
    fn a_path_of_the_programs_own_can_be_asked_for() {
        let own = PathSpec::new("own-variant", |_| Support::Yes, |_| Err(Error::NothingShown));
        let policy = Policy { paths: Paths::default().with(own).unwrap(), ..Policy::default() };
        let asked =
            |path: &'static str| policy.clone().overridden_by(&|name| (name == PATH).then(|| OsString::from(path)));
        assert_eq!(asked("own-variant").unwrap().force.unwrap().name(), "own-variant");
        let error = asked("another").unwrap_err().to_string();
        assert!(error.contains("'another' for PIXELFERRY_PATH") && error.ends_with("own-variant"), "{error}");
        let error = of(&[(PATH, "own-variant")]).unwrap_err().to_string();
        assert!(error.ends_with("host-round-trip"), "this program has no such path: {error}");
    }

    #[test]
    fn what_cannot_be_is_an_error_that_says_what_can() {
        for (name, value, wanted) in [
            ("PIXELFERRY_PATH", "telepathy", "host-round-trip"),
            ("PIXELFERRY_SYNC", "hope", "host-fence"),
            ("PIXELFERRY_MODE", "behind", "behind:N"),
            ("PIXELFERRY_MODE", "behind:17", "at most 16"),
            ("PIXELFERRY_MODE", "latency:1", "latency"),
            ("PIXELFERRY_CALIBRATE_MS", "-1", "whole number"),
            ("PIXELFERRY_TRIALS", "maybe", "spread"),
            ("PIXELFERRY_AUDIT", "0", "from 1 on"),
            ("PIXELFERRY_DRAW", "rays", "triangle, compute"),
        ] {
            let error = of(&[(name, value)]).unwrap_err().to_string();
            for part in [name, wanted, value] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }

    #[test]
    fn every_way_to_hand_over_can_be_asked_for() {
        for kind in SyncKind::ALL {
            assert_eq!(of(&[("PIXELFERRY_SYNC", kind.name())]).unwrap().sync, Some(kind));
        }
        let error = of(&[("PIXELFERRY_SYNC", "hope")]).unwrap_err().to_string();
        assert!(error.contains("shared-event") && error.contains("timeline-semaphore"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_unicode_is_not_passed_over() {
        use std::os::unix::ffi::OsStringExt as _;

        let bytes = || OsString::from_vec(vec![b'/', 0xff]);
        for name in VARIABLES {
            let policy = Policy::default().overridden_by(&|asked| (asked == name).then(bytes));
            match policy {
                Ok(policy) => assert_eq!((name, policy.profiles), (PROFILES, Profiles::Folder(bytes().into()))),
                Err(error) => assert!(error.to_string().contains(name), "{error}"),
            }
        }
    }
}
