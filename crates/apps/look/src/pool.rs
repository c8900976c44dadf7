//! The threads that measure and subtract. Rayon's global pool would be started by its first user, with a host's signal
//! mask, and a forked process would wait for it forever.

use pixelferry::driver::describe::process::ForkGuard;
use pixelferry::driver::describe::threads::SignalMaskGuard;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Runs `work`, whose rayon loops use the pool.
pub(crate) fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    static POOL: OnceLock<Option<ForkGuard<ThreadPool>>> = OnceLock::new();
    let make = || {
        let _blocked = SignalMaskGuard::new();
        ThreadPoolBuilder::new().thread_name(|i| format!("pixelferry-look-{i}")).build().ok().map(ForkGuard::new)
    };
    if rayon::current_thread_index().is_some() {
        return work();
    }
    match POOL.get_or_init(make) {
        Some(pool) if pool.mark().is_here() => pool.install(work),
        // A forked process makes a pool for this call only.
        _ => match make() {
            Some(pool) => pool.install(work),
            None => work(),
        },
    }
}
