//! The threads that run kernels.

use interop_core::describe::panics::{PanicMessage, catch};
use interop_core::describe::process::ForkGuard;
use interop_core::describe::threads::SignalMaskGuard;
use interop_core::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// Options for a [`crate::CpuBackend`]'s use of the CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuOptions {
    /// Number of threads, 1 to [`CpuOptions::MAX_THREADS`]; `None` selects one for each CPU of the process.
    pub threads: Option<usize>,
    /// The calling thread alone writes targets with at most this many pixels (or groups of 4 bytes of a buffer),
    /// because waking other threads would take longer. `None` selects [`CpuOptions::SERIAL_ITEMS`]; 0 always wakes the
    /// others, which pays off for few items with much work in each.
    pub serial_items: Option<usize>,
}

impl CpuOptions {
    /// Largest number of threads.
    pub const MAX_THREADS: usize = 1024;
    /// Default of [`CpuOptions::serial_items`]: a 64x64 image.
    pub const SERIAL_ITEMS: usize = 64 * 64;

    /// Sets the number of threads.
    #[must_use]
    pub const fn with_threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets the largest number of items that the calling thread writes alone.
    #[must_use]
    pub const fn with_serial_items(self, items: usize) -> Self {
        Self { serial_items: Some(items), ..self }
    }
}

/// Smallest number of items that one thread takes at a time.
const GRAIN: usize = 4096;

/// How the loops of one launch run: serially or in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loops {
    /// On the calling thread.
    Serial,
    /// On the pool to which the launch was moved.
    Parallel,
}

impl Loops {
    /// Calls `f` with every piece of `bytes` and its number. Each piece has `piece` bytes, except for the last one.
    /// `items` is the number of pixels, or similar items, in a piece.
    pub(crate) fn for_pieces(
        self,
        bytes: &mut [u8],
        piece: usize,
        items: usize,
        f: impl Fn(usize, &mut [u8]) + Send + Sync,
    ) {
        use rayon::prelude::*;
        if self == Self::Serial {
            return bytes.chunks_mut(piece).enumerate().for_each(|(i, p)| f(i, p));
        }
        // If several threads panic, rayon passes on one panic and drops the payloads of the others while it unwinds; a
        // panic of such a drop would end the process.
        let panicked: OnceLock<PanicMessage> = OnceLock::new();
        let one = |(i, p): (usize, &mut [u8])| {
            if panicked.get().is_none() {
                catch(|| f(i, p)).unwrap_or_else(|panic| drop(panicked.set(panic)));
            }
        };
        bytes.par_chunks_mut(piece).enumerate().with_min_len(GRAIN.div_ceil(items.max(1))).for_each(one);
        if let Some(panic) = panicked.into_inner() {
            // The panic hook has already reported its location.
            resume_unwind(Box::new(panic.message().to_owned()));
        }
    }

    /// Returns the number of items of `size` bytes in a piece, for items that may be split anywhere.
    pub(crate) const fn grain(self) -> usize {
        GRAIN
    }
}

/// A thread pool, and the number of items below which it is not woken.
pub(crate) struct Crew {
    pool: ForkGuard<ThreadPool>,
    serial_items: usize,
}

impl Crew {
    pub(crate) fn new(options: &CpuOptions) -> Result<Self> {
        let mut builder = ThreadPoolBuilder::new().thread_name(|i| format!("pixelferry-cpu-{i}"));
        if let Some(threads) = options.threads {
            if threads == 0 || threads > CpuOptions::MAX_THREADS {
                return Err(Error::invalid(
                    "CpuBackend::with_options",
                    format!("{threads} threads were requested; give 1 to {} or None", CpuOptions::MAX_THREADS),
                ));
            }
            builder = builder.num_threads(threads);
        }
        let _blocked = SignalMaskGuard::new();
        let pool = builder.build().map_err(|e| Error::Unavailable {
            what: "the CPU thread pool".into(),
            reason: e.to_string(),
            hint: "Use fewer threads in CpuOptions, or raise the limit on processes (ulimit -u).".into(),
        })?;
        Ok(Self { pool: ForkGuard::new(pool), serial_items: options.serial_items.unwrap_or(CpuOptions::SERIAL_ITEMS) })
    }

    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `f` on the calling thread or on the pool, by the launch's number of items. Rayon calls inside `f` use this
    /// pool if `f` is moved there.
    pub(crate) fn run<R: Send>(&self, items: usize, f: impl FnOnce(Loops) -> R + Send) -> R {
        // A forked process has none of the threads.
        if items <= self.serial_items || !self.pool.mark().is_here() {
            f(Loops::Serial)
        } else {
            self.pool.install(|| f(Loops::Parallel))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_stays_on_the_calling_thread() {
        let crew = Crew::new(&CpuOptions::default().with_threads(2)).unwrap();
        let here = std::thread::current().id();
        assert_eq!(crew.run(4096, |l| (l, std::thread::current().id())), (Loops::Serial, here));
        let (loops, there) = crew.run(4097, |l| (l, std::thread::current().id()));
        assert_eq!(loops, Loops::Parallel);
        assert_ne!(there, here);
    }

    #[test]
    fn silly_thread_counts_are_refused() {
        for threads in [0, CpuOptions::MAX_THREADS + 1, usize::MAX] {
            assert!(matches!(Crew::new(&CpuOptions::default().with_threads(threads)), Err(Error::InvalidInput { .. })));
        }
    }
}
