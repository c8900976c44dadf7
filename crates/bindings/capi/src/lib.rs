//! The C ABI of pixelferry: `include/pixelferry.h` documents it, `include/pixelferry.hpp` is C++ on top of it.
//!
//! | module | holds |
//! |---|---|
//! | `abi` | structs, constants and types of functions, as the header has them |
//! | `exports` | the exported functions: pointers become checked values, then safe code works |
//! | `boundary` | reading and writing through a caller's pointers; the functions that a caller gives |
//! | `call` | the one way into every call: panics and errors become a status and a message |
//! | `handles` | the table of everything that a caller holds a handle of |
//! | `link_slot` | links and their frames, which refer to each other |
//! | `frame_callback` | a caller's function that computes frames |
//! | `objects` | a caller's own textures and buffers: outlets, intakes |
//! | `subscriber_slot` | streams of other processes |
//! | `frame_handle` | what other threads have of a frame |
//! | `texts` | texts that a caller holds and gives back |
//! | `convert`, `sources` | structs of C as values of pixelferry; kernels |
//!
//! No raw pointer of a caller's is ever an object: handles are numbers that are looked up, so that one that was freed, is of
//! another kind or belongs to another thread gives an error.

// Names are those of the header.
#![allow(non_camel_case_types)]

mod abi;
mod boundary;
mod call;
mod convert;
mod exports;
mod failure;
mod frame_callback;
mod frame_handle;
#[cfg(test)]
mod fuzz;
mod handles;
mod link_slot;
mod objects;
mod sources;
mod subscriber_slot;
#[cfg(test)]
mod tests;
mod texts;
