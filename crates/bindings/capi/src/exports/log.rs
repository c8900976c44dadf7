//! Passes the library's log to a function of the caller.

use crate::abi::*;
use crate::call::call;
use crate::failure::{Failure, Result};
use crate::texts::c_string;
use std::ffi::{c_char, c_void};
use std::fmt::{self, Write as _};
use std::sync::{OnceLock, PoisonError, RwLock};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber};

/// The function that gets the lines.
#[derive(Clone, Copy)]
struct Sink {
    function: unsafe extern "C" fn(*mut c_void, u32, *const c_char),
    user: *mut c_void,
    most: LevelFilter,
}

// SAFETY: the header asks for a function and a pointer that any thread may use, several at a time.
unsafe impl Send for Sink {}
// SAFETY: the same.
unsafe impl Sync for Sink {}

static SINK: RwLock<Option<Sink>> = RwLock::new(None);

fn sink() -> Option<Sink> {
    *SINK.read().unwrap_or_else(PoisonError::into_inner)
}

const LEVELS: [(u32, Level); 4] = [
    (PIXELFERRY_LOG_ERROR, Level::ERROR),
    (PIXELFERRY_LOG_WARNING, Level::WARN),
    (PIXELFERRY_LOG_INFO, Level::INFO),
    (PIXELFERRY_LOG_DEBUG, Level::DEBUG),
];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_set_log(log: pf_log_function, user: *mut c_void, most: u32) -> pf_status {
    call("pf_set_log", || {
        let sink = log.map(|function| level(most).map(|most| Sink { function, user, most })).transpose()?;
        subscribed()?;
        *SINK.write().unwrap_or_else(PoisonError::into_inner) = sink;
        tracing::callsite::rebuild_interest_cache();
        Ok(())
    })
}

fn level(most: u32) -> Result<LevelFilter> {
    let level = LEVELS.iter().find(|(code, _)| *code == most).map(|(_, level)| LevelFilter::from_level(*level));
    level.ok_or_else(|| Failure::argument(format!("most is {most}, which is not a PIXELFERRY_LOG_ value")))
}

/// Subscribes to the process's log, once.
fn subscribed() -> Result<()> {
    static DONE: OnceLock<bool> = OnceLock::new();
    if *DONE.get_or_init(|| set_global_default(Lines).is_ok()) {
        return Ok(());
    }
    Err(Failure::argument("this process already has a log of Rust's `tracing`, which gets the same lines"))
}

/// Converts each event to a line. Spans, which are steps of frames, are for traces only.
struct Lines;

impl Lines {
    fn wants(metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && sink().is_some_and(|sink| *metadata.level() <= sink.most)
    }
}

impl Subscriber for Lines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        Self::wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(sink().map_or(LevelFilter::OFF, |sink| sink.most))
    }

    fn event(&self, event: &Event<'_>) {
        let level = event.metadata().level();
        let code = LEVELS.iter().find(|(_, known)| known == level).map(|(code, _)| *code);
        if let (Some(sink), Some(code)) = (sink(), code) {
            let mut line = Line { message: String::new(), fields: String::new() };
            event.record(&mut line);
            let text = c_string(format!("{}: {}{}", event.metadata().target(), line.message, line.fields));
            // SAFETY: the header asks for a function that any thread may call with `user`, and that returns.
            unsafe { (sink.function)(sink.user, code, text.as_ptr()) };
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A line: what is said, then what it is about.
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, ", {name}: {value:?}"),
        };
    }
}
