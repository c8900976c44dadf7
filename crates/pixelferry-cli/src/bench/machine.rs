//! The machine and its devices, as text that says what a result was measured on.

use pixelferry::DeviceIdentity;
use serde::Serialize;
use std::fs;

/// Machine that a result was measured on. `None` where this system does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// Processor.
    pub cpu: Option<String>,
    /// Threads that this process may run at once.
    pub threads: usize,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Load over one, five and fifteen minutes when it began: a busy machine measures its neighbours.
    pub load: Option<String>,
}

impl Machine {
    /// This machine, now.
    pub fn this() -> Self {
        let line = |file: &str| fs::read_to_string(file).ok().map(|text| text.trim().to_owned());
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpu: line("/proc/cpuinfo").and_then(|text| field(&text, "model name")),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory("MemTotal"),
            load: line("/proc/loadavg").map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" ")),
        }
    }
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = field(&text, name)?.split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Memory that may be taken without others suffering, bytes.
pub(crate) fn available_memory() -> Option<u64> {
    memory("MemAvailable")
}

/// A device on either side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its name in this result; a second one of the same name has a number.
    pub label: String,
    /// The API that drives it.
    pub api: String,
    /// Name as the driver gives it.
    pub name: String,
    /// Vendor as the driver gives it.
    pub vendor: String,
    /// Driver and version.
    pub driver: String,
    /// Cross-API identity.
    pub uuid: Option<String>,
    /// PCI address.
    pub pci: Option<String>,
    /// Location of its memory.
    pub memory: String,
    /// A program on the CPU, not hardware.
    pub software: bool,
}

impl Device {
    /// Describes `devices`, telling those of one name apart.
    pub fn list<'a>(devices: impl Iterator<Item = &'a DeviceIdentity>) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        for d in devices {
            let label = format!("{} {}", d.api, short(&d.name));
            let same = list.iter().filter(|o| o.label == label || o.label.starts_with(&format!("{label} #"))).count();
            list.push(Self {
                label: if same == 0 { label } else { format!("{label} #{}", same + 1) },
                api: d.api.to_string(),
                name: d.name.clone(),
                vendor: d.vendor.clone(),
                driver: d.driver.clone(),
                uuid: d.uuid.map(|u| u.to_string()),
                pci: d.pci.clone(),
                memory: d.memory.to_string(),
                software: d.software,
            });
        }
        list
    }
}

/// A name without trademarks, clock rates and versions in brackets.
fn short(name: &str) -> String {
    const LONGEST: usize = 36;
    let name = name.replace("(R)", "").replace("(TM)", "");
    let name = name.split(['@', '(']).next().unwrap_or_default();
    let words: Vec<_> = name.split_whitespace().filter(|word| !["Processor", "CPU"].contains(word)).collect();
    let name = words.join(" ");
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::Api;
    use pixelferry::driver::MemoryKind;

    #[test]
    fn devices_of_one_name_are_told_apart() {
        let device = DeviceIdentity::new(Api::Cuda, "GPU").with_memory(MemoryKind::Discrete);
        let labels: Vec<_> = Device::list([&device, &device].into_iter()).into_iter().map(|d| d.label).collect();
        assert_eq!(labels, ["CUDA GPU", "CUDA GPU #2"]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(short("Intel(R) Xeon(R) Processor @ 2.50GHz"), "Intel Xeon");
        assert_eq!(short("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe");
        assert_eq!(short("NVIDIA H200"), "NVIDIA H200");
        assert_eq!(short(&"é".repeat(60)).chars().count(), 37);
    }

    #[test]
    fn fields_of_proc_files_are_found() {
        assert_eq!(field("a : 1\nmodel name\t: X Y\n", "model name"), Some("X Y".into()));
        assert_eq!(field("a : 1", "b"), None);
        assert!(Machine::this().threads >= 1);
    }
}
