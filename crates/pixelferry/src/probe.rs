//! Everything about this machine in one report.

use crate::availability::Availability;
use crate::backends::{BackendStatus, open_all_backends};
use crate::displays::{DisplayStatus, open_all_headless};
use crate::doctor;
use crate::headless::Headless;
use crate::pair::backend_in;
use interop_core::describe::process;
use interop_core::{
    Api, ComputeBackend, DeviceIdentity, Diagnosis, Display, PathId, Policy, ProbeReport, Result, SurfaceDesc, select,
};
use serde::Serialize;
use std::rc::Rc;
use std::sync::Arc;

/// Report of [`probe`] on this machine.
///
/// ```
/// use pixelferry::{PixelFormat, Policy, Profiles, SurfaceDesc, probe_with};
/// use std::time::Duration;
///
/// // Without measuring, the first path that works is taken for each pair of devices.
/// let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off);
/// let report = probe_with(&SurfaceDesc::image(64, 64, PixelFormat::Rgba8), policy, &[], &[])?;
/// assert!(!report.pairings.is_empty(), "threads and plain memory are on every machine");
/// for missing in &report.diagnoses {
///     println!("{}: {}", missing.finding, missing.advice);
/// }
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SystemReport {
    /// [`SystemReport::SCHEMA`].
    pub schema: &'static str,
    /// [`SystemReport::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of this library.
    pub version: &'static str,
    /// Surface that every pairing was tried with.
    pub surface: SurfaceDesc,
    /// Compute APIs.
    pub backends: Vec<BackendStatus>,
    /// Displays that need no window.
    pub displays: Vec<DisplayStatus>,
    /// Every compute device with every display, the pairing that is taken by default first.
    pub pairings: Vec<ProbeReport>,
    /// Problems of this machine, by name, each with advice.
    pub diagnoses: Vec<Diagnosis>,
    /// Devices that were listed but did not open, and other trouble on the way.
    pub problems: Vec<String>,
    /// Choice for a program that asks for nothing.
    pub chosen: Option<Chosen>,
    /// The best that any pairing does.
    pub sharing: Sharing,
}

impl SystemReport {
    /// Name of the report among those that are written as JSON.
    pub const SCHEMA: &'static str = "pixelferry-probe";
    /// Rises when older readers would misread a report.
    pub const SCHEMA_VERSION: u32 = 1;
}

/// The best that compute and display do together.
///
/// ```
/// use pixelferry::report::Sharing;
///
/// assert!(Sharing::Shared > Sharing::Host && Sharing::Host > Sharing::Nothing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sharing {
    /// No path works.
    Nothing,
    /// Frames pass through memory of the host, which that of programs on the CPU is, too.
    Host,
    /// Both sides share memory of a device that is hardware.
    Shared,
}

impl Sharing {
    fn of(pairings: &[ProbeReport]) -> Self {
        let best = pairings.iter().map(|pairing| match pairing.paths.iter().any(|path| path.state.works()) {
            _ if pairing.shared().next().is_some() => Self::Shared,
            true => Self::Host,
            false => Self::Nothing,
        });
        best.max().unwrap_or(Self::Nothing)
    }
}

/// The default choice.
///
/// ```
/// use pixelferry::{PixelFormat, Policy, Profiles, SurfaceDesc, probe_with};
/// # use std::time::Duration;
///
/// # let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off);
/// let report = probe_with(&SurfaceDesc::image(64, 64, PixelFormat::Rgba8), policy, &[], &[])?;
/// if let Some(chosen) = &report.chosen {
///     println!("{} -> {} by {}: {}", chosen.compute, chosen.display, chosen.path, chosen.why);
/// }
/// assert!(report.chosen.is_some());
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Chosen {
    /// The side that writes.
    pub compute: DeviceIdentity,
    /// The side that shows.
    pub display: DeviceIdentity,
    /// Path of the frames.
    pub path: PathId,
    /// Reason for this path.
    pub why: String,
}

/// Tries every path between every compute device and every display without a window, proving each by pixels.
///
/// # Errors
/// Only for a `desc` that no surface can have; missing drivers are findings.
pub fn probe(desc: &SurfaceDesc) -> Result<SystemReport> {
    process::check("probe")?;
    probe_with(desc, Policy::default(), &[], &[])
}

/// Looks at the machine as [`probe`] does, and at what the program has of its own: paths in `policy`, and backends and
/// displays that are tried after the built-in ones. What the environment asks for stands above the policy.
///
/// # Errors
/// The errors of [`probe`].
pub fn probe_with(
    desc: &SurfaceDesc,
    policy: Policy,
    own_backends: &[Arc<dyn ComputeBackend>],
    own_displays: &[Rc<dyn Display>],
) -> Result<SystemReport> {
    desc.byte_len().map_err(|error| error.of("probe"))?;
    let policy = policy.overridden()?;
    let (mut backends, mut backend_status, errors) = open_all_backends();
    // The order of BackendChoice::Auto: hardware before programs, of which shaders come last; otherwise as listed.
    let shades = |b: &dyn ComputeBackend| matches!(b.device().api, Api::OpenGl | Api::Wgpu | Api::Vulkan);
    backends.sort_by_key(|b| (b.device().software, b.device().software && shades(b.as_ref())));
    for own in own_backends {
        let (api, devices) = (own.device().api, vec![own.device().clone()]);
        let languages = own.caps().languages.clone();
        backend_status.push(BackendStatus { api, availability: Availability::Available, devices, languages });
        backends.push(Arc::clone(own));
    }
    let (displays, mut display_status) = open_all_headless();
    let mut displays: Vec<_> = displays.into_iter().map(|screen| (screen.display(), Some(screen))).collect();
    for own in own_displays {
        let device = Some(own.device().clone());
        display_status.push(DisplayStatus { kind: "plugged", availability: Availability::Available, device });
        displays.push((Rc::clone(own), None));
    }
    let mut problems: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut pairings = Vec::new();
    for (display, screen) in &displays {
        if let Some(Err(e)) = screen.as_ref().map(Headless::make_current) {
            problems.push(format!("{}: {e}", display.device()));
            continue;
        }
        for backend in &backends {
            let backend = backend_in(backend, display.as_ref());
            let (computes, draws) = (backend.device(), display.device());
            tracing::info!("trying the paths from {computes} to {draws}");
            match select::probe(&backend, display, desc, &policy) {
                Ok(report) => pairings.push(report),
                Err(e) => problems.push(format!("{} -> {}: {e}", backend.device(), display.device())),
            }
        }
    }
    let chosen = pairings.iter().find_map(|p| {
        let path = p.chosen()?;
        Some(Chosen { compute: p.compute.clone(), display: p.display.clone(), path: path.id, why: path.state.detail() })
    });
    Ok(SystemReport {
        diagnoses: doctor::machine(&backend_status, &display_status),
        schema: SystemReport::SCHEMA,
        schema_version: SystemReport::SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION"),
        sharing: Sharing::of(&pairings),
        surface: *desc,
        backends: backend_status,
        displays: display_status,
        pairings,
        problems,
        chosen,
    })
}
