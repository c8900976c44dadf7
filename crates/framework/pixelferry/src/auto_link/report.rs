//! Report about a joint choice, for people and programs.

use interop_core::{ComputeBackend, DeviceIdentity, Display, Error, LinkCore, PathKind, Ratio};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What a joint choice is based on.
///
/// ```
/// use pixelferry::{BackendChoice, DisplayChoice, LinkBuilder, PixelFormat, SurfaceDesc, report::Basis};
///
/// // Both sides are given, so that there is nothing to measure.
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let opened = LinkBuilder::new(desc).backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?;
/// assert_eq!(opened.report.basis, Basis::CostModel);
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// An earlier start measured frames.
    Remembered,
    /// Frames of the program were measured while it showed them, which took this much additional time.
    Frames(Duration),
    /// Nothing was measured yet; the cost model chose.
    CostModel,
}

/// State of a pair of backend and display in a report.
///
/// ```
/// use pixelferry::{BackendChoice, DisplayChoice, LinkBuilder, PixelFormat, SurfaceDesc, report::PairState};
///
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// # let opened = LinkBuilder::new(desc).backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?;
/// for row in &opened.report.rows {
///     match &row.state {
///         PairState::Chosen => println!("{} -> {}", row.compute, row.display),
///         PairState::Slower => println!("{} is no quicker", row.compute),
///         PairState::Failed { reason } | PairState::NotTried { reason } => println!("{}: {reason}", row.compute),
///         _ => {}
///     }
/// }
/// assert!(opened.report.rows.iter().any(|row| row.state == PairState::Chosen));
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PairState {
    /// It is the current pair.
    Chosen,
    /// It works, but another pair is equally fast or faster.
    Slower,
    /// It does not work.
    Failed {
        /// Reason for the failure.
        reason: String,
    },
    /// The kernel's text for this backend, or an argument, contains a mistake.
    Mistaken {
        /// The error.
        reason: String,
    },
    /// It was not tried.
    NotTried {
        /// Reason why it was not tried.
        reason: String,
    },
}

/// One pair of backend and display in a report, with the path between them.
///
/// ```
/// use pixelferry::{BackendChoice, DisplayChoice, LinkBuilder, PixelFormat, SurfaceDesc};
///
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let opened = LinkBuilder::new(desc).backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?;
/// let row = opened.report.chosen();
/// assert_eq!(row.and_then(|row| row.path.clone()), Some(opened.link.path().to_string()));
/// assert_eq!(row.map(|row| row.display.as_str()), Some("CPU plain memory"));
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PairRow {
    /// The compute device.
    pub compute: String,
    /// The display's device.
    pub display: String,
    /// Path of the frames, if it is known.
    pub path: Option<String>,
    /// Time of a frame of the program, drawn and waited for, in microseconds.
    pub median_us: Option<f64>,
    /// Ratio of its time to that of the best pair so far, where both had turns.
    pub ratio: Option<Ratio>,
    /// Explanation of where its time goes.
    pub because: String,
    /// State of the pair.
    #[serde(flatten)]
    pub state: PairState,
}

/// Report about a joint choice, in the order in which pairs were tried.
///
/// ```
/// use pixelferry::*;
///
/// let fill = KernelSource::new("fill").cpu_image(|out, _| out.par_pixels(|_, _| [0_u8; 4]));
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let builder = LinkBuilder::new(desc).launch(&fill, [] as [Scratch; 0]);
/// let opened = builder.backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?;
/// assert_eq!(opened.report.what, "image 64x64 RGBA8 by 'fill'");
/// assert!(opened.report.to_string().contains("CHOSEN"));
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PairReport {
    /// Description of the surface, and the names of the kernels.
    pub what: String,
    /// What the choice is based on.
    pub basis: Basis,
    /// The pairs of a backend and a display.
    pub rows: Vec<PairRow>,
    /// Other paths of the current pair that computed frames of the program.
    #[serde(default)]
    pub paths: Vec<PairRow>,
}

impl PairRow {
    /// Creates a row of a pair about which no more is known.
    pub(super) fn new(compute: String, display: &DeviceIdentity, state: PairState) -> Self {
        let (display, because) = (display.to_string(), String::new());
        Self { compute, display, path: None, median_us: None, ratio: None, because, state }
    }

    /// Creates a row for the pair of an open link, without measurements.
    pub(super) fn of(link: &LinkCore, state: PairState) -> Self {
        let (backend, display) = (link.backend().as_ref(), link.display().as_ref());
        let (path, because) = (Some(link.path().to_string()), because(backend, display, link));
        Self { path, because, ..Self::new(backend.device().to_string(), display.device(), state) }
    }
}

impl PairReport {
    /// Returns the row of the current pair.
    pub fn chosen(&self) -> Option<&PairRow> {
        self.rows.iter().find(|row| row.state == PairState::Chosen)
    }
}

impl fmt::Display for PairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.what)?;
        match &self.basis {
            Basis::Remembered => writeln!(f, "measured by an earlier start")?,
            Basis::Frames(time) => writeln!(f, "measured with frames of the program, {:.1} s", time.as_secs_f64())?,
            Basis::CostModel => writeln!(f, "chosen by the cost model")?,
        }
        for row in &self.rows {
            let time = row.median_us.map_or_else(String::new, |us| format!("{us:.0} us"));
            let chosen = if row.state == PairState::Chosen { "CHOSEN " } else { "" };
            write!(f, "  {} -> {}: {chosen}{time}", row.compute, row.display)?;
            let path = row.path.as_ref().map(|path| format!(" by {path}")).unwrap_or_default();
            match &row.state {
                PairState::Chosen | PairState::Slower => writeln!(f, "{path}, {}", row.because)?,
                PairState::Failed { reason } => writeln!(f, "does not work: {reason}")?,
                PairState::Mistaken { reason } => writeln!(f, "has a mistake: {reason}")?,
                PairState::NotTried { reason } if time.is_empty() => writeln!(f, "not tried: {reason}")?,
                PairState::NotTried { reason } => writeln!(f, " at an earlier start; {reason}")?,
            }
        }
        for row in &self.paths {
            write!(f, "    {}, another path of the chosen pair: ", row.path.as_deref().unwrap_or_default())?;
            match (&row.state, row.median_us) {
                (PairState::Failed { reason }, _) => writeln!(f, "does not work: {reason}")?,
                (PairState::NotTried { reason }, _) => writeln!(f, "not tried: {reason}")?,
                (_, us) => writeln!(f, "{:.0} us", us.unwrap_or(f64::NAN))?,
            }
        }
        Ok(())
    }
}

/// Stores the error that a choice without a working pair returns: the first mistake of the program, otherwise the last
/// error. Warns of a mistake, because another pair may hide it.
pub(super) fn failed(error: Error, refusal: &mut Option<Error>) -> PairState {
    let (reason, is_new) = (error.to_string(), is_mistake(&error));
    if !refusal.as_ref().is_some_and(is_mistake) {
        *refusal = Some(error);
    }
    if !is_new {
        return PairState::Failed { reason };
    }
    tracing::warn!("{reason}");
    PairState::Mistaken { reason }
}

/// True for an error in a kernel's text or its arguments.
pub(super) fn is_mistake(error: &Error) -> bool {
    matches!(error, Error::KernelBuild { .. } | Error::InvalidInput { .. })
}

/// Explains where the time of a pair's frames goes, from its devices and its path.
fn because(backend: &dyn ComputeBackend, display: &dyn Display, link: &LinkCore) -> String {
    let (compute, shown_by) = (backend.device(), display.device());
    let row = link.report().chosen();
    let own_gpus = !compute.software && !shown_by.software;
    match row.map(|row| row.kind) {
        Some(PathKind::InQueue) if compute.software => "in the display's queue, on a software device".into(),
        Some(PathKind::InQueue) => "in the display's queue".into(),
        _ if own_gpus && compute.same_device(shown_by).is_yes() => {
            "because the GPU switches contexts between kernel and draw".into()
        }
        _ if own_gpus => "because frames go from one GPU to another".into(),
        _ if shown_by.software && compute.software => format!("{}, all on the CPU", mechanism(link)),
        _ => format!("because frames cross the bus: {}", mechanism(link)),
    }
}

fn mechanism(link: &LinkCore) -> &'static str {
    link.report().chosen().map_or("", |row| row.mechanism)
}
