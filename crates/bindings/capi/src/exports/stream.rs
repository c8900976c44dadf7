//! Frames to and from other processes.

use crate::abi::*;
use crate::boundary::{bytes_mut, fill, optional_out, optional_structure, put, text};
use crate::call::call;
use crate::exports::results::{give, say, to_json};
use crate::handles::{Handle as _, SharedMemory, free};
use crate::subscriber_slot::SubscriberSlot;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_streams_json(json: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_streams_json", || unsafe { say(json, "json", || to_json(&publish::streams()?)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_stream_open(
    backend: *mut pf_backend,
    name: *const c_char,
    options: *const pf_stream_options,
    stream: *mut *mut pf_display,
) -> pf_status {
    // SAFETY: the header's promise for pointers and texts.
    call("pf_stream_open", || unsafe {
        give(stream, "stream", || {
            let (backend, options) = (pf_backend::get(backend)?, optional_structure(options)?);
            publish::open(text(name, "name")?, backend.as_ref(), &options)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_stream_publish(shown: *mut pf_shown, published: *mut pf_published) -> pf_status {
    call("pf_stream_publish", || {
        let publish = || pf_shown::get(shown)?.with(|shown, link| publish::publish(link.display(), shown))?;
        if published.is_null() {
            return publish().map(drop);
        }
        // SAFETY: the header's promise for pointers.
        unsafe { fill(published, publish) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_stream_subscribers(
    stream: *mut pf_display,
    subscribers: *mut u32,
    is_awaited: *mut u32,
) -> pf_status {
    // SAFETY: the header's promise for pointers; what is wanted is where it is not null.
    call("pf_stream_subscribers", || unsafe {
        put(subscribers, 0, "subscribers", || {
            optional_out(is_awaited, 0, "is_awaited")?;
            let (count, awaited) = publish::subscribers(&pf_display::get(stream)?.display())?;
            if !is_awaited.is_null() {
                is_awaited.write(u32::from(awaited));
            }
            Ok(count)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_open(
    backend: *mut pf_backend,
    name: *const c_char,
    subscriber: *mut *mut pf_subscriber,
) -> pf_status {
    // SAFETY: the header's promise for pointers and texts.
    call("pf_subscriber_open", || unsafe {
        give(subscriber, "subscriber", || {
            let backend = pf_backend::get(backend)?;
            SubscriberSlot::open(text(name, "name")?, &backend)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_next(
    subscriber: *mut pf_subscriber,
    timeout_ms: u32,
    next: *mut u32,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_subscriber_next", || unsafe {
        put(next, PIXELFERRY_NEXT_NOTHING, "next", || {
            pf_subscriber::get(subscriber)?.next(Duration::from_millis(u64::from(timeout_ms)))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_surface(subscriber: *mut pf_subscriber, surface: *mut pf_surface) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_subscriber_surface", || unsafe { fill(surface, || pf_subscriber::get(subscriber)?.surface()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_frame(subscriber: *mut pf_subscriber, frame: *mut pf_stream_frame) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_subscriber_frame", || unsafe { fill(frame, || pf_subscriber::get(subscriber)?.frame()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_read(
    subscriber: *mut pf_subscriber,
    data: *mut c_void,
    bytes: usize,
    row_pitch: usize,
) -> pf_status {
    call("pf_subscriber_read", || {
        // SAFETY: the header's promise for pointers.
        let data = unsafe { bytes_mut(data.cast::<u8>(), bytes, "data") }?;
        pf_subscriber::get(subscriber)?.read(data, row_pitch)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_memory(
    subscriber: *mut pf_subscriber,
    memory: *mut *mut pf_memory,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_subscriber_memory", || unsafe {
        give(memory, "memory", || Ok(SharedMemory::Streamed(pf_subscriber::get(subscriber)?.hold()?)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_subscriber_explain(
    subscriber: *mut pf_subscriber,
    explanation: *mut *mut c_char,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_subscriber_explain", || unsafe {
        say(explanation, "explanation", || pf_subscriber::get(subscriber)?.explain())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_subscriber_free(subscriber: *mut pf_subscriber) -> pf_status {
    call("pf_subscriber_free", || free(subscriber))
}

/// The publisher's side.
#[cfg(all(feature = "stream", target_os = "linux"))]
mod publish {
    use super::*;
    use crate::failure::{Failure, Result};
    pub use pixelferry::stream::streams;
    use pixelferry::stream::{StreamDisplay, StreamOptions};
    use pixelferry::{ComputeBackend, Display, HeadlessDisplay, ShownFrame};

    pub fn open(name: &str, backend: &dyn ComputeBackend, given: &pf_stream_options) -> Result<HeadlessDisplay> {
        let options = StreamOptions::default();
        let options = if given.readers == 0 { options } else { options.with_readers(given.readers as usize) };
        Ok(pixelferry::stream::publish(name, backend, options)?.into())
    }

    fn of(display: &Arc<dyn Display>) -> Result<&StreamDisplay> {
        display.downcast_ref::<StreamDisplay>().ok_or_else(|| {
            let device = display.device();
            Failure::argument(format!("{device} is not a stream; open one with pf_stream_open and link to it"))
        })
    }

    pub fn publish(display: &Arc<dyn Display>, shown: &ShownFrame<'_>) -> Result<pf_published> {
        let done = of(display)?.publish(shown)?;
        Ok(pf_published {
            size: size_of::<pf_published>(),
            number: done.number,
            subscribers: u32::try_from(done.subscribers).unwrap_or(u32::MAX),
            copied: u32::from(done.copied),
        })
    }

    /// Returns the number of subscribers, and whether one waits for the newest frame to be published again.
    pub fn subscribers(display: &Arc<dyn Display>) -> Result<(u32, bool)> {
        let stream = of(display)?;
        Ok((u32::try_from(stream.subscribers()).unwrap_or(u32::MAX), stream.is_awaited()))
    }
}

#[cfg(not(all(feature = "stream", target_os = "linux")))]
mod publish {
    use super::*;
    use crate::failure::{Failure, Result, absent};
    use pixelferry::{ComputeBackend, Display, HeadlessDisplay, ShownFrame};

    absent! {
        Failure::no_streams();
        [] streams() -> Vec<()>;
        [] open(&str, &dyn ComputeBackend, &pf_stream_options) -> HeadlessDisplay;
        [] publish(&Arc<dyn Display>, &ShownFrame<'_>) -> pf_published;
        [] subscribers(&Arc<dyn Display>) -> (u32, bool);
    }
}
