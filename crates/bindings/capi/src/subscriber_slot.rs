//! Subscribers, and the memory of the frame that one received.
//!
//! In Rust that memory borrows the subscriber. C has no borrows, so here it holds a reference count of the subscriber,
//! which receives no other frame in the meantime.

pub use there::{StreamedSlot, SubscriberSlot};

#[cfg(all(feature = "stream", target_os = "linux"))]
mod there {
    use crate::abi::*;
    use crate::convert::{check_pitch, shape};
    use crate::failure::{Failure, Result};
    use interop_core::{ComputeBackend, ComputeMemory, Error, View};
    use pixelferry::stream::{NextFrame, StreamFrame, Subscriber};
    use std::cell::{Cell, Ref, RefCell};
    use std::rc::Rc;
    use std::sync::Arc;
    use std::time::Duration;

    /// A subscriber; a running call excludes others.
    pub struct SubscriberSlot {
        subscriber: RefCell<Subscriber>,
        /// True while the memory of its frame is held.
        is_held: Cell<bool>,
    }

    impl SubscriberSlot {
        /// Joins a stream.
        pub fn open(name: &str, backend: &Arc<dyn ComputeBackend>) -> Result<Rc<Self>> {
            let subscriber = RefCell::new(Subscriber::open(name, backend)?);
            Ok(Rc::new(Self { subscriber, is_held: Cell::new(false) }))
        }

        fn with<R>(&self, f: impl FnOnce(&mut Subscriber) -> Result<R>) -> Result<R> {
            let busy = "this subscriber is in the middle of a call; do not call it from a function given to that call";
            f(&mut *self.subscriber.try_borrow_mut().map_err(|_| Failure::Busy(busy))?)
        }

        fn with_frame<R>(&self, f: impl FnOnce(StreamFrame<'_>) -> Result<R>) -> Result<R> {
            self.with(|subscriber| {
                subscriber.check_process()?;
                f(subscriber.frame().ok_or(Error::NothingShown)?)
            })
        }

        /// Receives the newest frame, and returns one of `PIXELFERRY_NEXT_`.
        pub fn next(&self, timeout: Duration) -> Result<u32> {
            if self.is_held.get() {
                return Err(Failure::Busy("the memory of this subscriber's frame is held; free it first"));
            }
            self.with(|subscriber| {
                Ok(match subscriber.next(timeout)? {
                    NextFrame::Frame(_) => PIXELFERRY_NEXT_FRAME,
                    NextFrame::Nothing => PIXELFERRY_NEXT_NOTHING,
                    NextFrame::Ended => PIXELFERRY_NEXT_ENDED,
                })
            })
        }

        /// Describes the frame.
        pub fn surface(&self) -> Result<pf_surface> {
            self.with_frame(|frame| Ok(pf_surface::of(frame.desc())))
        }

        /// Returns the number of the frame, and its layout in its memory.
        pub fn frame(&self) -> Result<pf_stream_frame> {
            self.with_frame(|frame| {
                let view = frame.view();
                let (offset, row_pitch) = match view {
                    View::Image(image) => (image.offset, image.row_pitch),
                    View::Buffer(buffer) => (buffer.offset, 0),
                };
                Ok(pf_stream_frame {
                    size: size_of::<pf_stream_frame>(),
                    number: frame.number(),
                    age_ns: u64::try_from(frame.age().as_nanos()).unwrap_or(u64::MAX),
                    offset: offset as u64,
                    row_pitch,
                    row_bytes: shape(&view).0,
                })
            })
        }

        /// Copies its rows, the top one first; bytes between rows stay. A pitch of 0 means tight rows.
        pub fn read(&self, data: &mut [u8], row_pitch: usize) -> Result<()> {
            self.with_frame(|mut frame| {
                let (row, rows) = shape(&frame.view());
                let pitch = if row_pitch == 0 { row } else { row_pitch };
                check_pitch(data.len(), pitch, (row, rows))?;
                let bytes = frame.read()?;
                for (to, from) in data.chunks_mut(pitch.max(1)).zip(bytes.chunks(row.max(1))) {
                    to[..row].copy_from_slice(from);
                }
                Ok(())
            })
        }

        /// Returns the path of the last frame, then a line for each path that does not work.
        pub fn explain(&self) -> Result<String> {
            self.with(|subscriber| {
                let path = subscriber.path().map_or("no frame yet".to_owned(), |path| format!("in use: {path}"));
                let refused = subscriber.refused().iter().map(|(path, reason)| format!("{path}: {reason}\n"));
                Ok(format!("{path}\n{}", refused.collect::<String>()))
            })
        }

        /// Holds the memory of the frame until that is freed.
        pub fn hold(self: &Rc<Self>) -> Result<Rc<StreamedSlot>> {
            if self.is_held.get() {
                return Err(Failure::Busy("the memory of this subscriber's frame is already held; free it first"));
            }
            self.with_frame(|_| Ok(()))?;
            self.is_held.set(true);
            Ok(Rc::new(StreamedSlot(Rc::clone(self))))
        }
    }

    /// The memory of a subscriber's frame.
    pub struct StreamedSlot(Rc<SubscriberSlot>);

    impl StreamedSlot {
        /// Returns the memory for kernels, or `None` while a call copies it.
        pub fn memory(&self) -> Option<Ref<'_, dyn ComputeMemory>> {
            Ref::filter_map(self.0.subscriber.try_borrow().ok()?, Subscriber::memory).ok()
        }
    }

    impl Drop for StreamedSlot {
        fn drop(&mut self) {
            self.0.is_held.set(false);
        }
    }
}

/// Without streams there is no subscriber, so none of it is called.
#[cfg(not(all(feature = "stream", target_os = "linux")))]
mod there {
    use crate::abi::{pf_stream_frame, pf_surface};
    use crate::failure::{Failure, Result};
    use interop_core::{ComputeBackend, ComputeMemory};
    use std::cell::Ref;
    use std::rc::Rc;
    use std::sync::Arc;
    use std::time::Duration;

    pub enum SubscriberSlot {}

    impl SubscriberSlot {
        pub fn open(_: &str, _: &Arc<dyn ComputeBackend>) -> Result<Rc<Self>> {
            Err(Failure::no_streams())
        }

        pub fn next(&self, _: Duration) -> Result<u32> {
            match *self {}
        }

        pub fn surface(&self) -> Result<pf_surface> {
            match *self {}
        }

        pub fn frame(&self) -> Result<pf_stream_frame> {
            match *self {}
        }

        pub fn read(&self, _: &mut [u8], _: usize) -> Result<()> {
            match *self {}
        }

        pub fn explain(&self) -> Result<String> {
            match *self {}
        }

        pub fn hold(self: &Rc<Self>) -> Result<Rc<StreamedSlot>> {
            match **self {}
        }
    }

    pub enum StreamedSlot {}

    impl StreamedSlot {
        pub fn memory(&self) -> Option<Ref<'_, dyn ComputeMemory>> {
            match *self {}
        }
    }
}
