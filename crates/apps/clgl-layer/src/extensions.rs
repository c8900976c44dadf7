//! The extensions that the layer announces.

use crate::cl::handles::{Handle, InfoCall, info};
use crate::explain::is_asked;

/// `CL_PLATFORM_EXTENSIONS`, `CL_DEVICE_EXTENSIONS`, and the same with versions (OpenCL 3.0).
const PLATFORM: u32 = 0x0904;
const DEVICE: u32 = 0x1030;
const PLATFORM_VERSIONS: u32 = 0x0907;
const DEVICE_VERSIONS: u32 = 0x1060;

const SHARING: &str = "cl_khr_gl_sharing";
const NAMES: [&str; 2] = [SHARING, "cl_khr_gl_event"];
/// `CL_MAKE_VERSION(1, 0, 0)`.
const VERSION: u32 = 1 << 22;
/// `cl_name_version`: a version, and a null-terminated name.
const ENTRY: usize = 68;

/// Returns whether a device's driver has its own sharing.
pub fn is_native(device: Handle) -> bool {
    let list = info(|driver| driver.get_device_info, device, DEVICE).unwrap_or_default();
    words(&list).any(|word| word == SHARING.as_bytes())
}

/// Adds the layer's extensions to the answer of a query about extensions; `None` for other queries.
pub fn extended(call: InfoCall, object: Handle, parameter: u32) -> Option<Result<Vec<u8>, i32>> {
    let versions = match parameter {
        PLATFORM | DEVICE => false,
        PLATFORM_VERSIONS | DEVICE_VERSIONS => true,
        _ => return None,
    };
    Some(info(call, object, parameter).map(|list| if versions { with_versions(list) } else { with_names(&list) }))
}

/// Returns the names of the extensions. Tests also need a driver without events.
fn names() -> &'static [&'static str] {
    if cfg!(feature = "strict") && is_asked("no-events") { &NAMES[..1] } else { &NAMES }
}

fn words(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| matches!(byte, b' ' | 0)).filter(|word| !word.is_empty())
}

fn with_names(list: &[u8]) -> Vec<u8> {
    let missing = names().iter().map(|name| name.as_bytes()).filter(|name| !words(list).any(|word| word == *name));
    let mut all = words(list).chain(missing).collect::<Vec<_>>().join(&b' ');
    all.push(0);
    all
}

fn with_versions(mut list: Vec<u8>) -> Vec<u8> {
    let missing =
        |name: &&&str| !list.chunks_exact(ENTRY).any(|entry| words(&entry[4..]).next() == Some(name.as_bytes()));
    let missing: Vec<_> = names().iter().filter(missing).collect();
    for name in missing {
        let mut entry = [0; ENTRY];
        entry[..4].copy_from_slice(&VERSION.to_ne_bytes());
        entry[4..4 + name.len()].copy_from_slice(name.as_bytes());
        list.extend(entry);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_driver_lists_is_listed_once() {
        assert_eq!(with_names(b"cl_a cl_khr_gl_event \0"), b"cl_a cl_khr_gl_event cl_khr_gl_sharing\0");
        assert_eq!(with_names(b"\0"), b"cl_khr_gl_sharing cl_khr_gl_event\0");
        let once = with_versions(Vec::new());
        assert_eq!(once.len(), 2 * ENTRY);
        assert_eq!(with_versions(once.clone()), once);
    }
}
