//! The interface for programs that write a trace.

use crate::trace::error::TraceError;
use crate::trace::file::{Args, TraceFile};
use crate::trace::layer::HostSpans;
use pixelferry::driver::DeviceSpan;
use pixelferry::{ComputeBackend, DeviceIdentity, Display, Result, Support};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// A trace that is being written. Dropping it closes its file; [`Trace::finish`] also returns errors.
pub struct Trace {
    file: Arc<TraceFile>,
    path: PathBuf,
}

impl Trace {
    /// Creates a file, and replaces an existing one.
    ///
    /// # Errors
    /// [`TraceError::File`] if it cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref().to_owned();
        match TraceFile::create(&path) {
            Ok(file) => Ok(Self { file: Arc::new(file), path }),
            Err(source) => Err(TraceError::File { path, source }),
        }
    }

    /// Creates the file and subscribes to all spans of the process: for programs without a subscriber of their own.
    ///
    /// # Errors
    /// [`TraceError::Subscriber`] if there is a subscriber already; otherwise those of [`Trace::create`].
    pub fn install(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let trace = Self::create(path)?;
        let installed = tracing_subscriber::registry().with(trace.layer()).try_init();
        installed.map_err(|error| TraceError::Subscriber(error.to_string()))?;
        Ok(trace)
    }

    /// Returns a layer for spans of frames, their steps, and the search for paths; of everything else, messages for
    /// users (`INFO`).
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + Send + Sync + use<S> {
        let ours = Targets::new().with_target("pixelferry", LevelFilter::TRACE).with_default(LevelFilter::INFO);
        HostSpans(Arc::clone(&self.file)).with_filter(ours)
    }

    /// Makes both sides record what their devices do. The trace names a side that cannot, with the reason.
    ///
    /// # Errors
    /// [`TraceError::Device`].
    pub fn watch(&self, backend: &dyn ComputeBackend, display: &dyn Display) -> Result<(), TraceError> {
        self.note(backend.device(), &backend.set_timeline(true)?);
        self.note(display.device(), &display.set_timeline(true)?);
        Ok(())
    }

    fn note(&self, device: &DeviceIdentity, support: &Support) {
        if let Support::No(reason) = support {
            let mut args = Args::new();
            args.insert("device".into(), device.to_string().into());
            args.insert("reason".into(), reason.as_str().into());
            self.file.instant("no device times", "device", &args);
        }
    }

    /// Writes the devices' finished work since the last call, without waiting. Call it after every frame, and once more
    /// after both sides have finished.
    ///
    /// # Errors
    /// [`TraceError::Device`].
    pub fn collect(&self, backend: &dyn ComputeBackend, display: &dyn Display) -> Result<(), TraceError> {
        let mut write = |span: DeviceSpan| self.file.device_slice(&span);
        backend.drain_timeline(&mut write)?;
        display.drain_timeline(&mut write)?;
        self.file.flush();
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`TraceError::File`] if some of it could not be written.
    pub fn finish(self) -> Result<(), TraceError> {
        self.file.close().map_err(|source| TraceError::File { path: self.path.clone(), source })
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // Does nothing if `finish` has already closed it.
        if let Err(error) = self.file.close() {
            tracing::warn!(file = %self.path.display(), %error, "the trace is incomplete");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::PathId;
    use pixelferry::driver::FrameTag;
    use pixelferry::driver::devices::timeline::Work;
    use serde_json::Value;
    use std::time::{Duration, Instant};

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("pixelferry-trace-{}-{name}.json", std::process::id()))
    }

    fn read(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::remove_file(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    /// Events of a kind, with start and end.
    fn of<'a>(events: &'a [Value], phase: &str, name: &str) -> Vec<(&'a Value, f64, f64)> {
        let found = events.iter().filter(|e| e["ph"] == phase && e["name"] == name);
        found
            .map(|e| (e, e["ts"].as_f64().unwrap(), e["ts"].as_f64().unwrap() + e["dur"].as_f64().unwrap_or(0.0)))
            .collect()
    }

    #[test]
    fn spans_and_device_work_become_one_file() {
        let path = file("one");
        let trace = Trace::create(&path).unwrap();
        let tag = FrameTag::new(1, 7, PathId::PINNED_UPLOAD, 2);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(trace.layer()), || {
            let frame =
                tracing::trace_span!(target: "pixelferry::frame", "frame", frame = 7u64, slot = tracing::field::Empty);
            let frame = frame.entered();
            frame.record("slot", 2usize);
            let step = tracing::trace_span!(target: "pixelferry::frame", "launch", kernel = "a \"b\"\n").entered();
            let _tagged = FrameTag::enter(Some(tag));
            let work = Work::new("rings");
            std::thread::sleep(Duration::from_millis(2));
            drop(step);
            let (start, end) = (work.queued + Duration::from_millis(1), work.queued + Duration::from_millis(3));
            let mut span = DeviceSpan::new("CUDA: a GPU".into(), work, start, end);
            span.uncertainty = Duration::from_nanos(1500);
            trace.file.device_slice(&span);
            tracing::info!(target: "interop_core::select", n = 3, "path chosen");
            // This event is of no interest to users.
            tracing::debug!(target: "winit", "noise");
            tracing::trace_span!(target: "winit", "noise").in_scope(|| ());
        });
        trace.finish().unwrap();
        let events = read(&path);
        let (frame, launch) = (of(&events, "X", "frame"), of(&events, "X", "launch"));
        assert_eq!((frame.len(), launch.len()), (1, 1));
        assert!(frame[0].1 <= launch[0].1 && launch[0].2 <= frame[0].2, "the step is not inside its frame");
        assert!(launch[0].2 - launch[0].1 >= 2000.0, "it took two milliseconds: {:?}", launch[0]);
        assert_eq!((&frame[0].0["args"]["frame"], &frame[0].0["args"]["slot"]), (&7.into(), &2.into()));
        assert_eq!(launch[0].0["args"]["kernel"], "a \"b\"\n");
        let rings = of(&events, "X", "rings");
        let (device, start, end) = rings[0];
        assert_eq!(device["args"]["path"], "pinned-upload");
        assert_eq!(device["args"]["uncertainty_us"], 1.5);
        assert!((end - start - 2000.0).abs() < 0.01);
        let (from, to) = (of(&events, "s", "queued"), of(&events, "f", "queued"));
        assert_eq!((&from[0].0["id"], &to[0].0["bp"]), (&to[0].0["id"], &"e".into()));
        assert!((to[0].1 - start).abs() < 1e-6 && to[0].0["tid"] == device["tid"] && to[0].0["pid"] == device["pid"]);
        assert!(launch[0].1 <= from[0].1 && from[0].1 <= launch[0].2, "the arrow does not begin where it was launched");
        assert_eq!(from[0].0["tid"], launch[0].0["tid"]);
        let tracks: Vec<_> = events.iter().filter(|e| e["ph"] == "M").map(|e| e["args"]["name"].clone()).collect();
        assert!(tracks.contains(&"CUDA: a GPU".into()) && tracks.contains(&"devices".into()), "{tracks:?}");
        assert_eq!(of(&events, "i", "path chosen")[0].0["args"]["n"], 3);
        assert!(!events.iter().any(|e| e["name"] == "noise"));
    }

    #[test]
    fn a_program_that_ends_early_leaves_a_whole_file() {
        let path = file("early");
        let trace = Trace::create(&path).unwrap();
        let file = Arc::clone(&trace.file);
        let _ = std::thread::spawn(move || {
            let _trace = trace;
            tracing::info!("on the way");
            panic!("as a test must");
        })
        .join();
        // The layer outlives the trace, as in a program with a global subscriber.
        file.host_slice("late", "", Instant::now(), Instant::now(), &Args::new());
        assert!(!read(&path).iter().any(|event| event["name"] == "late"));
    }

    #[test]
    fn a_killed_program_leaves_whole_lines() {
        let path = file("killed");
        let trace = Trace::create(&path).unwrap();
        trace.file.instant("a", "", &Args::new());
        trace.file.flush();
        let text = std::fs::read_to_string(&path).unwrap();
        let events: Vec<Value> = serde_json::from_str(&(text + "]")).unwrap();
        assert_eq!(events.last().unwrap()["name"], "a");
        drop(trace);
        assert_eq!(read(&path).len(), events.len());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_with_its_name() {
        let missing = file("no-folder").join("x.json");
        let error = Trace::create(&missing).err().unwrap().to_string();
        assert!(error.contains("x.json"), "{error}");
        if cfg!(target_os = "linux") {
            let trace = Trace::create("/dev/full").unwrap();
            trace.file.instant("a", "", &Args::new());
            let error = trace.finish().unwrap_err().to_string();
            assert!(error.contains("/dev/full"), "{error}");
        }
    }
}
