//! Panics that closures of the caller's may raise, and the hook that tells them from others.

use crate::fuzz::Choices;
use std::panic::{panic_any, set_hook, take_hook};
use std::sync::Mutex;
use std::sync::PoisonError;

const MARK: &str = "panicked on purpose";

/// A payload whose drop panics, too.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(MARK);
    }
}

/// Panics in one of several ways.
pub fn go_off(kind: usize) -> ! {
    match kind % 4 {
        0 => panic_any(MARK),
        1 => panic_any(MARK.to_owned()),
        2 => panic_any(7_u64),
        _ => panic_any(Bomb),
    }
}

/// One of the kinds of [`go_off`].
pub fn kind(t: &mut Choices) -> usize {
    t.below(4)
}

static OTHERS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps quiet about panics on purpose, and remembers all others, on whichever thread they are.
pub fn watch() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        let payload = info.payload();
        let ours = payload.is::<Bomb>()
            || payload.is::<u64>()
            || payload.downcast_ref::<&str>().is_some_and(|text| text.contains(MARK))
            || payload.downcast_ref::<String>().is_some_and(|text| text.contains(MARK));
        if !ours {
            OTHERS.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
            before(info);
        }
    }));
}

/// Panics that nobody raised on purpose, since the last call.
pub fn unexpected() -> Vec<String> {
    std::mem::take(&mut *OTHERS.lock().unwrap_or_else(PoisonError::into_inner))
}
