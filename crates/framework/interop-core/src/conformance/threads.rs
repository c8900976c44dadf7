//! Frames that another thread computes.

use super::context::Context;
use super::failure::Failure;
use super::pixels::{same_bytes, tight};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::Error;
use crate::describe::pattern::Pattern;
use crate::describe::surface::SurfaceDesc;
use std::sync::mpsc::channel;

const BYTES: usize = 4096;
const FRAMES: std::ops::Range<u32> = 500..508;

/// One thread computes into device memory, and the link's thread copies it into frames. Two memories alternate.
pub(super) fn from_another(context: &Context<'_>) -> Result<(), Failure> {
    let backend: &dyn ComputeBackend = context.backend.as_ref();
    let desc = SurfaceDesc::buffer(BYTES as u64);
    let (mut link, view) = (context.open(desc)?, tight(&desc)?);
    let (empty, to_fill) = channel::<Box<dyn ComputeMemory>>();
    for _ in 0..2 {
        drop(empty.send(backend.allocate(BYTES)?));
    }
    std::thread::scope(|threads| {
        let (full, filled) = channel();
        threads.spawn(move || {
            for (nonce, mut memory) in FRAMES.zip(to_fill) {
                let pattern = Pattern::for_view(&view, nonce);
                let done = backend.write_pattern(Target::buffer(memory.as_mut()), &pattern);
                if full.send((memory, done)).is_err() {
                    return;
                }
            }
        });
        // Dropped after an error as well, which ends the other thread.
        let empty = empty;
        for nonce in FRAMES {
            let (memory, done) = filled.recv().map_err(|_| Failure::Failed("the other thread ended".into()))?;
            match done {
                // The kernels run in an OpenGL context, which is current on this thread.
                Err(Error::WrongContext { .. }) => return Ok(()),
                done => done?,
            }
            let mut frame = link.acquire()?;
            let (target, _) = frame.target()?.into_parts();
            backend.copy(memory.as_ref(), target, 0..BYTES)?;
            frame.finish()?;
            link.flush()?;
            drop(empty.send(memory));
            let mut expected = vec![0; BYTES];
            Pattern::for_view(&view, nonce).write(&view, &mut expected);
            same_bytes(&format!("frame {nonce} of another thread"), &expected, &link.read_back()?)?;
        }
        Ok(())
    })
}
