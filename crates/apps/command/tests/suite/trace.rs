//! `pixelferry demo --trace`: what is in the file, on the drivers of this machine.

use crate::{pixelferry, texts};
use pixelferry_tests::{Need, need};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use std::sync::Mutex;
use std::time::Instant;

const FRAMES: u64 = 6;

fn demo(name: &str, arguments: &str, env: &[(&str, &str)]) -> (Output, PathBuf, f64) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trace");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.json"));
    let mut command = pixelferry(&["demo", "plasma", "--headless", "--size", "160x90", "--frames", "6", "--trace"]);
    command.arg(&file);
    let start = Instant::now();
    let output = command.args(arguments.split_whitespace()).envs(env.iter().copied()).output().unwrap();
    (output, file, start.elapsed().as_secs_f64() * 1e6)
}

/// A slice of the trace.
struct Slice<'a> {
    event: &'a Value,
    place: (u64, u64),
    start: f64,
    end: f64,
}

impl Slice<'_> {
    fn name(&self) -> &str {
        self.event["name"].as_str().unwrap()
    }

    fn number(&self, argument: &str) -> Option<u64> {
        self.event["args"][argument].as_u64()
    }

    fn is(&self, category: &str) -> bool {
        self.event["cat"] == category
    }

    fn holds(&self, other: &Slice<'_>) -> bool {
        // Nanoseconds, which a number of microseconds does not hold exactly.
        const LEAST: f64 = 1e-3;
        self.place == other.place && self.start <= other.start + LEAST && other.end <= self.end + LEAST
    }
}

struct Trace {
    events: Vec<Value>,
    /// Duration of the run, microseconds.
    took: f64,
}

impl Trace {
    /// Runs a demo that must succeed, with a trace.
    fn of(name: &str, arguments: &str, env: &[(&str, &str)]) -> Self {
        let (output, file, took) = demo(name, arguments, env);
        let said = texts(&output).concat();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("traced to"), "{said}");
        let events = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).expect("a whole JSON file");
        Self { events, took }
    }

    fn slices(&self) -> Vec<Slice<'_>> {
        let slice = |event: &'_ Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let all = self.events.iter().filter(|event| event["ph"] == "X").map(|event| {
            let start = event["ts"].as_f64().unwrap();
            let duration = event["dur"].as_f64().unwrap();
            assert!(duration >= 0.0, "{event}");
            Slice { event, place: slice(event), start, end: start + duration }
        });
        all.collect()
    }

    /// Name of the track with the device's slices that are named so.
    fn track(&self, name: &str) -> String {
        let slices = self.slices();
        let slice = slices.iter().find(|slice| slice.is("device") && slice.name() == name);
        let (pid, tid) = slice.unwrap_or_else(|| panic!("no device did '{name}'")).place;
        let named = |event: &&Value| event["name"] == "thread_name" && event["pid"] == pid && event["tid"] == tid;
        self.events.iter().find(named).unwrap()["args"]["name"].as_str().unwrap().to_owned()
    }

    /// Returns the devices that are not in the trace, with the reasons.
    fn missing(&self) -> Vec<(String, String)> {
        let text = |event: &Value, of: &str| event["args"][of].as_str().unwrap().to_owned();
        let notes = self.events.iter().filter(|event| event["name"] == "no device times");
        notes.map(|event| (text(event, "device"), text(event, "reason"))).collect()
    }

    /// Every frame once, with path and slot; every step of it inside it; what `steps` names in every frame.
    fn check_host(&self, path: &str, slots: u64, steps: &[&str]) {
        let slices = self.slices();
        let frames: Vec<_> = slices.iter().filter(|slice| slice.name() == "frame").collect();
        assert_eq!(frames.iter().map(|f| f.number("frame").unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        for frame in &frames {
            assert_eq!(frame.event["args"]["path"], path);
            assert!(frame.number("slot").unwrap() < slots, "{}", frame.event);
            assert_eq!(frame.event["args"]["part"], "160x90+0+0");
            for step in steps {
                let inside = slices.iter().filter(|slice| slice.name() == *step && frame.holds(slice));
                assert_eq!(inside.count(), 1, "steps '{step}' in {}", frame.event);
            }
        }
        let used: std::collections::BTreeSet<_> = frames.iter().map(|f| f.number("slot").unwrap()).collect();
        assert_eq!(used.len() as u64, slots.min(FRAMES), "slots used: {used:?}");
        // Steps of a frame are inside one; the rest proves paths, draws, or empties the pipeline.
        let outer = ["frame", "verify", "turn", "settle lateness", "blank", "draw", "flush"];
        for step in slices.iter().filter(|s| s.is("pixelferry::frame") && !outer.contains(&s.name())) {
            let held = slices.iter().any(|slice| outer.contains(&slice.name()) && slice.holds(step));
            assert!(held, "on its own: {}", step.event);
        }
        assert!(slices.iter().any(|s| s.name() == "open" && s.is("pixelferry::select")));
    }

    /// Checks that the devices' work lies within the run, in order, and that an arrow from a host's slice leads to each
    /// piece.
    fn check_devices(&self) {
        let slices = self.slices();
        let (device, host): (Vec<_>, Vec<_>) = slices.iter().partition(|slice| slice.is("device"));
        let mut last = std::collections::HashMap::new();
        for slice in &device {
            let uncertain = slice.event["args"]["uncertainty_us"].as_f64().unwrap();
            assert!(uncertain < self.took, "{}", slice.event);
            assert!(slice.start >= -uncertain && slice.end <= self.took + uncertain, "{}", slice.event);
            let (start, end) = last.insert(slice.place, (slice.start, slice.end)).unwrap_or_default();
            assert!(start <= slice.start && end <= slice.end + 1e-3, "out of order: {}", slice.event);
        }
        let arrows = |phase: &'static str| self.events.iter().filter(move |event| event["ph"] == phase);
        assert_eq!((arrows("s").count(), arrows("f").count()), (device.len(), device.len()));
        for (arrow, slice) in arrows("f").zip(&device) {
            let from = arrows("s").find(|from| from["id"] == arrow["id"]).unwrap();
            let queued = from["ts"].as_f64().unwrap();
            assert_eq!(arrow["ts"], slice.event["ts"]);
            let uncertain = slice.event["args"]["uncertainty_us"].as_f64().unwrap();
            assert!(queued <= slice.start + uncertain, "begun before it was queued: {}", slice.event);
            let frame = slice.number("frame");
            let within = host.iter().any(|h| h.start <= queued && queued <= h.end && h.place.1 == from["tid"]);
            assert!(within || frame.is_none(), "an arrow from nowhere to {}", slice.event);
        }
    }

    /// Frames that a device did `name` for.
    fn frames_of(&self, name: &str) -> Vec<u64> {
        let slices = self.slices();
        let of = slices.iter().filter(|slice| slice.is("device") && slice.name() == name);
        of.map(|slice| slice.number("frame").unwrap_or_else(|| panic!("of no frame: {}", slice.event))).collect()
    }
}

#[test]
fn threads_and_memory() {
    let trace = Trace::of("memory", "--backend cpu --display memory --path host-round-trip", &[]);
    trace.check_host("host-round-trip", 1, &["launch", "finish", "read", "upload"]);
    trace.check_devices();
    assert!(trace.track("colours").starts_with("CPU: "));
    assert_eq!(trace.frames_of("colours"), [1, 2, 3, 4, 5, 6]);
    let missing = trace.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].0.contains("plain memory") && missing[0].1.contains("does not time"), "{missing:?}");
}

/// By this OpenCL driver and OpenGL, where the machine has both.
fn opencl(driver: Need, name: &str, arguments: &str) -> Option<Trace> {
    let env = [("OCL_ICD_VENDORS", format!("{}.icd", driver.name())), ("RUSTICL_ENABLE", "llvmpipe".into())];
    let env = env.each_ref().map(|(name, value)| (*name, value.as_str()));
    for (needed, arguments) in
        [(driver, "--backend opencl --display memory"), (Need::Egl, "--backend cpu --display gl")]
    {
        // Each is asked for once.
        static FOUND: Mutex<Vec<Need>> = Mutex::new(Vec::new());
        let mut found = FOUND.lock().unwrap();
        if !found.contains(&needed) {
            let (probed, ..) = demo("probe", arguments, &env);
            need(needed, if probed.status.success() { Ok(()) } else { Err(texts(&probed)[1].clone()) })?;
            found.push(needed);
        }
    }
    Some(Trace::of(name, &format!("--backend opencl --display gl {arguments}"), &env))
}

#[test]
fn pocl_and_opengl() {
    let Some(trace) = opencl(Need::Pocl, "pocl", "--path host-visible-upload") else { return };
    trace.check_host(
        "host-visible-upload",
        3,
        &["wait for the slot", "launch", "finish", "hand over", "release", "upload"],
    );
    trace.check_devices();
    assert!(trace.track("colours").starts_with("OpenCL: ") && trace.track("upload").starts_with("OpenGL: "));
    for name in ["colours", "upload", "draw"] {
        assert_eq!(trace.frames_of(name), [1, 2, 3, 4, 5, 6], "{name}");
    }
    assert_eq!(trace.missing(), []);
}

#[test]
fn frames_that_are_shown_late_keep_their_numbers() {
    let Some(trace) = opencl(Need::Pocl, "late", "--path host-visible-in-place --frames-behind 2") else { return };
    // The first is handed over at once and the next two wait, so that not every frame has a hand-over.
    trace.check_host("host-visible-in-place", 5, &["wait for the slot", "launch", "finish", "submit"]);
    trace.check_devices();
    assert_eq!(trace.frames_of("colours"), [1, 2, 3, 4, 5, 6]);
    // A draw for each frame, and one after the pipeline was emptied.
    assert_eq!(trace.frames_of("draw"), [1, 1, 1, 2, 3, 4, 6]);
    let slices = trace.slices();
    let handed = slices.iter().filter(|slice| slice.name() == "hand over").filter_map(|slice| slice.number("frame"));
    assert_eq!(handed.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    // Work of a hand-over is for the frame that is handed over, not for the one that is being finished.
    let Some(trace) = opencl(Need::Pocl, "late-upload", "--path host-visible-upload --frames-behind 2") else { return };
    assert_eq!(trace.frames_of("upload"), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_driver_without_times_says_so() {
    let Some(trace) = opencl(Need::Rusticl, "rusticl", "--path pbo-persistent") else { return };
    trace.check_host("pbo-persistent", 3, &["launch", "finish", "read", "upload"]);
    trace.check_devices();
    // Mesa 22.3 invents them; a later one that has them is in the trace.
    match &*trace.missing() {
        [(device, reason)] => assert!(device.contains("llvmpipe") && reason.contains("clock"), "{device}: {reason}"),
        [] => assert_eq!(trace.frames_of("colours"), [1, 2, 3, 4, 5, 6]),
        more => panic!("{more:?}"),
    }
    assert_eq!(trace.frames_of("draw"), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_file_that_cannot_be_written_is_explained() {
    let arguments = ["demo", "plasma", "--headless", "--backend", "cpu", "--display", "memory"];
    let output = pixelferry(&arguments).args(["--trace", "/no/such/folder/x.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let [_, said] = texts(&output);
    assert!(said.contains("cannot write the trace") && said.contains("/no/such/folder/x.json"), "{said}");
}
