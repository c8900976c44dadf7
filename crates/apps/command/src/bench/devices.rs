//! Opens the devices that the plan selects.

use crate::bench::error::Error;
use crate::bench::grid::Plan;
use crate::bench::machine::Device;
use pixelferry::{
    BackendChoice, ComputeBackend, ComputeDisplay, DeviceIdentity, Display, DisplayChoice, HeadlessDisplay,
    command::ApiChoice, open_all_backends, open_all_headless, report::Availability,
};
use std::fmt;
use std::sync::Arc;

/// Selected devices, each next to its description.
pub(crate) struct Devices {
    pub backends: Vec<(Device, Arc<dyn ComputeBackend>)>,
    pub displays: Vec<(Device, HeadlessDisplay, Arc<dyn Display>)>,
    pub problems: Vec<String>,
}

impl Devices {
    /// Opens every device of this machine and keeps those that the plan selects.
    pub fn find(plan: &Plan) -> Result<Self, Error> {
        let (found, status, errors) = open_all_backends();
        let mut problems: Vec<String> = errors.iter().map(ToString::to_string).collect();
        problems.extend(status.into_iter().filter_map(|api| problem(api.api, api.availability)));
        let described = Device::list(found.iter().map(|b| b.device()));
        let all: Vec<_> = described.into_iter().zip(found).collect();
        let backends = wanted("compute backend", &plan.backends, all, |(device, _)| device, |_, _| false)?;
        let (found, status) = open_all_headless();
        problems.extend(status.into_iter().filter_map(|kind| problem(kind.kind, kind.availability)));
        let found: Vec<_> = found.into_iter().map(|h| (h.display(), h)).collect();
        let described = Device::list(found.iter().map(|(d, _)| d.device()));
        let all = described.into_iter().zip(found).map(|(device, (display, headless))| (device, headless, display));
        let is_kind = |word: &str, (_, headless, _): &(Device, HeadlessDisplay, Arc<dyn Display>)| {
            headless.downcast_ref::<ComputeDisplay>().is_some()
                && word.eq_ignore_ascii_case(DisplayChoice::Compute.name())
        };
        let mut displays = wanted("display", &plan.displays, all.collect(), |(device, ..)| device, is_kind)?;
        if plan.spare_memory && displays.iter().any(|(_, headless, _)| headless.gl().is_some()) {
            displays.retain(|(_, headless, _)| headless.gl().is_some());
        }
        Ok(Self { backends, displays, problems })
    }
}

fn problem(of: impl fmt::Display, availability: Availability) -> Option<String> {
    match availability {
        Availability::Available => None,
        Availability::Unavailable { reason, .. } => Some(format!("{of}: {reason}")),
    }
}

/// Returns devices that match one of the words; each word must match a device. `is_kind`: the word names a kind that
/// the API's name does not tell.
fn wanted<T>(
    side: &'static str,
    words: &[String],
    all: Vec<T>,
    device: impl Fn(&T) -> &Device,
    is_kind: impl Fn(&str, &T) -> bool,
) -> Result<Vec<T>, Error> {
    let is_meant = |word: &str, item: &T| is_kind(word, item) || matches(word, device(item));
    for word in words {
        if !all.iter().any(|item| is_meant(word, item)) {
            let there = all
                .iter()
                .map(device)
                .map(|of| format!("{} ({})", of.label, of.identity.driver))
                .collect::<Vec<_>>()
                .join("; ");
            return Err(Error::NoDevice { side, asked: word.clone(), there });
        }
    }
    let keep = |item: &T| words.is_empty() || words.iter().any(|word| is_meant(word, item));
    Ok(all.into_iter().filter(keep).collect())
}

/// A word that is the name of an API matches that API's devices only; any other word is searched for in the names.
fn matches(word: &str, device: &Device) -> bool {
    let word = word.to_lowercase();
    let backend = BackendChoice::parse(&word).ok().and_then(ApiChoice::api);
    if let Some(api) = backend.or_else(|| DisplayChoice::parse(&word).ok().and_then(ApiChoice::api)) {
        return device.identity.api == api;
    }
    let DeviceIdentity { name, vendor, driver, .. } = &device.identity;
    let names = [&device.label, name, vendor, driver];
    names.iter().any(|name| name.to_lowercase().contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::Api;

    #[test]
    fn words_are_apis_or_parts_of_names_and_must_match() {
        let device = |api: Api, name: &str| Device {
            label: format!("{api} {name}"),
            identity: DeviceIdentity::new(api, name).with_driver("PoCL 3.1"),
        };
        let all = || vec![device(Api::Cpu, "threads"), device(Api::OpenCl, "cpu of x"), device(Api::Cuda, "H200")];
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            let kind = |word: &str, d: &Device| word == "compute" && d.identity.api == Api::Cuda;
            wanted("display", &words, all(), |d| d, kind)
                .map(|list| list.into_iter().map(|d| d.identity.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), 3);
        assert_eq!(names(&["cpu"]).unwrap(), ["threads"]);
        assert_eq!(names(&["h200", "OpenCL"]).unwrap(), ["cpu of x", "H200"]);
        assert_eq!(names(&["pocl"]).unwrap().len(), 3);
        assert_eq!(names(&["compute"]).unwrap(), ["H200"]);
        let named = |name: &str, api: Option<Api>| {
            let Some(api) = api else { return assert_eq!(name, DisplayChoice::Compute.name()) };
            let other = if api == Api::Cpu { Api::Cuda } else { Api::Cpu };
            assert!(matches(name, &device(api, "x")) && !matches(name, &device(other, name)), "{name}");
        };
        BackendChoice::all().skip(1).for_each(|row| named(row.name, row.choice.api()));
        DisplayChoice::all().skip(1).for_each(|row| named(row.name, row.choice.api()));
        let error = names(&["vulkan"]).unwrap_err().to_string();
        assert!(error.contains("vulkan") && error.contains("CUDA H200"), "{error}");
    }
}
