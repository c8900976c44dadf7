//! The houses: groups of packages, each with a limit of product code.
//!
//! A ceiling may only fall: lower it when code is removed. CI fails if a house is above its ceiling (`cargo xtask house
//! --check`).

pub struct House {
    pub name: &'static str,
    /// Maximum lines of product code, without tests, comments and blank lines.
    pub ceiling: usize,
    /// Names of packages.
    pub packages: &'static [&'static str],
}

/// Every package of every workspace belongs to one house.
pub const HOUSES: &[House] = &[
    House {
        name: "framework",
        ceiling: 60_604,
        packages: &[
            "interop-core",
            "cpu-fallback",
            "cuda-backend",
            "opencl-backend",
            "pixelferry-gl",
            "pixelferry-vulkan",
            "pixelferry-wgpu",
            "compute-display",
            "wgsl-kernel",
            "pixelferry",
            "pixelferry-opencl",
            "pixelferry-stream",
        ],
    },
    House { name: "bindings", ceiling: 9_407, packages: &["pixelferry-capi", "pixelferry-py"] },
    House {
        name: "apps",
        ceiling: 19_840,
        packages: &[
            "pixelferry-look",
            "pixelferry-view",
            "pixelferry-play",
            "pixelferry-media",
            "pixelferry-demo",
            "pixelferry-cli",
        ],
    },
    House { name: "clgl-layer", ceiling: 2_800, packages: &["clgl-layer"] },
    House { name: "companions", ceiling: 4_209, packages: &["compute-arrays"] },
    House {
        name: "integrations",
        ceiling: 6_326,
        packages: &[
            "pixelferry-bevy",
            "pixelferry-burn",
            "pixelferry-cubecl",
            "pixelferry-egui",
            "engine-programs",
            "engine-picture",
            "pixelferry-net-cli",
            "pixelferry-net",
            "pixelferry-rules",
            "pixelferry-pipewire",
        ],
    },
    House {
        name: "support",
        ceiling: 0,
        packages: &["pixelferry-testing", "pixelferry-tests", "pixelferry-measure", "pixelferry-examples", "xtask"],
    },
];

/// Packages that drive an API; invalid calls are refused in front of them.
pub const DRIVERS: &[&str] = &[
    "cpu-fallback",
    "cuda-backend",
    "opencl-backend",
    "pixelferry-gl",
    "pixelferry-vulkan",
    "pixelferry-wgpu",
    "compute-display",
    "wgsl-kernel",
];
