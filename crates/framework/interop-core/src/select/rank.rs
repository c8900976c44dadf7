//! The static order of paths: by the steps of each, priced by the location of the two devices' memory.
//!
//! The order only determines which paths are tried first; pixels decide whether a path works.

use crate::devices::identity::MemoryKind;
use crate::path::{Cost, Medium};

/// Costs of a path's steps, in hundredths of one copy of the frame.
pub(super) struct Prices {
    /// Description of the resulting order, for reports.
    pub order: &'static str,
    /// Kernels write into the medium.
    write: [u32; MEDIA],
    /// The draw reads the medium in place.
    read: [u32; MEDIA],
    /// The host waits for one side.
    wait: u32,
}

const MEDIA: usize = Medium::Client as usize + 1;
const COPY: u32 = 100;

// In the order of `Medium`: object, image, device, mapped, pages, staging, client.

const BOTH_ON_THE_HOST: Prices = Prices {
    order: "both sides use host memory: fewest copies first",
    write: [0, 0, 0, 1, 0, 0, 0],
    read: [0, 1, 5, 8, 10, 0, 0],
    wait: 50,
};

/// Kernels write over the bus once, while reading in place would cross it for every draw. Memory named by a handle is
/// host memory here, and importing it rarely works.
const COMPUTE_ON_THE_HOST: Prices = Prices {
    order: "host compute, display with memory of its own: write its mapped buffer, no reads over the bus",
    write: [0, 2000, 2000, 0, 0, 0, 0],
    read: [0, 1001, 1000, 1000, 1000, 0, 0],
    wait: 150,
};

/// Single writes of kernels over the bus are expensive. Frames stay on the device where possible; otherwise they are
/// copied once into memory that the display can fetch.
const COMPUTE_ON_A_DEVICE: Prices = Prices {
    order: "compute with memory of its own: stay on the device, else one read into memory that the display fetches",
    write: [0, 0, 0, 1000, 1000, 0, 100],
    read: [0, 1, 5, 1000, 1000, 0, 0],
    wait: 150,
};

impl Prices {
    /// Returns the costs for two sides with these kinds of memory.
    pub(super) fn of(compute: MemoryKind, display: MemoryKind) -> &'static Self {
        match (compute.is_host_memory(), display.is_host_memory()) {
            (true, true) => &BOTH_ON_THE_HOST,
            (true, false) => &COMPUTE_ON_THE_HOST,
            (false, _) => &COMPUTE_ON_A_DEVICE,
        }
    }

    /// Returns the cost of a frame.
    pub(super) fn sum(&self, cost: Cost) -> u32 {
        let Cost { medium, copies, waits } = cost;
        let copied = match copies {
            0 => self.read[medium as usize],
            copies => COPY.saturating_mul(copies),
        };
        copied.saturating_add(self.write[medium as usize]).saturating_add(if waits { self.wait } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PATHS;

    /// Those of `names` in the order in which they are tried.
    fn order(compute: MemoryKind, display: MemoryKind, names: &[&str]) -> Vec<&'static str> {
        let prices = Prices::of(compute, display);
        let mut paths: Vec<_> = PATHS.iter().collect();
        paths.sort_by_key(|path| prices.sum(path.cost));
        paths.iter().map(|path| path.id.name()).filter(|name| names.contains(name)).collect()
    }

    /// Measured on machines of each sort (docs/figures.md has some of them).
    #[test]
    fn prices_rank_as_measurements_did() {
        let host = [
            "direct",
            "external-texture",
            "exported-texture",
            "external-in-place",
            "exported-in-place",
            "host-visible-in-place",
            "pinned-in-place",
            "external-upload",
            "exported-upload",
            "pinned-upload",
            "host-visible-upload",
            "host-round-trip",
            "pbo-persistent",
            "pbo-orphan",
        ];
        let to_a_device = [
            "direct",
            "host-visible-upload",
            "pinned-upload",
            "pbo-persistent",
            "host-round-trip",
            "pbo-orphan",
            "host-visible-in-place",
            "pinned-in-place",
            "external-upload",
            "exported-upload",
            "external-in-place",
            "exported-in-place",
            "external-texture",
            "exported-texture",
        ];
        let on_a_device = [
            "direct",
            "external-texture",
            "exported-texture",
            "external-in-place",
            "exported-in-place",
            "external-upload",
            "exported-upload",
            "pbo-persistent",
            "pbo-orphan",
            "host-round-trip",
            "host-visible-upload",
            "pinned-upload",
            "host-visible-in-place",
            "pinned-in-place",
        ];
        use MemoryKind::{Discrete, Host, Integrated, Unknown};
        assert_eq!(order(Host, Integrated, &host), host);
        assert_eq!(order(Integrated, Discrete, &to_a_device), to_a_device);
        for display in [Host, Discrete, Unknown] {
            assert_eq!(order(Discrete, display, &on_a_device), on_a_device);
        }
    }

    #[test]
    fn a_copy_more_never_ranks_higher() {
        for (compute, display) in [(MemoryKind::Host, MemoryKind::Host), (MemoryKind::Discrete, MemoryKind::Discrete)] {
            let prices = Prices::of(compute, display);
            for path in PATHS {
                let more = Cost { copies: path.cost.copies.max(1) + 1, ..path.cost };
                let once = Cost { copies: path.cost.copies.max(1), ..path.cost };
                assert!(prices.sum(once) < prices.sum(more), "{}", path.id);
                assert!(prices.sum(once) < prices.sum(once.waiting()) || once.waits, "{}", path.id);
            }
        }
        assert_eq!(BOTH_ON_THE_HOST.sum(Cost::copied(Medium::Client, u32::MAX).waiting()), u32::MAX);
    }
}
