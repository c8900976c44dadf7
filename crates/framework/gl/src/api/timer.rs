//! Timestamps of the command stream: `GL_ARB_timer_query`, part of OpenGL 3.3.
//!
//! Uses its own function pointers, because the functions of glow 0.17 that read results end the program below OpenGL
//! 4.5.

use crate::api::functions::functions;
use glow::{QUERY_COUNTER_BITS, QUERY_RESULT, QUERY_RESULT_AVAILABLE, Query, TIMESTAMP};

functions! {
    /// Their signatures are those of OpenGL 4.6 core, sections 4.2.1 and 4.3.
    all TimerFns {
        query_counter = c"glQueryCounter", fn(query: u32, target: u32);
        get_query = c"glGetQueryiv", fn(target: u32, parameter: u32, value: *mut i32);
        get_result = c"glGetQueryObjectui64v", fn(query: u32, parameter: u32, value: *mut u64);
    }
}

impl TimerFns {
    /// Returns the bits of a timestamp; 0 where the driver has none (OpenGL 4.6 core, section 4.2.1).
    ///
    /// # Safety
    /// The context is current.
    pub(crate) unsafe fn bits(&self) -> u32 {
        let mut bits = 0;
        // SAFETY: the caller's promise; one integer is written.
        unsafe { (self.get_query)(TIMESTAMP, QUERY_COUNTER_BITS, &raw mut bits) };
        u32::try_from(bits).unwrap_or(0).min(64)
    }

    /// Makes `query` record the time at which all commands so far are done.
    ///
    /// # Safety
    /// The context is current and the query of it.
    pub(crate) unsafe fn mark(&self, query: Query) {
        // SAFETY: the caller's promise.
        unsafe { (self.query_counter)(query.0.get(), TIMESTAMP) }
    }

    /// True where the time is available. Does not wait.
    ///
    /// # Safety
    /// The context is current, and the query of it and marked.
    pub(crate) unsafe fn is_done(&self, query: Query) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.get(query, QUERY_RESULT_AVAILABLE) != 0 }
    }

    /// Returns the time in nanoseconds. Waits for it.
    ///
    /// # Safety
    /// The conditions of [`TimerFns::is_done`] hold.
    pub(crate) unsafe fn time(&self, query: Query) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.get(query, QUERY_RESULT) }
    }

    unsafe fn get(&self, query: Query, parameter: u32) -> u64 {
        let mut value = 0;
        // SAFETY: the callers' promise; one 64-bit integer is written.
        unsafe { (self.get_result)(query.0.get(), parameter, &raw mut value) };
        value
    }
}
