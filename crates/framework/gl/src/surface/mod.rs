//! Surfaces that frames are copied into or read from in place.

pub(crate) mod buffer;
pub(crate) mod download;
pub(crate) mod engine_level;
pub(crate) mod in_place;
pub(crate) mod target;
pub(crate) mod texture;
