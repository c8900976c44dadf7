//! The compute side's turn with memory whose other owner the host keeps apart: by an event in the stream.

use crate::ffi::event::Event;
use crate::session::Session;
use interop_core::Result;

/// Marks the end of the turn that was submitted last, in the stream.
#[derive(Default)]
pub struct Turn {
    end: Option<Event>,
    submitted: bool,
}

impl Turn {
    /// Marks the end here, without waiting.
    pub fn submit(&mut self, session: &Session) -> Result<()> {
        let event = match &self.end {
            Some(event) => event,
            None => self.end.insert(Event::new(&session.queue).map_err(session.failed())?),
        };
        event.record().map_err(session.failed())?;
        self.submitted = true;
        Ok(())
    }

    /// Waits for the end that was marked, or for everything.
    pub fn release(&mut self, session: &Session) -> Result<()> {
        if std::mem::take(&mut self.submitted)
            && let Some(event) = &self.end
        {
            // Waiting lets go of later frames that are held back; a frame that is done need not.
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
