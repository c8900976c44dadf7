//! Timestamps of the command stream: `GL_ARB_timer_query`, part of OpenGL 3.3.
//!
//! Uses its own function pointers, because the functions of glow 0.17 that read results end the program below OpenGL
//! 4.5.

use glow::{QUERY_COUNTER_BITS, QUERY_RESULT, QUERY_RESULT_AVAILABLE, Query, TIMESTAMP};
use std::ffi::{CStr, c_void};

type QueryCounter = unsafe extern "system" fn(query: u32, target: u32);
type GetQuery = unsafe extern "system" fn(target: u32, parameter: u32, value: *mut i32);
type GetResult = unsafe extern "system" fn(query: u32, parameter: u32, value: *mut u64);

/// Function pointers of one context.
#[derive(Clone, Copy)]
pub(crate) struct TimerFns {
    query_counter: QueryCounter,
    get_query: GetQuery,
    get_result: GetResult,
}

impl TimerFns {
    /// Loads the functions: all or none.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Option<Self> {
        let (counter, query) = (load(c"glQueryCounter"), load(c"glGetQueryiv"));
        let result = load(c"glGetQueryObjectui64v");
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise
        // (OpenGL 4.6 core, sections 4.2.1 and 4.3).
        unsafe {
            Some(Self {
                query_counter: std::mem::transmute::<*const c_void, Option<QueryCounter>>(counter)?,
                get_query: std::mem::transmute::<*const c_void, Option<GetQuery>>(query)?,
                get_result: std::mem::transmute::<*const c_void, Option<GetResult>>(result)?,
            })
        }
    }

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
