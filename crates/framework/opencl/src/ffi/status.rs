//! [`Status`]: how far a command is, and whose its code is where it failed.

use cl3::event as ev;

/// Status of a command (OpenCL 3.0 API, 5.11, `CL_EVENT_COMMAND_EXECUTION_STATUS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In the queue: `CL_QUEUED`.
    Queued,
    /// Handed to the device: `CL_SUBMITTED`.
    Submitted,
    /// The device works on it: `CL_RUNNING`.
    Running,
    /// Done: `CL_COMPLETE`.
    Complete,
    /// Ended by an error with this code, which is negative (a `cl_int`).
    Failed(i32),
}

/// Codes from here down are no driver's: a user event was set to them, or what waited for it has got them from it (rusticl).
/// The first is that of a user event which was dropped; of one that was failed, the user's code follows, below it.
pub(crate) const OF_HOST: i32 = i32::MIN / 2;

/// The lowest code that [`super::UserEvent::fail`] can tell.
pub const LEAST_CODE: i32 = i32::MIN - OF_HOST + 1;

/// Code for commands that wait for a user event that is dropped before it was set.
const ABANDONED: i32 = -1;

/// Tells where a code came from a user event: the code that it was failed with, `None` where it was dropped.
pub fn of_user_event(code: i32) -> Option<Option<i32>> {
    (code <= OF_HOST).then(|| Some(code - OF_HOST).filter(|own| *own < 0))
}

impl Status {
    pub(crate) fn from_code(code: i32) -> Self {
        match code {
            ev::CL_COMPLETE => Self::Complete,
            ev::CL_RUNNING => Self::Running,
            ev::CL_SUBMITTED => Self::Submitted,
            code if code < 0 => Self::Failed(of_user_event(code).map_or(code, |own| own.unwrap_or(ABANDONED))),
            _ => Self::Queued,
        }
    }

    /// True where nothing more will happen: `CL_COMPLETE`, or an error.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Failed(_))
    }

    /// The code for `clSetEventCallback`: errors are told as completion.
    pub(crate) const fn callback_type(self) -> i32 {
        match self {
            Self::Queued | Self::Submitted => ev::CL_SUBMITTED,
            Self::Running => ev::CL_RUNNING,
            Self::Complete | Self::Failed(_) => ev::CL_COMPLETE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_user_events_are_told_from_a_drivers() {
        for own in [-1, -5, -5000, LEAST_CODE] {
            let code = OF_HOST + own;
            assert_eq!((of_user_event(code), Status::from_code(code)), (Some(Some(own)), Status::Failed(own)));
        }
        assert_eq!((of_user_event(OF_HOST), Status::from_code(OF_HOST)), (Some(None), Status::Failed(ABANDONED)));
        for code in [0, -1, -14, -9999] {
            assert_eq!(of_user_event(code), None);
        }
    }
}
