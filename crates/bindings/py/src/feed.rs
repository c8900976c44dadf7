//! The link that shows arrays of one kind of memory, with the kernel that writes them.

use crate::array_kernel::{kernel, lent};
use crate::content::Content;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::raw::memory::Readable;
use pixelferry::{AutoLink, Kernel, LinkBuilder, SurfaceDesc};
use pixelferry_look::{ColourTable, Gauge, MemoryLocation};
use std::sync::Arc;

/// The link that brings arrays of one place to the screen.
pub struct Feed {
    pub place: MemoryLocation,
    pub link: AutoLink<Writer>,
    /// Measures arrays in device memory.
    gauge: Option<Gauge>,
}

/// What a backend needs to write arrays.
pub struct Writer {
    kernel: Option<Arc<dyn Kernel>>,
    table: ColourTable,
}

impl Feed {
    /// Opens a link for arrays at `place`.
    pub fn open<D: Content>(
        place: MemoryLocation,
        engine: &Engine,
        desc: SurfaceDesc,
        builder: LinkBuilder,
    ) -> Result<Self, Failure> {
        let own = engine.clone();
        let prepare = move |backend: &Arc<_>, _| {
            Ok(Writer { kernel: kernel::<D>(&own, backend, &desc)?, table: ColourTable::default() })
        };
        Ok(Self { place, link: engine.wanted(builder).open_auto(prepare)?, gauge: None })
    }

    /// Shows an array, and returns the shown content.
    pub fn put<D: Content>(&mut self, array: &Readable<D>, engine: &Engine) -> Result<D, Failure> {
        let (mut shown, mut read) = (*array.description(), None);
        self.link.set_work(&shown.work());
        let gauge = &mut self.gauge;
        self.link.frame(|frame, Writer { kernel, table }| {
            let (content, backend) = (*array.description(), frame.backend());
            let (Some(kernel), Some(memory)) = (kernel, lent(array, engine, backend)?) else {
                return content.write(frame.target()?, array.bytes()?);
            };
            shown = content.measured(gauge, backend, memory.as_ref())?;
            let table = table.lend(shown.table(), backend)?;
            frame.launch(kernel.as_ref(), &shown.arguments(memory.as_ref(), table))?;
            read = Some(memory);
            Ok(())
        })?;
        // The kernel has read it: its owner may write it again.
        read.map_or(Ok(()), |mut memory| memory.release())?;
        Ok(shown)
    }
}
