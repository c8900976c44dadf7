//! Clock of the measurements.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Clock that the choice of paths measures with: the system's monotonic clock, or a function of the program, so that
/// tests decide how long things take.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> Duration + Send + Sync>>);

impl Clock {
    /// A clock that shows what `now` returns: the time since any moment that stays the same. It must not go back.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(now)))
    }

    /// The time since a moment that stays the same.
    pub fn now(&self) -> Duration {
        self.0.as_ref().map_or_else(|| BEGINNING.elapsed(), |now| now())
    }

    /// Tells how long it is since `then`.
    pub(crate) fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(the program's own)" } else { "Clock(the system's)" })
    }
}
