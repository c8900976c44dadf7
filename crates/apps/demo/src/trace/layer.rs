//! Writes spans and events of the crate `tracing` to the file.

use crate::trace::file::{Args, TraceFile};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_serde::fields::AsMap as _;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Writes spans as slices and events as instants.
pub struct HostSpans(pub Arc<TraceFile>);

/// State of a span.
#[derive(Default)]
struct Slice {
    args: Args,
    /// Since when it is entered, and how often it was entered again.
    since: Option<Instant>,
    depth: usize,
}

/// Adds a span's or an event's fields.
fn add(args: &mut Args, fields: &impl Serialize) {
    if let Ok(Value::Object(fields)) = serde_json::to_value(fields) {
        args.extend(fields);
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for HostSpans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut slice = Slice::default();
        add(&mut slice.args, &attributes.field_map());
        span.extensions_mut().insert(slice);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(slice) = span.extensions_mut().get_mut::<Slice>() {
            add(&mut slice.args, &values.field_map());
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
                self.0.host_slice(metadata.name(), metadata.target(), since, now, &slice.args);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Args::new();
        add(&mut fields, &event.field_map());
        let metadata = event.metadata();
        fields.insert("level".into(), metadata.level().as_str().into());
        let name = match fields.remove("message") {
            Some(Value::String(message)) => message,
            _ => metadata.name().into(),
        };
        self.0.instant(&name, metadata.target(), &fields);
    }
}
