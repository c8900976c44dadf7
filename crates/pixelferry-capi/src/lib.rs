//! The C ABI of pixelferry: `include/pixelferry.h` documents it, `include/pixelferry.hpp` is C++ on top of it.
//!
//! | module | holds |
//! |---|---|
//! | `abi` | structs, constants and types of functions, as the header has them |
//! | `exports` | the exported functions: pointers become checked values, then safe code works |
//! | `boundary` | reading and writing through a caller's pointers; the functions that a caller gives |
//! | `call` | the one way into every call: panics and errors become a status and a message |
//! | `handles` | the table of everything that a caller holds a handle of |
//! | `held` | links and their frames, which refer to each other |
//! | `computing` | a caller's function that computes frames |
//! | `objects` | a caller's own textures and buffers: outlets, intakes |
//! | `subscribed` | streams of other processes |
//! | `given_out` | what other threads have of a frame |
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
mod computing;
mod convert;
mod exports;
mod failure;
#[cfg(test)]
mod fuzz;
mod given_out;
mod handles;
mod held;
mod objects;
mod sources;
mod subscribed;
#[cfg(test)]
mod tests;
mod texts;
