//! The compute side's turn with memory that the host synchronises with its other owner: by an event in the stream.

use crate::ffi::event::Event;
use crate::session::Session;
use interop_core::Result;

/// The end of the turn that was submitted last, as an event in the stream.
#[derive(Default)]
pub struct Turn {
    end: Option<Event>,
    submitted: bool,
}

impl Turn {
    /// Marks the end of the turn here, without waiting.
    pub fn submit(&mut self, session: &Session) -> Result<()> {
        let event = match &self.end {
            Some(event) => event,
            None => self.end.insert(Event::new(&session.queue).map_err(session.failed())?),
        };
        event.record().map_err(session.failed())?;
        self.submitted = true;
        Ok(())
    }

    /// Waits for the marked end, or for everything.
    pub fn release(&mut self, session: &Session) -> Result<()> {
        if std::mem::take(&mut self.submitted)
            && let Some(event) = &self.end
        {
            // Waiting releases held-back later frames, which a finished frame does not require.
            return match event.is_done() {
                Ok(true) => Ok(()),
                Ok(false) => event.synchronize(),
                Err(failure) => Err(failure),
            }
            .map_err(session.failed());
        }
        session.synchronize()
    }
}
