//! [`feed`].

use crate::error::PipewireError;
use crate::source::VideoSource;
use pixelferry::stream::{NextFrame, Subscriber};
use pixelferry::{BackendChoice, Error, SurfaceDesc, open_backend};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long PipeWire is served between checks for frames, and for a publisher to return.
const TICK: Duration = Duration::from_millis(5);
const AGAIN: Duration = Duration::from_millis(200);

/// Shows a stream until `stop` is true. Waits for its publisher; when that ends, its last frame stays, and the next
/// publisher of that name is joined. `told` is called with the reason why there is no publisher, once for each new
/// reason and each time that a publisher has ended.
///
/// # Errors
/// Those of [`VideoSource::show`], and of [`Subscriber::open`] except for a stream without a publisher.
pub fn feed(
    name: &str,
    source: &mut VideoSource,
    stop: &AtomicBool,
    mut told: impl FnMut(&Error),
) -> Result<(), PipewireError> {
    let backend = open_backend(BackendChoice::Cpu, &[])?;
    let mut last = String::new();
    while !stop.load(Ordering::Relaxed) {
        match Subscriber::open(name, &backend) {
            Ok(mut subscriber) => {
                last.clear();
                follow(&mut subscriber, source, stop)?;
            }
            Err(error) => {
                let Error::Unavailable { reason, .. } = &error else { return Err(error.into()) };
                if last != *reason {
                    told(&error);
                    last.clone_from(reason);
                }
                source.wait(AGAIN)?;
            }
        }
    }
    Ok(())
}

/// Shows one publisher's frames until it ends.
fn follow(subscriber: &mut Subscriber, source: &mut VideoSource, stop: &AtomicBool) -> Result<(), PipewireError> {
    while !stop.load(Ordering::Relaxed) {
        match subscriber.next(TICK)? {
            NextFrame::Frame(mut frame) => {
                let SurfaceDesc::Image(image) = *frame.desc() else { return Err(PipewireError::NoImage) };
                let rows = frame.read()?;
                source.show(&image, &rows)?;
            }
            NextFrame::Nothing => source.wait(Duration::ZERO)?,
            NextFrame::Ended => return Ok(()),
        }
    }
    Ok(())
}
