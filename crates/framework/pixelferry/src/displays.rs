//! Displays of this machine without a window, and functions that open them.

use crate::availability::Availability;
use crate::backend_rows::draws;
use crate::display_rows::{DISPLAYS, DisplayChoice, DisplayRow, PartnerBackend, device};
use crate::headless::HeadlessDisplay;
use interop_core::describe::process;
use interop_core::{DeviceIdentity, Error, Result};
use serde::Serialize;
use tracing::info;

/// One kind of display, and what it offers on this machine.
///
/// ```
/// use pixelferry::{open_all_headless, report::{Availability, DisplayStatus}};
///
/// let (_, found): (_, Vec<DisplayStatus>) = open_all_headless();
/// let memory = found.iter().find(|status| status.kind == "memory" && status.availability == Availability::Available);
/// assert!(memory.and_then(|status| status.device.as_ref()).is_some_and(|device| device.software));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DisplayStatus {
    /// Name of the kind, such as `gl-headless`; `plugged` for a display that the program supplies.
    pub kind: &'static str,
    /// Whether it can be used, and if not, why.
    #[serde(flatten)]
    pub availability: Availability,
    /// The device that draws.
    pub device: Option<DeviceIdentity>,
}

/// Opens a display that needs no window.
///
/// # Errors
/// [`crate::Error::Unavailable`] with the reason and a hint what to install, where the choice leaves no other display.
pub fn open_headless(choice: DisplayChoice) -> Result<HeadlessDisplay> {
    process::check("open_headless")?;
    open_beside(choice, None)
}

/// Returns the rows to try for a choice, in order.
fn meant(choice: DisplayChoice, compute: Option<&DeviceIdentity>) -> impl Iterator<Item = &'static DisplayRow> {
    DISPLAYS.iter().filter(move |row| match choice {
        DisplayChoice::Auto => (row.suits_auto)(compute),
        named => row.named.choice == named,
    })
}

/// Opens a display on the device of a backend if that can draw, so that frames stay on one GPU. A display that draws
/// with kernels uses this very backend.
pub(crate) fn open_beside(choice: DisplayChoice, beside: PartnerBackend<'_>) -> Result<HeadlessDisplay> {
    let mut last = None;
    for row in meant(choice, device(beside)) {
        match (row.best_for)(beside) {
            Ok(display) => return Ok(display),
            Err(reason) => {
                info!(kind = row.kind, %reason, "display skipped");
                last = Some(reason);
            }
        }
    }
    Err(last.unwrap_or_else(|| Error::invalid("open_headless", "no display is available")))
}

/// Opens every display without a window, and returns the status of each kind. Those of [`DisplayChoice::Auto`] come
/// first, in its order.
pub fn open_all_headless() -> (Vec<HeadlessDisplay>, Vec<DisplayStatus>) {
    let (mut displays, mut status) = (Vec::new(), Vec::new());
    for &DisplayRow { kind, all, .. } in DISPLAYS.iter().filter(|row| row.named.built) {
        let said = |availability, device| DisplayStatus { kind, availability, device };
        match all() {
            Ok(opened) => {
                let devices = opened.iter().map(|d: &HeadlessDisplay| d.display.device().clone());
                status.extend(devices.map(|device| said(Availability::Available, Some(device))));
                displays.extend(opened);
            }
            Err(e) => status.push(said(Availability::from(&e), None)),
        }
    }
    // On the CPU, plain memory is used unless another display is requested.
    let on_the_cpu = |screen: &HeadlessDisplay| draws(screen.display.device().api) && screen.display.device().software;
    displays.sort_by_key(on_the_cpu);
    (displays, status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_fallback::CpuBackend;
    use interop_core::Api;
    use interop_core::ComputeBackend as _;

    #[test]
    fn auto_takes_a_compute_device_that_is_hardware_after_opengl_and_before_memory() {
        let of = |api, software| CpuBackend::new().unwrap().device().clone().with_api(api).with_software(software);
        let names = |device: Option<DeviceIdentity>| {
            meant(DisplayChoice::Auto, device.as_ref()).map(|row| row.named.name).collect::<Vec<_>>()
        };
        assert_eq!(names(None), ["gl", "memory"]);
        for api in [Api::Cuda, Api::OpenCl] {
            assert_eq!(names(Some(of(api, false))), ["gl", "compute", "memory"]);
            assert_eq!(names(Some(of(api, true))), ["gl", "memory"], "a program on the CPU");
        }
        for api in [Api::Cpu, Api::OpenGl, Api::Wgpu] {
            assert_eq!(names(Some(of(api, false))), ["gl", "memory"], "{api}");
        }
    }
}
