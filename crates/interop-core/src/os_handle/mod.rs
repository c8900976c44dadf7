//! The operating system's names of memory and semaphores: file descriptors on Unix, NT handles on Windows.
//!
//! One shape for both: [`OsHandle`] owns, [`RawOsHandle`] is what drivers are told, and [`Lent`] knows who closes a handle
//! that a driver was given. Everything above is the same code on every system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use platform::{Lent, NONE, OsHandle, RawOsHandle, own};

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write as _, pipe};

    fn given() -> (Lent, PipeWriter) {
        let (reader, writer) = pipe().unwrap();
        (Lent::new(reader.into()), writer)
    }

    #[test]
    fn what_a_driver_refused_and_left_is_closed() {
        let (lent, mut writer) = given();
        writer.write_all(b"open").unwrap();
        lent.close_if_left();
        writer.write_all(b"closed").unwrap_err();
    }

    #[test]
    #[cfg(unix)]
    fn what_a_driver_took_is_its_own() {
        let (taken, mut writer) = {
            let (lent, writer) = given();
            (lent.number(), writer)
        };
        writer.write_all(b"open").unwrap();
        // SAFETY: the driver's part is played here.
        drop(unsafe { own(taken) });
        writer.write_all(b"closed").unwrap_err();
    }

    #[test]
    #[cfg(unix)]
    fn what_a_driver_refused_and_closed_is_not_closed_again() {
        let (lent, mut writer) = given();
        // SAFETY: as above. In debug builds the standard library ends the program where a descriptor is closed twice.
        drop(unsafe { own(lent.number()) });
        lent.close_if_left();
        writer.write_all(b"closed").unwrap_err();
    }

    #[test]
    fn no_handle_is_not_owned() {
        // SAFETY: it is none.
        assert!(unsafe { own(NONE) }.is_none());
    }
}
