//! Keeps the library's messages for the panel.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Number of lines to keep.
const KEPT: usize = 200;

#[derive(Debug, Clone)]
pub struct Line {
    /// Seconds since the log began.
    pub seconds: f64,
    pub level: Level,
    pub text: String,
    /// How often the line came, see [`Log::add`].
    pub times: u32,
    /// Time when it came last, in seconds since the log began.
    last: f64,
}

/// Seconds and number of lines: a line that repeats within both limits comes with every frame.
const SOON: (f64, usize) = (2.0, 40);

/// The most recent lines; clones share them.
#[derive(Clone)]
pub struct Log(Arc<LogLines>);

struct LogLines {
    began: Instant,
    lines: Mutex<VecDeque<Line>>,
}

impl Default for Log {
    fn default() -> Self {
        Self(Arc::new(LogLines { began: Instant::now(), lines: Mutex::default() }))
    }
}

impl Log {
    fn lines(&self) -> MutexGuard<'_, VecDeque<Line>> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, or counts it if it comes with every frame.
    pub fn add(&self, level: Level, text: impl Into<String>) {
        let (seconds, text) = (self.0.began.elapsed().as_secs_f64(), text.into());
        let mut lines = self.lines();
        let mut recent = lines.iter_mut().rev().take(SOON.1);
        if let Some(known) = recent.find(|line| line.text == text && seconds - line.last < SOON.0) {
            (known.times, known.last) = (known.times.saturating_add(1), seconds);
            return;
        }
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(Line { seconds, level, text, times: 1, last: seconds });
    }

    /// Returns all kept lines, oldest first.
    pub fn all(&self) -> Vec<Line> {
        self.lines().iter().cloned().collect()
    }

    /// Returns a layer that records messages of this workspace's crates from [`Level::INFO`] up.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        Listener(self.clone()).with_filter(filter_fn(|about| {
            // Match suffixes, so that a new backend or display is included.
            const KINDS: [&str; 6] =
                ["interop_core", "compute_arrays", "_backend", "_fallback", "_display", "_sharing"];
            let name = about.target().split(':').next().unwrap_or_default();
            let is_ours = name.starts_with("pixelferry") || KINDS.iter().any(|kind| name.ends_with(kind));
            about.is_event() && *about.level() <= Level::INFO && is_ours
        }))
    }
}

struct Listener(Log);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        self.0.add(*event.metadata().level(), text.message + &text.fields);
    }
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, ", {name}: {value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
