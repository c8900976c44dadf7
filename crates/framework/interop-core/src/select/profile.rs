//! Profiles store measurements: one small JSON file for each pair of devices and kind of surface.
//!
//! Where the file is missing, damaged, of another version or about another pair, the paths are measured again. A
//! profile is written to a new file, which is then renamed over the old one, so that two programs at once leave one
//! complete file.

use super::candidates::Candidates;
use super::path_variant::{Candidate, PathVariant};
use super::policy::{Mode, Policy, Profiles};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::devices::identity::DeviceIdentity;
use crate::path::{Pairing, PathId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, io};

/// Version of the file format.
const VERSION: u32 = 4;

impl Profiles {
    #[cfg(feature = "profiles")]
    fn folder(&self) -> Option<PathBuf> {
        use etcetera::BaseStrategy as _;
        match self {
            Self::Cache => {
                let cache = etcetera::choose_base_strategy().ok()?.cache_dir();
                Some(cache.join("pixelferry").join("profiles"))
            }
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
        }
    }

    /// Nothing is stored without the feature `profiles`.
    #[cfg(not(feature = "profiles"))]
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Reads the value stored under this file name; `None` where it cannot be read.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = fs::read_to_string(self.folder()?.join(name)).ok()?;
        from_json(&text).inspect_err(|error| tracing::debug!(name, %error, "a profile is damaged")).ok()
    }

    /// Stores a value under this file name, completely or not at all. A failure is only logged.
    pub fn keep(&self, name: &str, value: &impl Serialize) {
        let Some(folder) = self.folder() else { return };
        if let Err(error) = to_json(value).and_then(|text| write(&folder, name, &text)) {
            tracing::debug!(folder = %folder.display(), %error, "cannot store the measurements");
        }
    }
}

/// Everything that a measurement depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    version: u32,
    library: String,
    compute: Device,
    display: Device,
    /// Names of all candidates.
    candidates: Vec<String>,
    surface: String,
    /// Twice the binary logarithm of the number of pixels or bytes: sizes in one class differ by less than half.
    size_class: u32,
    mode: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Device {
    api: String,
    name: String,
    driver: String,
    uuid: Option<String>,
}

impl Device {
    fn of(device: &DeviceIdentity) -> Self {
        Self {
            api: device.api.to_string(),
            name: device.name.clone(),
            driver: device.driver.clone(),
            uuid: device.uuid.map(|uuid| uuid.to_string()),
        }
    }
}

impl Key {
    pub fn new(pairing: &Pairing<'_>, candidates: &[Candidate<'_>], policy: &Policy) -> Self {
        let (surface, size) = match pairing.desc {
            SurfaceDesc::Image(i) => (format!("{} {:?} {:?}", i.format, i.access, i.row_order), i.extent.pixels()),
            SurfaceDesc::Buffer(b) => ("buffer".into(), b.bytes),
        };
        let surface = format!("{surface} {}", pairing.desc.unwritten());
        let mode = match policy.mode {
            Mode::Latency => "latency".into(),
            Mode::FramesBehind(frames) => format!("late {frames}"),
            Mode::Throughput { most } => format!("throughput {most}"),
        };
        Self {
            version: VERSION,
            library: env!("CARGO_PKG_VERSION").into(),
            compute: Device::of(pairing.backend.device()),
            display: Device::of(pairing.display.device()),
            candidates: candidates.iter().map(|c| c.variant().to_string()).collect(),
            surface,
            size_class: ((size.max(1) as f64).log2() * 2.0).round() as u32,
            mode,
        }
    }

    /// Names a program's own paths, so that programs with different paths do not overwrite each other's profile.
    fn plugged(&self) -> String {
        let own = |name: &&str| !PathId::ALL.iter().any(|id| id.name() == *name);
        let names = self.candidates.iter().filter(|name| !name.contains(' ')).map(String::as_str);
        // File names have a maximum length.
        names.filter(own).collect::<Vec<_>>().join(" ").chars().take(60).collect()
    }

    /// A file name for people; the content of the file decides.
    fn file_name(&self) -> String {
        let side = |d: &Device| {
            let uuid = d.uuid.as_deref().and_then(|u| u.get(..8)).unwrap_or("");
            format!("{} {} {uuid}", d.api, d.name.chars().take(24).collect::<String>())
        };
        let text = [
            side(&self.compute),
            side(&self.display),
            self.surface.clone(),
            self.size_class.to_string(),
            self.mode.clone(),
            self.plugged(),
        ]
        .join(" ")
        .to_lowercase();
        let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
        words.join("-") + ".json"
    }
}

/// A stored measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Profile {
    key: Key,
    path: String,
    sync: Option<SyncKind>,
    frames_behind: usize,
    found: ChoiceBasis,
    /// Names of the candidates that it was not compared with yet.
    left: Vec<String>,
}

/// An earlier selection.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedChoice<'p> {
    pub candidate: Candidate<'p>,
    pub frames_behind: usize,
    pub found: ChoiceBasis,
    /// Candidates that it was not compared with yet.
    pub left: Vec<PathVariant>,
}

/// The reason for a selection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum ChoiceBasis {
    /// It was the fastest: microseconds a frame.
    Quickest(f64),
    /// It was the first that worked, because so many starts had no time for measurements within this budget.
    First { starts: u32, budget: Duration },
}

/// The first start may have no time because drivers compile. A second one shows whether frames are simply too large.
const STARTS: u32 = 2;

impl ChoiceBasis {
    /// True where measuring again within `budget` would find nothing new.
    pub fn stands(self, within: Duration) -> bool {
        match self {
            Self::Quickest(_) => true,
            Self::First { starts, budget } => starts >= STARTS && within <= budget,
        }
    }

    /// Records that there was no time within `budget`, in this start and in the remembered ones.
    pub fn first(budget: Duration, before: Option<Self>) -> Self {
        let starts = match before {
            Some(Self::First { starts, budget: then }) if then >= budget => starts,
            _ => 0,
        };
        Self::First { starts: starts + 1, budget }
    }
}

/// Loads the selection stored under `key`, if it is still among the candidates.
pub(super) fn load<'p>(profiles: &Profiles, key: &Key, candidates: &[Candidate<'p>]) -> Option<SavedChoice<'p>> {
    let file = key.file_name();
    let found: Profile = profiles.read(&file)?;
    if found.key != *key {
        tracing::debug!(file, "a profile is of another version, driver or device");
        return None;
    }
    let candidate = candidates.iter().find(|c| c.id().name() == found.path && c.sync == found.sync)?;
    let left =
        candidates.iter().map(Candidate::variant).filter(|variant| found.left.contains(&variant.to_string())).collect();
    Some(SavedChoice { candidate: *candidate, frames_behind: found.frames_behind, found: found.found, left })
}

/// Returns the key of a pairing's profile and all candidates; `None` where the policy or the surface is invalid.
pub(super) fn candidates<'p>(pairing: &Pairing<'_>, policy: &'p Policy) -> Option<(Key, Vec<Candidate<'p>>)> {
    let candidates = Candidates::new(pairing, policy, &[]).ok()?.candidates;
    Some((Key::new(pairing, &candidates, policy), candidates))
}

/// Returns the candidate that is stored as the best of all except those in the list.
pub(super) fn best_of(pairing: &Pairing<'_>, policy: &Policy) -> Option<(PathVariant, Vec<PathVariant>)> {
    let (key, candidates) = candidates(pairing, policy)?;
    let saved = load(&policy.profiles, &key, &candidates)?;
    matches!(saved.found, ChoiceBasis::Quickest(_)).then(|| (saved.candidate.variant(), saved.left))
}

/// Stores a selection. A failure is only logged.
pub(super) fn store(profiles: &Profiles, key: &Key, what: SavedChoice<'_>) {
    let profile = Profile {
        key: key.clone(),
        path: what.candidate.id().to_string(),
        sync: what.candidate.sync,
        frames_behind: what.frames_behind,
        found: what.found,
        left: what.left.iter().map(PathVariant::to_string).collect(),
    };
    profiles.keep(&key.file_name(), &profile);
}

/// Removes the profile stored under `key`.
pub(super) fn remove(profiles: &Profiles, key: &Key) {
    if let Some(folder) = profiles.folder()
        && let Err(error) = fs::remove_file(folder.join(key.file_name()))
    {
        tracing::debug!(%error, "there was no profile to forget");
    }
}

#[cfg(feature = "profiles")]
fn from_json<T: DeserializeOwned>(text: &str) -> io::Result<T> {
    Ok(serde_json::from_str(text)?)
}

#[cfg(feature = "profiles")]
fn to_json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(value)?)
}

#[cfg(not(feature = "profiles"))]
fn from_json<T>(_: &str) -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(feature = "profiles"))]
fn to_json(_: &impl Serialize) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(folder)?;
    // The name is unique: another process has another number, and another thread the next count.
    let unfinished = folder.join(format!("{name}.{}.{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, folder.join(name)));
    if written.is_err() {
        // If this fails as well, nothing more can be done.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PATHS;
    use std::sync::LazyLock;

    fn key(size_class: u32) -> Key {
        let device = |api: &str| Device { api: api.into(), name: "A (R) B".into(), driver: "1".into(), uuid: None };
        Key {
            version: VERSION,
            library: "0".into(),
            compute: device("CUDA"),
            display: device("OpenGL"),
            candidates: vec!["direct".into()],
            surface: "RGBA8 Any TopDown".into(),
            size_class,
            mode: "latency".into(),
        }
    }

    static CANDIDATE: LazyLock<Candidate<'static>> = LazyLock::new(|| Candidate { spec: &PATHS[0], sync: None });
    static WHAT: LazyLock<SavedChoice<'static>> = LazyLock::new(|| SavedChoice {
        candidate: *CANDIDATE,
        frames_behind: 2,
        found: ChoiceBasis::Quickest(12.5),
        left: vec![CANDIDATE.variant()],
    });

    fn in_folder(test: impl Fn(&Profiles, &Path)) {
        let folder = std::env::temp_dir().join(format!(
            "pixelferry-profile-test-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        test(&Profiles::Folder(folder.clone()), &folder);
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn what_is_stored_comes_back() {
        in_folder(|profiles, folder| {
            assert_eq!(load(profiles, &key(40), &[*CANDIDATE]), None);
            store(profiles, &key(40), WHAT.clone());
            assert_eq!(load(profiles, &key(40), &[*CANDIDATE]), Some(WHAT.clone()));
            assert_eq!(load(profiles, &key(41), &[*CANDIDATE]), None);
            assert_eq!(load(profiles, &key(40), &[]), None, "it can no longer be taken");
            assert_eq!(load(&Profiles::Off, &key(40), &[*CANDIDATE]), None);
            let names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
            remove(profiles, &key(40));
            assert_eq!(load(profiles, &key(40), &[*CANDIDATE]), None);
            assert_eq!(names, ["cuda-a-r-b-opengl-a-r-b-rgba8-any-topdown-40-latency.json"]);
        });
    }

    #[test]
    fn damaged_stale_and_foreign_files_are_measured_again() {
        in_folder(|profiles, folder| {
            store(profiles, &key(40), WHAT.clone());
            let file = folder.join(key(40).file_name());
            let good = fs::read_to_string(&file).unwrap();
            let half = &good[..good.len() / 2];
            let other_version = good.replace(&format!("\"version\": {VERSION}"), "\"version\": 1");
            let other_driver = good.replace("\"driver\": \"1\"", "\"driver\": \"2\"");
            let no_path = good.replace("\"path\": \"direct\"", "\"path\": \"telepathy\"");
            for text in ["", "\0", "[]", half, &other_version, &other_driver, &no_path] {
                assert_ne!(text, good);
                fs::write(&file, text).unwrap();
                assert_eq!(load(profiles, &key(40), &[*CANDIDATE]), None, "{text}");
            }
            // And a folder in the file's place, which cannot be replaced.
            fs::remove_file(&file).unwrap();
            fs::create_dir_all(file.join("x")).unwrap();
            store(profiles, &key(40), WHAT.clone());
            assert_eq!(load(profiles, &key(40), &[*CANDIDATE]), None);
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "an unfinished file was left");
        });
    }

    #[test]
    fn that_there_is_no_time_must_be_found_twice() {
        let short = Duration::from_millis(300);
        let once = ChoiceBasis::first(short, None);
        let twice = ChoiceBasis::first(short, Some(once));
        assert!(ChoiceBasis::Quickest(1.0).stands(short) && !once.stands(short) && twice.stands(short));
        assert!(twice.stands(short / 2) && !twice.stands(short * 2), "more time may be enough");
        assert!(!ChoiceBasis::first(short * 2, Some(twice)).stands(short * 2), "counted from the start");
    }

    #[test]
    fn many_writers_leave_one_whole_file() {
        in_folder(|profiles, folder| {
            std::thread::scope(|scope| {
                for writer in 0..8 {
                    scope.spawn(move || {
                        for _ in 0..50 {
                            store(
                                profiles,
                                &key(40),
                                SavedChoice { found: ChoiceBasis::Quickest(f64::from(writer)), ..WHAT.clone() },
                            );
                            let seen = load(profiles, &key(40), &[*CANDIDATE]).expect("a whole file at any time");
                            assert_eq!(seen.frames_behind, 2);
                        }
                    });
                }
            });
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        });
    }
}
