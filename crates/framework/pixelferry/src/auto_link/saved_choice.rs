//! Stores joint choices among the profiles of paths, under everything that they depend on.

use super::link_builder::{InitialContent, LinkBuilder, Scratch};
use super::pairs::{Pair, Rows};
use super::report::{PairReport, PairRow};
use crate::backend_rows::BackendChoice;
use crate::backends::listed_devices;
use crate::choice::ApiChoice as _;
use crate::display_rows::DisplayChoice;
use interop_core::compute::SourceCode;
use interop_core::{ComputeBackend, DeviceIdentity, Display, LinkCore, SurfaceDesc};
use serde::{Deserialize, Serialize};

/// Version of the file format. Up to 5, paths were measured with a kernel of this crate.
const VERSION: u32 = 6;
/// Name of the work that was measured last, whatever it was.
const OTHERS: &str = "any work of the host";

/// Content of one file.
#[derive(Serialize, Deserialize)]
struct Page {
    key: Vec<String>,
    backend: String,
    display: Option<String>,
    /// Both sides with their drivers, as they were measured.
    devices: [String; 2],
    report: PairReport,
}

/// The stored result of a joint choice.
pub(super) struct SavedChoice {
    pub choice: Rows,
    devices: [String; 2],
    pub report: PairReport,
}

impl SavedChoice {
    /// True where the measured devices and drivers are these.
    pub fn is_of(&self, pair: &Pair) -> bool {
        self.devices == devices(pair.backend.as_ref(), pair.screen.display.as_ref())
    }
}

fn devices(backend: &dyn ComputeBackend, display: &dyn Display) -> [String; 2] {
    [named(backend.device()), named(display.device())]
}

fn named(device: &DeviceIdentity) -> String {
    format!("{device} {}", device.driver)
}

/// Everything that a choice depends on in addition to the name of the work, as far as it is known before anything is
/// opened.
fn key(wanted: &LinkBuilder) -> Vec<String> {
    let surface = match &wanted.surface {
        SurfaceDesc::Image(i) => {
            // Sizes in one class differ by less than half.
            let class = ((i.extent.pixels().max(1) as f64).log2() * 2.0).round();
            format!("{} {:?} {:?} {class}", i.format, i.access, i.row_order)
        }
        SurfaceDesc::Buffer(b) => format!("buffer {}", ((b.bytes.max(1) as f64).log2() * 2.0).round()),
    };
    let mut key = vec![
        format!("{VERSION} {}", env!("CARGO_PKG_VERSION")),
        format!("{surface} {} {:?} {:?}", wanted.surface.unwritten(), wanted.policy.mode, wanted.policy.force),
        format!("{} {}", wanted.backend.name(), wanted.display.name()),
    ];
    let given = wanted.computed_by.iter().map(|backend| backend.device());
    key.extend(given.chain(wanted.shown_by.iter().map(|display| display.device())).map(named));
    for (kernel, arguments) in &wanted.launches {
        let texts = kernel.sources().map(|(language, code)| match code {
            SourceCode::Text(text) => format!("{language} {:016x}", hash(text.as_bytes())),
            SourceCode::Native(_) => language.to_string(),
        });
        // Distinguishes arguments with which a kernel may take a different time.
        let kinds = arguments.iter().map(|argument| match argument {
            Scratch::Memory(InitialContent::Bytes(bytes)) => format!("bytes {}", bytes.len()),
            other => format!("{other:?}"),
        });
        let words: Vec<_> = texts.chain(kinds).collect();
        key.push(format!("{} {}", kernel.name(), words.join(" ")));
    }
    // The rows of a report are the backends that are built in.
    key.extend(BackendChoice::all().filter(|row| row.built).map(|row| row.name.to_owned()));
    key.extend(listed_devices(wanted.backend));
    key
}

/// FNV-1a: the same in every process and version.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn file_name(key: &[String]) -> String {
    format!("together-{:016x}.json", hash(key.join("\n").as_bytes()))
}

/// Loads the choice of an earlier start for such frames.
pub(super) fn load(wanted: &LinkBuilder) -> Option<SavedChoice> {
    load_work(wanted, &wanted.work)
}

/// Loads the rows of other host work on the same display, of about this size.
pub(super) fn load_others(wanted: &LinkBuilder) -> Option<Vec<PairRow>> {
    load_work(wanted, OTHERS).filter(|_| wanted.launches.is_empty()).map(|known| known.report.rows)
}

fn load_work(wanted: &LinkBuilder, work: &str) -> Option<SavedChoice> {
    let mut key = key(wanted);
    key.push(work.to_owned());
    let page: Page = wanted.policy.profiles.read(&file_name(&key))?;
    let display = page.display.as_deref().map(DisplayChoice::parse).transpose().ok()?;
    let choice = (BackendChoice::parse(&page.backend).ok()?, display);
    (page.key == key).then_some(SavedChoice { choice, devices: page.devices, report: page.report })
}

/// Stores the measurements.
pub(super) fn store(wanted: &LinkBuilder, choice: Rows, link: &LinkCore, report: &PairReport) {
    let (backend, display) = (choice.0.name().into(), choice.1.map(|display| display.name().into()));
    let devices = devices(link.backend().as_ref(), link.display().as_ref());
    let mut page = Page { key: key(wanted), backend, display, devices, report: report.clone() };
    let others = wanted.launches.is_empty().then_some(OTHERS);
    for work in [wanted.work.as_str()].into_iter().chain(others) {
        page.key.push(work.to_owned());
        wanted.policy.profiles.keep(&file_name(&page.key), &page);
        page.key.pop();
    }
}
