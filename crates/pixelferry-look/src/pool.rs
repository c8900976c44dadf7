//! The threads that measure and subtract. Rayon's own are started by whoever comes first, with a host's signals, and a forked process
//! waits for them forever.

use pixelferry::driver::describe::process::ProcessOwned;
use pixelferry::driver::describe::threads::SignalsBlocked;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Runs `work`, whose loops of rayon use the pool.
pub(crate) fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    static POOL: OnceLock<Option<ProcessOwned<ThreadPool>>> = OnceLock::new();
    let make = || {
        let _blocked = SignalsBlocked::new();
        ThreadPoolBuilder::new().thread_name(|i| format!("pixelferry-look-{i}")).build().ok().map(ProcessOwned::new)
    };
    if rayon::current_thread_index().is_some() {
        return work();
    }
    match POOL.get_or_init(make) {
        Some(pool) if pool.mark().is_here() => pool.install(work),
        // A forked process has a pool for as long as it takes.
        _ => match make() {
            Some(pool) => pool.install(work),
            None => work(),
        },
    }
}
