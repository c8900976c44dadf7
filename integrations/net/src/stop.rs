//! Requests to stop: Ctrl-C or SIGTERM. Commands check for one, leave the network, and end with that signal; a second
//! signal ends them at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// Number of the received signal, or 0.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
/// How often waits check for a request to stop.
pub const LOOK: Duration = Duration::from_millis(200);

/// Installs the signal handlers.
pub fn listen() -> io::Result<()> {
    let has_come = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, has_come.clone())?;
        flag::register(signal, has_come.clone())?;
        flag::register_usize(signal, SIGNAL.clone(), signal.unsigned_abs() as usize)?;
    }
    Ok(())
}

pub fn is_asked() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// Waits; `false` if a request to stop arrived.
pub fn wait(time: Duration) -> bool {
    let begun = Instant::now();
    while !is_asked() && begun.elapsed() < time {
        thread::sleep(LOOK.min(time.saturating_sub(begun.elapsed())));
    }
    !is_asked()
}

/// Ends the program as the signal would have, if one arrived: shells and schedulers distinguish that from a normal
/// exit.
pub fn end() {
    if let Ok(signal @ 1..) = i32::try_from(SIGNAL.load(Ordering::Relaxed)) {
        // If that fails, the program ends normally.
        let _ = low_level::emulate_default_handler(signal);
    }
}
