//! What a joint choice found is remembered among the profiles of paths, under all that it depends on.

use super::declare::{Scratch, Workload};
use super::pairs::Pair;
use super::report::{JointReport, JointState};
use crate::backends::{BackendChoice, listed_devices};
use crate::choice::Choice as _;
use crate::display_choice::DisplayChoice;
use interop_core::compute::SourceCode;
use interop_core::{DeviceIdentity, Language, SurfaceDesc};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;
/// Whose texts a choice depends on.
const LANGUAGES: [Language; 6] =
    [Language::CudaCpp, Language::Ptx, Language::OpenClC, Language::Glsl, Language::Wgsl, Language::Rust];

/// One file.
#[derive(Serialize, Deserialize)]
struct Page {
    key: Vec<String>,
    backend: String,
    display: Option<String>,
    /// Both sides as they were when they were measured.
    devices: [String; 2],
    report: JointReport,
}

/// What was found before.
pub(super) struct Remembered {
    pub choice: (BackendChoice, Option<DisplayChoice>),
    devices: [String; 2],
    pub report: JointReport,
}

impl Remembered {
    /// Whether these are the devices, with the drivers, that were measured.
    pub fn is_of(&self, pair: &Pair) -> bool {
        self.devices == devices(pair)
    }
}

fn devices(pair: &Pair) -> [String; 2] {
    let of = |device: &DeviceIdentity| format!("{device} {}", device.driver);
    [of(pair.backend.device()), of(pair.display.device())]
}

/// All that a choice depends on, as far as it is known before anything is opened.
fn key(workload: &Workload) -> Vec<String> {
    let surface = match &workload.surface {
        SurfaceDesc::Image(i) => {
            // Sizes in a class differ by less than half.
            let class = ((i.extent.pixels().max(1) as f64).log2() * 2.0).round();
            format!("{} {:?} {:?} {class}", i.format, i.access, i.row_order)
        }
        SurfaceDesc::Buffer(b) => format!("buffer {}", ((b.bytes.max(1) as f64).log2() * 2.0).round()),
    };
    let mut key = vec![
        format!("{VERSION} {}", env!("CARGO_PKG_VERSION")),
        format!("{surface} {} {:?} {:?}", workload.surface.unwritten(), workload.policy.mode, workload.policy.force),
        format!("{} {}", workload.backend.name(), workload.display.name()),
    ];
    key.extend(workload.given.iter().map(|display| format!("{} {}", display.device(), display.device().driver)));
    for (kernel, arguments) in &workload.launches {
        let texts = LANGUAGES.iter().filter_map(|language| match kernel.source(*language)? {
            SourceCode::Text(text) => Some(format!("{language} {:016x}", hash(text.as_bytes()))),
            SourceCode::Native(_) => Some(language.to_string()),
        });
        let kinds = arguments.iter().flatten().map(Scratch::kind);
        let words: Vec<_> = texts.chain(kinds).collect();
        key.push(format!("{} {}", kernel.name(), words.join(" ")));
    }
    key.extend(listed_devices(workload.backend));
    key
}

/// FNV-1a: the same in every process and version.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn file_name(key: &[String]) -> String {
    format!("together-{:016x}.json", hash(key.join("\n").as_bytes()))
}

/// What was found before for such a workload.
pub(super) fn load(workload: &Workload) -> Option<Remembered> {
    let key = key(workload);
    let page: Page = serde_json::from_str(&workload.policy.profiles.read(&file_name(&key))?).ok()?;
    let display = match &page.display {
        Some(name) => Some(DisplayChoice::parse(name).ok()?),
        None => None,
    };
    let choice = (BackendChoice::parse(&page.backend).ok()?, display);
    (page.key == key).then_some(Remembered { choice, devices: page.devices, report: page.report })
}

/// Remembers what was measured.
pub(super) fn store(workload: &Workload, pair: &Pair, report: &JointReport) {
    // Who had no time is asked again; who does not open will not open then.
    let untried = |state: &JointState| matches!(state, JointState::NotTried { .. });
    if report.rows.iter().any(|row| untried(&row.state)) {
        return;
    }
    let key = key(workload);
    let name = file_name(&key);
    let (backend, display) = (pair.choice.0.name().into(), pair.choice.1.map(|display| display.name().into()));
    let page = Page { key, backend, display, devices: devices(pair), report: report.clone() };
    match serde_json::to_string_pretty(&page) {
        Ok(text) => workload.policy.profiles.keep(&name, &text),
        Err(error) => tracing::debug!(%error, "what was measured is not remembered"),
    }
}
