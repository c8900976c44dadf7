//! Known gaps and faults of drivers.

use ExpectedOutcome::{Fails, Lacks, MayFail, MayLack};
use std::fmt;

/// A driver whose results are known. Other drivers are only reported for what they lack.
#[derive(Debug, Clone, Copy)]
pub struct Driver {
    /// The driver's name in [`KNOWN`].
    pub name: &'static str,
    /// Texts that the descriptions of its devices contain.
    pub signs: &'static [&'static str],
    /// A text in the descriptions of the version with which the rows were recorded. Other versions may lack less.
    pub version: &'static str,
}

/// The drivers of a machine without a GPU, from Debian 12; pixelferry's own ones; and two that are run by hand: Intel's
/// for CPUs, and NVIDIA's OpenCL.
pub const DRIVERS: &[Driver] = &[
    Driver { name: "threads", signs: &["CPU ", " threads"], version: "CPU" },
    Driver { name: "PoCL", signs: &["PoCL"], version: "PoCL 3.1" },
    Driver { name: "Intel", signs: &["OpenCL", " LINUX, "], version: "LINUX, 2026.22" },
    Driver { name: "NVIDIA", signs: &["OpenCL NVIDIA"], version: "580.159" },
    Driver { name: "rusticl", signs: &["OpenCL", "llvmpipe"], version: "22.3" },
    Driver { name: "llvmpipe", signs: &["OpenGL", "llvmpipe"], version: "Mesa 22.3" },
    Driver { name: "lavapipe", signs: &["wgpu", "llvmpipe", "vulkan"], version: "Mesa 22.3" },
    Driver { name: "lavapipe", signs: &["Vulkan", "llvmpipe"], version: "Mesa 22.3" },
];

/// The expected outcome of a test on a driver, if it is not a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedOutcome {
    /// The driver lacks the feature.
    Lacks,
    /// The driver lacks the feature on some machines.
    MayLack,
    /// The driver has the feature, but its result is wrong.
    Fails,
    /// The driver's result is wrong in some versions.
    MayFail,
}

/// A row of [`KNOWN`].
#[derive(Debug, Clone, Copy)]
pub struct KnownOutcome {
    /// The names of features, cases or paths in their suite.
    pub tests: &'static [&'static str],
    /// The names of drivers in [`DRIVERS`].
    pub drivers: &'static [&'static str],
    /// The expected outcome.
    pub expected: ExpectedOutcome,
    /// The reason for the outcome.
    pub reason: &'static str,
    /// A link to more information: a page of this repository, or an address.
    pub link: &'static str,
}

const FEATURES: &str = "docs/opencl.md#features-by-driver";
const SHARING: &str = "docs/drivers.md#opencl";

/// Every test that is not expected to pass.
pub const KNOWN: &[KnownOutcome] = &[
    KnownOutcome {
        tests: &["fission: by affinity domain"],
        drivers: &["PoCL"],
        expected: MayLack,
        reason: "listed where the machine has several NUMA nodes",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &[
            "fission: equally",
            "fission: by counts",
            "fission: by affinity domain",
            "fission: parts as backends",
            "raw objects: parts of devices",
            "program: for some of the devices",
        ],
        drivers: &["rusticl", "NVIDIA"],
        expected: Lacks,
        reason: "it partitions no device",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["queue out of order"],
        drivers: &["rusticl"],
        expected: Lacks,
        reason: "its queues keep the order of their commands",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["user events: failure", "user events: failure of what nobody holds"],
        drivers: &["rusticl"],
        expected: MayFail,
        reason: "from Mesa 25 on, commands in order after one that failed by its wait list fail, too",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["queue priority hint", "queue throttle hint"],
        drivers: &["PoCL", "rusticl", "Intel", "NVIDIA"],
        expected: Lacks,
        reason: "it has neither cl_khr_priority_hints nor cl_khr_throttle_hints",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["events: profiling", "device times"],
        drivers: &["rusticl"],
        expected: Lacks,
        reason: "every command begins at 2 ns and ends at 3",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["contexts: errors told to a callback"],
        drivers: &["PoCL", "rusticl", "Intel"],
        expected: Lacks,
        reason: "it calls pfn_notify of clCreateContext for no error",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["OpenGL: contexts that share", "OpenGL: objects as arguments", "OpenGL: lists acquired and released"],
        drivers: &["PoCL", "rusticl", "Intel", "NVIDIA"],
        expected: Lacks,
        reason: "it has no cl_khr_gl_sharing; tests/gl_sharing shows them on a double of it",
        link: SHARING,
    },
    KnownOutcome {
        tests: &["events: callbacks of failed commands"],
        drivers: &["PoCL", "rusticl"],
        expected: Lacks,
        reason: "the callback of a command that failed by its wait list is not called",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["program: built-in kernels"],
        drivers: &["PoCL"],
        expected: Lacks,
        reason: "it lists kernels that it cannot make",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["program: built-in kernels", "native kernels", "native kernels: panic"],
        drivers: &["rusticl", "NVIDIA"],
        expected: Lacks,
        reason: "it lists none",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["program: built-in kernels"],
        drivers: &["Intel"],
        expected: Lacks,
        reason: "it lists none",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["fission: by affinity domain"],
        drivers: &["Intel"],
        expected: MayLack,
        reason: "listed where the machine has several NUMA nodes",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["extension functions"],
        drivers: &["Intel"],
        expected: Lacks,
        reason: "it lists cl_khr_icd and answers null for its function",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["user events: failure of what nobody holds"],
        drivers: &["Intel"],
        expected: Fails,
        reason: "it ends the process where both of two commands that one waits for have failed",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["events: callbacks of failed commands"],
        drivers: &["NVIDIA"],
        expected: Fails,
        reason: "the callback of a command that failed is told CL_COMPLETE",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["contexts: interop user sync"],
        drivers: &["NVIDIA"],
        expected: Lacks,
        reason: "it does not know CL_CONTEXT_INTEROP_USER_SYNC",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["images: copies by buffer, 1D array"],
        drivers: &["NVIDIA"],
        expected: Lacks,
        reason: "clEnqueueCopyImageToBuffer refuses arrays of 1-D images",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &["host memory in place"],
        drivers: &["NVIDIA"],
        expected: Lacks,
        reason: "a GPU with memory of its own copies what the host has",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["double precision"],
        drivers: &["rusticl"],
        expected: Lacks,
        reason: "its compiler defines neither cl_khr_fp64 nor __opencl_c_fp64",
        link: "docs/drivers.md#opencl",
    },
    KnownOutcome {
        tests: &["program: intermediate language"],
        drivers: &["PoCL", "rusticl", "NVIDIA"],
        expected: Lacks,
        reason: "CL_DEVICE_IL_VERSION is empty",
        link: FEATURES,
    },
    KnownOutcome {
        tests: &[
            "direct",
            "external-texture",
            "exported-texture",
            "external-in-place",
            "external-upload",
            "exported-in-place",
            "exported-upload",
        ],
        drivers: &["threads", "PoCL", "rusticl"],
        expected: Lacks,
        reason: "what runs on the CPU shares memory of the host and no other",
        link: SHARING,
    },
    KnownOutcome {
        tests: &[
            "direct",
            "external-texture",
            "external-in-place",
            "external-upload",
            "host-visible-in-place",
            "host-visible-upload",
            "pinned-in-place",
            "pinned-upload",
        ],
        drivers: &["NVIDIA"],
        expected: Lacks,
        reason: "it exports nothing, has no cl_khr_gl_sharing, and copies what the host has",
        link: SHARING,
    },
    KnownOutcome {
        tests: &[
            "direct",
            "external-texture",
            "exported-texture",
            "external-in-place",
            "external-upload",
            "host-visible-in-place",
            "host-visible-upload",
            "pinned-in-place",
            "pinned-upload",
        ],
        drivers: &["lavapipe", "llvmpipe"],
        expected: Lacks,
        reason: "our backends on wgpu, Vulkan and OpenGL export nothing to other queues, and open linear memory alone",
        link: "docs/architecture.md#wgpu-computes",
    },
    KnownOutcome {
        tests: &["exported-in-place", "exported-upload"],
        drivers: &["lavapipe", "llvmpipe"],
        expected: MayLack,
        reason: "plain memory of the host exports nothing; wgpu on OpenGL, and OpenGL ES, open nothing",
        link: SHARING,
    },
    KnownOutcome {
        tests: &["in-queue-texture", "in-queue-in-place", "in-queue-upload"],
        drivers: &["threads", "PoCL", "rusticl", "NVIDIA"],
        expected: Lacks,
        reason: "they compute in no display's queue",
        link: "docs/architecture.md#wgpu-computes",
    },
    KnownOutcome {
        tests: &["in-queue-texture", "in-queue-in-place", "in-queue-upload"],
        drivers: &["lavapipe", "llvmpipe"],
        expected: MayLack,
        reason: "wgpu, Vulkan and OpenGL compute in the queue of a display of their own kind, and of no other",
        link: "docs/architecture.md#wgpu-computes",
    },
    KnownOutcome {
        tests: &["exported-texture", "exported-in-place", "exported-upload"],
        drivers: &["NVIDIA"],
        expected: MayLack,
        reason: "plain memory of the host exports nothing to it; OpenGL and wgpu do",
        link: SHARING,
    },
    KnownOutcome {
        tests: &["shared binary semaphore", "shared timeline semaphore"],
        drivers: &["llvmpipe"],
        expected: Lacks,
        reason: "it has no GL_EXT_semaphore_fd",
        link: "docs/drivers.md#opengl",
    },
];

/// The outcome of a test on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The test passed.
    Pass,
    /// The driver reports that it lacks the feature; the text is its reason.
    Lacks(String),
    /// The test failed; the text says how.
    Fails(String),
}

/// Compares an outcome with [`KNOWN`], and returns a text for a table. `device` describes the device with its driver
/// and version.
///
/// # Errors
/// The outcome is a failure that no row of [`KNOWN`] names. On a driver of [`DRIVERS`] in the version recorded there,
/// and on any driver in CI, it is also an error if no row names what the driver lacks, or if a test passes that a row
/// names.
pub fn judge(test: &str, device: &str, outcome: &Outcome) -> Result<String, String> {
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    verdict((DRIVERS, KNOWN), test, device, outcome, in_ci)
}

fn verdict(
    (drivers, known): (&[Driver], &[KnownOutcome]),
    test: &str,
    device: &str,
    outcome: &Outcome,
    in_ci: bool,
) -> Result<String, String> {
    let driver = drivers.iter().find(|driver| driver.signs.iter().all(|sign| device.contains(sign)));
    let row = driver
        .and_then(|driver| known.iter().find(|row| row.tests.contains(&test) && row.drivers.contains(&driver.name)));
    let strict = in_ci || driver.is_some_and(|driver| device.contains(driver.version));
    let expected = row.map(|row| row.expected);
    let why = row.map_or(String::new(), |row| format!(" ({}, see {})", row.reason, row.link));
    match (outcome, expected) {
        (Outcome::Pass, Some(Lacks | Fails)) if strict => {
            Err(format!("it passes, so its row in pixelferry-testing must go{why}"))
        }
        (Outcome::Pass, _) => Ok("PASS".into()),
        (Outcome::Lacks(said), Some(Lacks | MayLack)) => Ok(format!("driver lacks it: {said}{why}")),
        (Outcome::Lacks(said), _) if strict => Err(format!("it should have this, but: {said}{why}")),
        (Outcome::Lacks(said), _) => Ok(format!("driver lacks it: {said}{why}")),
        (Outcome::Fails(said), Some(Fails | MayFail)) => Ok(format!("known failure: {said}{why}")),
        (Outcome::Fails(said), _) => Err(format!("{said}{why}")),
    }
}

/// Returns the value, or `None` after printing SKIPPED with the reason: for a part of a test that not every driver can
/// run. `device` describes the device with its driver and version.
///
/// # Panics
/// [`judge`] finds that a row of [`KNOWN`] is missing or must be removed.
#[track_caller]
pub fn has<T>(test: &str, device: impl fmt::Display, found: Result<T, impl fmt::Display>) -> Option<T> {
    let (device, (value, outcome)) = (
        device.to_string(),
        match found {
            Ok(value) => (Some(value), Outcome::Pass),
            Err(reason) => (None, Outcome::Lacks(reason.to_string())),
        },
    );
    match judge(test, &device, &outcome) {
        Ok(word) if value.is_none() => println!("SKIPPED: {test} on {device}: {word}"),
        Ok(_) => {}
        Err(problem) => panic!("{test} on {device}: {problem}"),
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const OURS: &[Driver] = &[
        Driver { name: "one", signs: &["CL", "One"], version: "One 3" },
        Driver { name: "two", signs: &["CL"], version: "2" },
    ];
    const ROWS: &[KnownOutcome] = &[
        row(&["absent"], Lacks),
        row(&["sometimes"], MayLack),
        KnownOutcome { drivers: &["one", "two"], ..row(&["wrong"], ExpectedOutcome::Fails) },
        row(&["since two"], MayFail),
    ];

    const fn row(tests: &'static [&'static str], expected: ExpectedOutcome) -> KnownOutcome {
        KnownOutcome { tests, drivers: &["one"], expected, reason: "so it is", link: "docs" }
    }

    fn ask(test: &str, device: &str, outcome: &Outcome, in_ci: bool) -> Result<String, String> {
        verdict((OURS, ROWS), test, device, outcome, in_ci)
    }

    fn lacks() -> Outcome {
        Outcome::Lacks("no such thing".into())
    }

    fn fails() -> Outcome {
        Outcome::Fails("wrong pixels".into())
    }

    #[test]
    fn what_rows_say_is_no_failure() {
        let word = ask("absent", "CL One 3.1", &lacks(), true).unwrap();
        assert_eq!(word, "driver lacks it: no such thing (so it is, see docs)");
        for outcome in [Outcome::Pass, lacks()] {
            ask("sometimes", "CL One 3.1", &outcome, true).unwrap();
        }
        ask("since two", "CL One 3.1", &Outcome::Pass, true).unwrap();
        assert!(ask("since two", "CL One 3.1", &fails(), true).unwrap().starts_with("known failure: wrong pixels"));
        for device in ["CL One 3.1", "CL Two"] {
            assert!(ask("wrong", device, &fails(), true).unwrap().starts_with("known failure: wrong pixels"));
        }
    }

    #[test]
    fn an_unexpected_pass_fails() {
        for (test, device) in [("absent", "CL One 3.1"), ("wrong", "CL One 3.1"), ("wrong", "CL Two 2")] {
            let problem = ask(test, device, &Outcome::Pass, false).unwrap_err();
            assert!(problem.contains("must go (so it is, see docs)"), "{problem}");
        }
    }

    #[test]
    fn an_unexpected_skip_fails() {
        for (test, device) in [("other", "CL One 3.1"), ("wrong", "CL One 3.1"), ("absent", "CL Two 2")] {
            let problem = ask(test, device, &lacks(), false).unwrap_err();
            assert!(problem.starts_with("it should have this, but: no such thing"), "{problem}");
        }
    }

    #[test]
    fn a_failure_without_a_row_fails_everywhere() {
        for device in ["CL One 3.1", "CL One 9", "a GPU"] {
            assert!(ask("other", device, &fails(), false).is_err());
            assert!(ask("absent", device, &fails(), false).is_err());
        }
    }

    #[test]
    fn other_versions_and_drivers_may_differ_but_not_in_ci() {
        for device in ["CL One 9", "a GPU"] {
            assert!(ask("other", device, &lacks(), false).is_ok());
            assert!(ask("absent", device, &Outcome::Pass, false).is_ok());
            assert!(ask("other", device, &lacks(), true).is_err());
        }
        assert!(ask("absent", "CL One 9", &Outcome::Pass, true).is_err());
        assert!(ask("absent", "a GPU", &Outcome::Pass, true).is_ok());
    }

    #[test]
    fn devices_belong_to_one_driver() {
        for (device, name) in [
            ("CPU AMD EPYC (2 threads)", "threads"),
            ("OpenCL pthread-skylake (OpenCL 3.0 PoCL 3.1+debian  Linux, 3.1+debian)", "PoCL"),
            ("OpenCL llvmpipe (LLVM 15.0.6, 256 bits) (OpenCL 3.0, 22.3.6)", "rusticl"),
            ("OpenGL llvmpipe (LLVM 15.0.6, 256 bits) (OpenGL 4.5 (Core Profile) Mesa 22.3.6)", "llvmpipe"),
        ] {
            let of = |driver: &&Driver| driver.signs.iter().all(|sign| device.contains(sign));
            let found: Vec<_> = DRIVERS.iter().filter(of).map(|driver| driver.name).collect();
            assert_eq!(found, [name], "{device}");
            assert!(DRIVERS.iter().find(of).is_some_and(|driver| device.contains(driver.version)), "{device}");
        }
    }

    #[test]
    fn rows_name_drivers_and_pages_that_there_are_and_no_test_twice() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        for (at, row) in KNOWN.iter().enumerate() {
            assert!(!row.reason.is_empty());
            if let Some((page, heading)) = row.link.split_once('#') {
                let text = std::fs::read_to_string(root.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
                let is = |line: &str| {
                    line.starts_with('#') && line.trim_matches(['#', ' ']).to_lowercase().replace(' ', "-") == heading
                };
                assert!(text.lines().any(is), "{} has no such heading", row.link);
            } else {
                assert!(row.link.starts_with("https://"), "{}", row.link);
            }
            for driver in row.drivers {
                assert!(DRIVERS.iter().any(|known| known.name == *driver), "{driver} is no driver of the table");
                let same = |other: &&KnownOutcome| {
                    other.drivers.contains(driver) && other.tests.iter().any(|test| row.tests.contains(test))
                };
                assert_eq!(KNOWN[at + 1..].iter().find(same).map(|other| other.tests), None, "{:?}", row.tests);
            }
        }
    }
}
