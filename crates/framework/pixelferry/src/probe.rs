//! One report about the whole machine: backends, displays, paths and problems.

use crate::availability::Availability;
use crate::backends::{BackendStatus, open_all_backends};
use crate::displays::{DisplayStatus, open_all_headless};
use crate::doctor;
use crate::headless::HeadlessDisplay;
use crate::pair::backend_in;
use interop_core::describe::process;
use interop_core::{
    Api, ComputeBackend, DeviceIdentity, Diagnosis, Display, PathId, Policy, ProbeReport, Result, SurfaceDesc, select,
};
use serde::Serialize;
use std::sync::Arc;

/// Report of [`probe`] about this machine.
///
/// ```
/// use pixelferry::{PixelFormat, Policy, Profiles, SurfaceDesc, probe_with};
/// use std::time::Duration;
/// // Without measurements, the first path that works is used for each pair of devices.
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
    /// Always [`SystemReport::SCHEMA`].
    pub schema: &'static str,
    /// Always [`SystemReport::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of this library.
    pub version: &'static str,
    /// The surface with which every pair was tried.
    pub surface: SurfaceDesc,
    /// Compute APIs with their devices.
    pub backends: Vec<BackendStatus>,
    /// Displays without a window.
    pub displays: Vec<DisplayStatus>,
    /// Every compute device with every display; the default pair comes first.
    pub pairings: Vec<ProbeReport>,
    /// Problems of this machine, with names and advice.
    pub diagnoses: Vec<Diagnosis>,
    /// Listed devices that could not be opened, and other errors on the way.
    pub problems: Vec<String>,
    /// The default choice, for a program without preferences.
    pub chosen: Option<DefaultChoice>,
    /// The best kind of sharing among all pairs.
    pub sharing: SharingLevel,
}

impl SystemReport {
    /// Name of this kind of report in JSON.
    pub const SCHEMA: &'static str = "pixelferry-probe";
    /// Version of the JSON format; it increases when older readers would misread a report.
    pub const SCHEMA_VERSION: u32 = 1;
}

/// The best kind of sharing between compute and display.
///
/// ```
/// use pixelferry::report::SharingLevel;
///
/// assert!(SharingLevel::Shared > SharingLevel::Host && SharingLevel::Host > SharingLevel::Nothing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SharingLevel {
    /// No path works.
    Nothing,
    /// Frames pass through host memory, as those of software devices always do.
    Host,
    /// Both sides share memory of a hardware device.
    Shared,
}

impl SharingLevel {
    fn of(pairings: &[ProbeReport]) -> Self {
        let best = pairings.iter().map(|pairing| match pairing.paths.iter().any(|path| path.state.works()) {
            _ if pairing.shared().next().is_some() => Self::Shared,
            true => Self::Host,
            false => Self::Nothing,
        });
        best.max().unwrap_or(Self::Nothing)
    }
}

/// The default choice of compute device, display and path.
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
pub struct DefaultChoice {
    /// The compute device.
    pub compute: DeviceIdentity,
    /// The display's device.
    pub display: DeviceIdentity,
    /// Path of the frames.
    pub path: PathId,
    /// Reason for this path.
    pub why: String,
}

/// Tries every path between every compute device and every display without a window, and verifies each with pixels.
///
/// # Errors
/// Only those of a `desc` that is invalid for every surface; missing drivers are findings, not errors.
pub fn probe(desc: &SurfaceDesc) -> Result<SystemReport> {
    process::check("probe")?;
    probe_with(desc, Policy::default(), &[], &[])
}

/// Examines the machine like [`probe`], including what the program supplies: paths in `policy`, and backends and
/// displays that are tried after the built-in ones. Settings in the environment override the policy.
///
/// # Errors
/// The errors of [`probe`].
pub fn probe_with(
    desc: &SurfaceDesc,
    policy: Policy,
    own_backends: &[Arc<dyn ComputeBackend>],
    own_displays: &[Arc<dyn Display>],
) -> Result<SystemReport> {
    desc.byte_len().map_err(|error| error.of("probe"))?;
    let policy = policy.overridden()?;
    let (mut backends, mut backend_status, errors) = open_all_backends();
    // The order of BackendChoice::Auto: hardware before software, shaders on the CPU last; otherwise as listed.
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
        displays.push((Arc::clone(own), None));
    }
    let mut problems: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut pairings = Vec::new();
    for (display, screen) in &displays {
        if let Some(Err(e)) = screen.as_ref().map(HeadlessDisplay::make_current) {
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
        Some(DefaultChoice {
            compute: p.compute.clone(),
            display: p.display.clone(),
            path: path.id,
            why: path.state.detail(),
        })
    });
    Ok(SystemReport {
        diagnoses: doctor::machine(&backend_status, &display_status),
        schema: SystemReport::SCHEMA,
        schema_version: SystemReport::SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION"),
        sharing: SharingLevel::of(&pairings),
        surface: *desc,
        backends: backend_status,
        displays: display_status,
        pairings,
        problems,
        chosen,
    })
}
