//! Properties of the CPU and its memory, as the operating system reports them.

use interop_core::compute::system_memory;
use interop_core::{Api, DeviceIdentity, MemoryKind};
use std::fs;

/// Returns an identity with the CPU's vendor and the given names.
pub(crate) fn identity(name: String, driver: String) -> DeviceIdentity {
    DeviceIdentity::new(Api::Cpu, name)
        .with_vendor(cpuinfo("vendor_id").unwrap_or_else(|| "unknown".into()))
        .with_driver(driver)
        .with_memory(MemoryKind::Host)
        .with_software(true)
}

/// Returns the model name, or the architecture where the system does not report one.
pub(crate) fn cpu_name() -> String {
    cpuinfo("model name").unwrap_or_else(|| std::env::consts::ARCH.into())
}

/// Returns the bytes of physical memory: with a larger allocation the system would kill the process instead of failing
/// the call. Where the system does not report it, returns the size of the address space.
pub(crate) fn memory_bytes() -> u64 {
    system_memory("MemTotal").unwrap_or(u64::MAX).min(isize::MAX as u64)
}

fn cpuinfo(key: &str) -> Option<String> {
    field(&fs::read_to_string("/proc/cpuinfo").ok()?, key)
}

/// Returns the value of the first line of the form `key : value`.
fn field(text: &str, key: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })?;
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "processor\t: 0\nmodel\t\t: 143\nmodel name\t: A CPU @ 2: fast\nempty :\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A CPU @ 2: fast"));
        assert_eq!(field(text, "model").as_deref(), Some("143"));
        assert_eq!(field(text, "empty"), None);
        assert_eq!(field(text, "none"), None);
    }

    #[test]
    fn memory_is_plausible() {
        assert!(memory_bytes() >= 1 << 24);
        assert!(!cpu_name().is_empty());
    }
}
