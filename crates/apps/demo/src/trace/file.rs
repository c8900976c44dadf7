//! The trace's file, which consists of whole lines at any time.

use pixelferry::driver::DeviceSpan;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Arguments of an event.
pub type Args = Map<String, Value>;

/// Process numbers in the file: the host's threads, and the devices' queues.
const HOST: u32 = 1;
const DEVICES: u32 = 2;

/// A trace that is being written.
pub struct TraceFile {
    /// Time 0 of the file.
    zero: Instant,
    state: Mutex<TraceState>,
}

struct TraceState {
    /// `None` after the file was closed, or could not be written.
    out: Option<BufWriter<File>>,
    /// Error that ended the file early.
    error: Option<io::Error>,
    is_empty: bool,
    threads: HashMap<ThreadId, u32>,
    tracks: HashMap<Arc<str>, u32>,
    arrows: u64,
}

/// Fractional microseconds, as the format counts time.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

impl TraceFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(b"[")?;
        let (threads, tracks) = (HashMap::new(), HashMap::new());
        let state = TraceState { out: Some(out), error: None, is_empty: true, threads, tracks, arrows: 0 };
        let file = Self { zero: Instant::now(), state: Mutex::new(state) };
        let mut state = file.lock();
        state.describe("process_name", (HOST, 0), &format!("host (process {})", std::process::id()));
        state.describe("process_name", (DEVICES, 0), "devices");
        drop(state);
        Ok(file)
    }

    fn lock(&self) -> MutexGuard<'_, TraceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, moment: Instant) -> f64 {
        // Device work may have begun before the file.
        match moment.checked_duration_since(self.zero) {
            Some(after) => micros(after),
            None => -micros(self.zero.saturating_duration_since(moment)),
        }
    }

    /// Writes a slice of this thread's work that ends now.
    pub fn host_slice(&self, name: &str, category: &str, start: Instant, end: Instant, args: &Args) {
        let (ts, dur) = (self.at(start), micros(end.saturating_duration_since(start)));
        let mut state = self.lock();
        let place = (HOST, state.this_thread());
        state.write(place, ts, json!({ "ph": "X", "name": name, "cat": category, "dur": dur, "args": args }));
    }

    /// Writes an event that happened on this thread now.
    pub fn instant(&self, name: &str, category: &str, args: &Args) {
        let ts = self.at(Instant::now());
        let mut state = self.lock();
        let place = (HOST, state.this_thread());
        state.write(place, ts, json!({ "ph": "i", "s": "t", "name": name, "cat": category, "args": args }));
    }

    /// Writes a slice of a device's work, and an arrow to it from where the host queued it.
    pub fn device_slice(&self, span: &DeviceSpan) {
        let DeviceSpan { track, work, start, end, uncertainty, .. } = span;
        let mut args = Args::new();
        if let Some(tag) = work.frame {
            args.insert("link".into(), tag.link.into());
            args.insert("frame".into(), tag.frame.into());
            args.insert("path".into(), tag.path.name().into());
            args.insert("slot".into(), tag.slot.into());
        }
        args.insert("uncertainty_us".into(), micros(*uncertainty).into());
        let (queued, ts) = (self.at(work.queued), self.at(*start));
        let dur = micros(end.saturating_duration_since(*start));
        let mut state = self.lock();
        let (from, to) = ((HOST, state.thread(work.thread)), (DEVICES, state.track(track)));
        state.write(to, ts, json!({ "ph": "X", "name": work.name, "cat": "device", "dur": dur, "args": args }));
        state.arrows += 1;
        let id = state.arrows;
        state.write(from, queued, json!({ "ph": "s", "name": "queued", "cat": "device", "id": id }));
        // `bp` binds the end of the arrow to the slice around that moment.
        state.write(to, ts, json!({ "ph": "f", "bp": "e", "name": "queued", "cat": "device", "id": id }));
    }

    /// Passes everything to the system, so that the file survives if the program is killed.
    pub fn flush(&self) {
        self.lock().try_to(Write::flush);
    }

    /// Ends the file; later events are dropped. Returns the first error.
    pub fn close(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.try_to(|out| out.write_all(b"\n]\n").and_then(|()| out.flush()));
        state.out = None;
        state.error.take().map_or(Ok(()), Err)
    }
}

impl TraceState {
    fn try_to(&mut self, f: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(out) = &mut self.out
            && let Err(error) = f(out)
        {
            (self.error, self.out) = (Some(error), None);
        }
    }

    /// Writes an event as one line; the trace event format explains the names. `ts` is in microseconds, like all times.
    fn write(&mut self, (pid, tid): (u32, u32), ts: f64, mut event: Value) {
        let before: &[u8] = if self.is_empty { b"\n" } else { b",\n" };
        self.is_empty = false;
        (event["pid"], event["tid"], event["ts"]) = (pid.into(), tid.into(), ts.into());
        self.try_to(|out| {
            out.write_all(before)?;
            Ok(serde_json::to_writer(out, &event)?)
        });
    }

    fn describe(&mut self, what: &str, place: (u32, u32), name: &str) {
        self.write(place, 0.0, json!({ "ph": "M", "name": what, "args": { "name": name } }));
    }

    fn this_thread(&mut self) -> u32 {
        let thread = std::thread::current();
        if let Some(tid) = self.threads.get(&thread.id()) {
            return *tid;
        }
        self.new_thread(thread.id(), thread.name())
    }

    fn thread(&mut self, id: ThreadId) -> u32 {
        self.threads.get(&id).copied().unwrap_or_else(|| self.new_thread(id, None))
    }

    fn new_thread(&mut self, id: ThreadId, name: Option<&str>) -> u32 {
        let tid = self.threads.len() as u32 + 1;
        self.threads.insert(id, tid);
        self.describe("thread_name", (HOST, tid), name.unwrap_or("a thread"));
        tid
    }

    fn track(&mut self, track: &Arc<str>) -> u32 {
        if let Some(tid) = self.tracks.get(track) {
            return *tid;
        }
        let tid = self.tracks.len() as u32 + 1;
        self.tracks.insert(track.clone(), tid);
        self.describe("thread_name", (DEVICES, tid), track);
        tid
    }
}
