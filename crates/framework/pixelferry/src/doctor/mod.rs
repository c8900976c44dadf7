//! Causes of problems on this machine, each with a finding and the command that fixes it.

mod facts;
mod rules;
#[cfg(test)]
mod tests;

pub use facts::{Facts, RenderNodes, Screen};

use crate::availability::Availability;
use crate::backend_rows;
use crate::backends::{BackendStatus, open_all_backends};
use crate::display_rows;
use crate::displays::{DisplayStatus, open_all_headless};
use interop_core::Diagnosis;
use rules::RULES;

/// Gathers the facts of this machine: opens every backend and display, and reads files and variables.
///
/// ```
/// use pixelferry::doctor::{examine, gather};
///
/// for found in examine(&gather()) {
///     println!("{}: {}. {}: {:?}", found.name, found.finding, found.advice, found.command);
/// }
/// ```
pub fn gather() -> Facts {
    let (_backends, backend_status, _) = open_all_backends();
    let (_displays, display_status) = open_all_headless();
    Facts::gather(&backend_status, &display_status)
}

/// Derives the causes of problems from facts, the most informative first.
pub fn examine(facts: &Facts) -> Vec<Diagnosis> {
    let (mut found, mut is_explained) = (Vec::new(), false);
    for rule in RULES.iter().filter(|rule| !rule.general) {
        if let Some(diagnosis) = rule.diagnose(facts) {
            is_explained |= rule.explains;
            found.push(diagnosis);
        }
    }
    if !is_explained {
        found.extend(RULES.iter().filter(|rule| rule.general).filter_map(|rule| rule.diagnose(facts)));
    }
    found
}

/// Iterates over the names of all causes that [`examine`] can find.
///
/// ```
/// assert!(pixelferry::doctor::causes().any(|name| name == "wsl"));
/// ```
pub fn causes() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// Names of the environment variables that change the behaviour of drivers.
pub const VARIABLES: &[&str] = &facts::VARIABLES;

/// Returns the causes, followed by findings for missing parts.
pub(crate) fn machine(backends: &[BackendStatus], displays: &[DisplayStatus]) -> Vec<Diagnosis> {
    let mut found = examine(&Facts::gather(backends, displays));
    let missing = backends.iter().filter_map(backend).chain(displays.iter().filter_map(display));
    for diagnosis in missing {
        if found.iter().all(|known| known.name != diagnosis.name) {
            found.push(diagnosis);
        }
    }
    found
}

/// Returns a finding for an unavailable part, named by its reason.
fn missing(availability: &Availability, name: impl FnOnce(&str) -> &'static str) -> Option<Diagnosis> {
    let Availability::Unavailable { reason, hint } = availability else { return None };
    Some(Diagnosis::new(name(reason), reason.clone(), hint.clone()))
}

fn backend(status: &BackendStatus) -> Option<Diagnosis> {
    let driver = backend_rows::BACKENDS.iter().find(|driver| driver.api == status.api);
    missing(&status.availability, |reason| driver.map_or("no-compute", |driver| (driver.missing)(reason)))
}

fn display(status: &DisplayStatus) -> Option<Diagnosis> {
    let driver = display_rows::DISPLAYS.iter().find(|driver| driver.kind == status.kind);
    let name = driver.map_or(Some("no-display"), |driver| driver.missing)?;
    missing(&status.availability, |_| name)
}
