//! Answers of `clGetDeviceInfo` that are more than a number or a text.

/// `OpenCL 3.0 PoCL ...` as (3, 0).
pub fn parse_version(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.strip_prefix("OpenCL ")?.split_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `cl_device_pci_bus_info_khr`: domain, bus, device, function.
pub fn pci(bytes: &[u8; 16]) -> String {
    let (words, _) = bytes.as_chunks::<4>();
    let word = |i: usize| words.get(i).map_or(0, |w| u32::from_ne_bytes(*w));
    format!("{:04x}:{:02x}:{:02x}.{:x}", word(0), word(1), word(2), word(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_drivers_text() {
        assert_eq!(parse_version("OpenCL 3.0 PoCL HSTR: pthread"), Some((3, 0)));
        assert_eq!(parse_version("OpenCL 1.2"), Some((1, 2)));
        for broken in ["", "OpenCL", "OpenCL x.y", "3.0"] {
            assert_eq!(parse_version(broken), None, "{broken}");
        }
    }

    #[test]
    fn pci_addresses_look_like_those_of_lspci() {
        let mut bytes = [0; 16];
        bytes[4..8].copy_from_slice(&0x1bu32.to_ne_bytes());
        bytes[12..].copy_from_slice(&1u32.to_ne_bytes());
        assert_eq!(pci(&bytes), "0000:1b:00.1");
    }
}
