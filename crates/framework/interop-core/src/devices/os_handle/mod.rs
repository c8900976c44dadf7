//! The operating system's handles of memory and semaphores: file descriptors on Unix, NT handles on Windows.
//!
//! Both systems have the same types: [`OsHandle`] owns a handle, [`RawOsHandle`] is its number or pointer for drivers,
//! and [`ImportedHandle`] knows who closes a handle that a driver was given. The code above this module is the same on
//! every system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use platform::{ImportedHandle, NONE, OsHandle, RawOsHandle, own};

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write as _, pipe};

    fn given() -> (ImportedHandle, PipeWriter) {
        let (reader, writer) = pipe().unwrap();
        (ImportedHandle::new(reader.into()), writer)
    }

    #[test]
    fn what_a_driver_refused_and_left_is_closed() {
        let (to_driver, mut writer) = given();
        writer.write_all(b"open").unwrap();
        to_driver.close_if_left();
        writer.write_all(b"closed").unwrap_err();
    }

    #[test]
    #[cfg(unix)]
    fn what_a_driver_took_is_its_own() {
        let (taken, mut writer) = {
            let (to_driver, writer) = given();
            (to_driver.number(), writer)
        };
        writer.write_all(b"open").unwrap();
        // SAFETY: the driver's part is played here.
        drop(unsafe { own(taken) });
        writer.write_all(b"closed").unwrap_err();
    }

    #[test]
    #[cfg(unix)]
    fn what_a_driver_refused_and_closed_is_not_closed_again() {
        let (to_driver, mut writer) = given();
        // SAFETY: as above. In debug builds the standard library ends the program where a descriptor is closed twice.
        drop(unsafe { own(to_driver.number()) });
        to_driver.close_if_left();
        writer.write_all(b"closed").unwrap_err();
    }

    /// Handles of one GPU driver are all of one device file.
    #[test]
    #[cfg(unix)]
    fn what_somebody_else_opened_at_the_same_number_is_not_closed() {
        use std::os::fd::{AsRawFd as _, OwnedFd};
        let open = || OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        // A test beside this one may take the number first; then once more.
        for _ in 0..100 {
            let to_driver = ImportedHandle::new(open());
            // SAFETY: the driver's part is played here: it closes what it refuses.
            drop(unsafe { own(to_driver.number()) });
            let others: Vec<_> = std::iter::repeat_with(open).take(100).collect();
            let taken = others.iter().position(|other| other.as_raw_fd() == to_driver.number());
            let Some(taken) = taken else { continue };
            to_driver.close_if_left();
            // In debug builds the standard library ends the program where it drops a closed descriptor.
            others[taken].try_clone().unwrap();
            return;
        }
        panic!("the number was never free");
    }

    #[test]
    fn no_handle_is_not_owned() {
        // SAFETY: it is not a handle.
        assert!(unsafe { own(NONE) }.is_none());
    }
}
