//! Writes spans and events of the crate `tracing` to the file.

use crate::trace::file::{Args, TraceFile};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Writes spans as slices and events as instants.
pub struct HostSpans(pub Arc<TraceFile>);

/// State of a span.
#[derive(Default)]
struct Slice {
    args: Fields,
    /// Since when it is entered, and how often it was entered again.
    since: Option<Instant>,
    depth: usize,
}

#[derive(Default)]
struct Fields(Args);

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().into(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for HostSpans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut slice = Slice::default();
        attributes.record(&mut slice.args);
        span.extensions_mut().insert(slice);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(slice) = span.extensions_mut().get_mut::<Slice>() {
            values.record(&mut slice.args);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(slice) = span.extensions_mut().get_mut::<Slice>() {
            slice.depth += 1;
            slice.since.get_or_insert_with(Instant::now);
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let now = Instant::now();
        let Some(span) = context.span(id) else { return };
        if let Some(slice) = span.extensions_mut().get_mut::<Slice>() {
            slice.depth = slice.depth.saturating_sub(1);
            if slice.depth == 0
                && let Some(since) = slice.since.take()
            {
                let metadata = span.metadata();
                self.0.host_slice(metadata.name(), metadata.target(), since, now, &slice.args.0);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        fields.0.insert("level".into(), metadata.level().as_str().into());
        let name = match fields.0.remove("message") {
            Some(Value::String(message)) => message,
            _ => metadata.name().into(),
        };
        self.0.instant(&name, metadata.target(), &fields.0);
    }
}
