//! Compute pipelines, their bindings and their launches.

pub(crate) mod deferred_drop;
pub(crate) mod layout;
pub(crate) mod layouts;
pub(crate) mod pipeline;
pub(crate) mod views;
