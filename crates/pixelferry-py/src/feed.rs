//! The link that shows arrays of one memory, with the kernel that writes them.

use crate::content::Content;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::feeding::{Table, kernel, lent, written};
use crate::raw::memory::Readable;
use pixelferry::{Kernel, Link, PairTrials, WriteFrame};
use pixelferry_look::{Gauge, Place};
use std::sync::Arc;

/// The way of arrays of one place to the screen.
pub struct Feed {
    pub place: Place,
    pub link: Link,
    pub kernel: Option<Arc<dyn Kernel>>,
    pub table: Table,
    /// What measures arrays that are not the host's.
    pub gauge: Option<Gauge>,
    /// Comparison of the backends that can write these arrays.
    pub trials: PairTrials,
}

impl Feed {
    /// Compares another backend with the one in use, by this array, and goes on with the quicker one.
    pub fn compare<D: Content>(&mut self, array: &Readable<D>, engine: &Engine) -> Result<(), Failure> {
        let desc = *self.link.desc();
        let mut frame = |frame: &mut WriteFrame<'_>| written(array, engine, &desc, frame);
        if let Some(better) = self.trials.step(&mut self.link, &array.description().work(), &mut frame) {
            self.kernel = kernel::<D>(engine, better.backend(), better.desc())?;
            (self.link, self.table) = (better, Table::default());
        }
        Ok(())
    }

    /// Shows it, and returns what was shown.
    pub fn put<D: Content>(&mut self, array: &Readable<D>, engine: &Engine) -> Result<D, Failure> {
        let (link, content) = (&mut self.link, *array.description());
        let lent = lent(array, engine, link.backend().as_ref())?;
        let (Some(kernel), Some(mut memory)) = (&self.kernel, lent) else {
            link.frame(|frame| content.write(frame.target()?, array.bytes()?))?;
            return Ok(content);
        };
        let backend = link.backend().clone();
        let content = content.measured(&mut self.gauge, backend.as_ref(), memory.as_ref())?;
        let table = self.table.lend(&content, backend.as_ref())?;
        link.frame(|frame| frame.launch(kernel.as_ref(), &content.arguments(memory.as_ref(), table)))?;
        // The kernel has read it: its owner may write again.
        memory.release()?;
        Ok(content)
    }
}
