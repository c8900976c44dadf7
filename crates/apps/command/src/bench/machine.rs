//! Describes the machine and its devices in a result.

use pixelferry::DeviceIdentity;
use pixelferry::driver::compute::system_memory;
use serde::Serialize;
use std::fs;

/// The machine of a result. `None` where the system does not report a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// Name of the processor.
    pub cpu: Option<String>,
    /// Number of threads that this process may run at once.
    pub threads: usize,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Load averages over 1, 5 and 15 minutes at the start: on a busy machine, other programs distort the times.
    pub load: Option<String>,
}

impl Machine {
    /// Describes this machine.
    pub fn this() -> Self {
        let line = |file: &str| fs::read_to_string(file).ok().map(|text| text.trim().to_owned());
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpu: line("/proc/cpuinfo").and_then(|text| field(&text, "model name")),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: system_memory("MemTotal"),
            load: line("/proc/loadavg").map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" ")),
        }
    }
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// A compute device or display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Name in this result; a second device of the same name gets a number.
    pub label: String,
    #[serde(flatten)]
    pub identity: DeviceIdentity,
}

impl Device {
    /// Describes `devices` and numbers those of equal name.
    pub fn list<'a>(devices: impl Iterator<Item = &'a DeviceIdentity>) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        for d in devices {
            let label = format!("{} {}", d.api, short(&d.name));
            let same = list.iter().filter(|o| o.label == label || o.label.starts_with(&format!("{label} #"))).count();
            let label = if same == 0 { label } else { format!("{label} #{}", same + 1) };
            list.push(Self { label, identity: d.clone() });
        }
        list
    }
}

/// Shortens a name: no trademarks, clock rates or versions in brackets.
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
