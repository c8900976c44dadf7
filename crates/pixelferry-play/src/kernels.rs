//! Kernels of a program on a backend, with their buffers.

use crate::driver::{Pixels, StoredMemory};
use crate::error::PlayError;
use crate::input::{CHANNELS, Moment, Now, Param};
use crate::pass::{BUFFERS, Pass, Source, Vouched};
use crate::picture::{Picture, Pictures};
use crate::program::Program;
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Error, Extent, Kernel, PixelFormat, Target};
use std::sync::Arc;

/// Kernels of all passes.
pub struct Kernels {
    backend: Arc<dyn ComputeBackend>,
    kernels: Vec<Arc<dyn Kernel>>,
    size: Extent,
    buffers: [Option<Buffer>; BUFFERS.len()],
}

/// Memory of a buffer: what its pass wrote last, and room for what it writes next.
struct Buffer {
    newest: Box<dyn ComputeMemory>,
    /// `None` only while the pass runs.
    next: Option<Box<dyn ComputeMemory>>,
}

impl Buffer {
    fn zeroed(backend: &dyn ComputeBackend, size: Extent) -> Result<Self, Error> {
        let bytes = (size.pixels() as usize).saturating_mul(Pixels::MOST);
        let memory = || {
            let mut memory = backend.allocate(bytes)?;
            memory.write(0, &vec![0; bytes])?;
            Ok::<_, Error>(memory)
        };
        Ok(Self { newest: memory()?, next: Some(memory()?) })
    }
}

impl Kernels {
    /// Builds them.
    ///
    /// # Errors
    /// [`PlayError::Faults`] for a text that does not build; what the backend reports.
    pub fn build(backend: &Arc<dyn ComputeBackend>, program: &Program, vouched: Vouched) -> Result<Self, PlayError> {
        let build = |pass: &Pass| match backend.build(&pass.source(vouched)) {
            Err(Error::KernelBuild { log, .. }) => Err(PlayError::Faults(pass.origin.faults(&log, &pass.text))),
            built => Ok(built?),
        };
        let kernels = program.passes.iter().map(build).collect::<Result<_, _>>()?;
        let size = Extent::new(0, 0);
        Ok(Self { backend: Arc::clone(backend), kernels, size, buffers: [const { None }; BUFFERS.len()] })
    }

    /// Sets the size of the picture, and clears the buffers.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn resize(&mut self, program: &Program, size: Extent) -> Result<(), PlayError> {
        self.size = size;
        for at in program.passes.iter().filter_map(|pass| pass.buffer) {
            self.buffers[at] = Some(Buffer::zeroed(self.backend.as_ref(), size)?);
        }
        Ok(())
    }

    /// Takes over what the buffers of another program hold, where both have the same. True where it did, or there are none.
    pub fn inherit(&mut self, from: Option<Self>) -> bool {
        let has = |kernels: &Self| kernels.buffers.each_ref().map(Option::is_some);
        if !has(self).contains(&true) {
            return true;
        }
        match from.filter(|from| has(from) == has(self) && from.size == self.size) {
            Some(from) => self.buffers = from.buffers,
            None => return false,
        }
        true
    }

    /// Computes the buffers of a frame.
    ///
    /// # Errors
    /// What a launch reports.
    pub fn launch_buffers(
        &mut self,
        program: &Program,
        pictures: &Pictures,
        moment: &Moment,
        sliders: &[f32],
    ) -> Result<(), PlayError> {
        for (place, pass) in program.passes.iter().enumerate() {
            let Some(at) = pass.buffer else { continue };
            let Some(mut next) = self.buffers[at].as_mut().and_then(|buffer| buffer.next.take()) else { continue };
            let launched = Target::image(next.as_mut(), self.size, PixelFormat::Rgba32F).and_then(|target| {
                let arguments = self.arguments(program, pass, pictures, moment, sliders);
                self.backend.launch(self.kernels[place].as_ref(), target, &arguments)
            });
            if let Some(buffer) = &mut self.buffers[at] {
                if launched.is_ok() {
                    std::mem::swap(&mut buffer.newest, &mut next);
                }
                buffer.next = Some(next);
            }
            launched?;
        }
        Ok(())
    }

    /// Gives the kernel of the picture and its arguments to what launches it.
    ///
    /// # Errors
    /// What the launch reports.
    pub fn compute_picture(
        &self,
        program: &Program,
        pictures: &Pictures,
        moment: &Moment,
        sliders: &[f32],
        mut launch: impl FnMut(&dyn Kernel, &[Arg<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (Some(pass), Some(kernel)) = (program.passes.last(), self.kernels.last()) else { return Ok(()) };
        launch(kernel.as_ref(), &self.arguments(program, pass, pictures, moment, sliders))
    }

    fn arguments<'a>(
        &'a self,
        program: &Program,
        pass: &Pass,
        pictures: &'a Pictures,
        moment: &Moment,
        sliders: &'a [f32],
    ) -> Vec<Arg<'a>> {
        let channels: [_; CHANNELS] = std::array::from_fn(|at| self.channel(pass, pictures, at));
        let sizes = channels.map(|found| found.map_or(Extent::new(0, 0), |(_, size)| size));
        let is_from_top = program.is_from_top;
        let now = Now { moment: *moment, sliders, size: self.size, channels: sizes, is_from_top };
        let argument = |param: &Param| match param {
            Param::Channel(at) => channels.get(*at)?.map(|(memory, _)| Arg::Memory(memory)),
            number => number.argument(&now),
        };
        pass.params.iter().filter_map(argument).collect()
    }

    fn channel<'a>(
        &'a self,
        pass: &Pass,
        pictures: &'a Pictures,
        at: usize,
    ) -> Option<(&'a dyn ComputeMemory, Extent)> {
        let channel = pass.channels.get(at)?.as_ref()?;
        if let Source::Buffer(of) = channel.source {
            return Some((self.buffers.get(of)?.as_ref()?.newest.as_ref(), self.size));
        }
        let Picture { stored, .. } = pictures.of(channel)?;
        if let StoredMemory::Kernels(memory) = &stored.memory { Some((memory.as_ref(), stored.size)) } else { None }
    }
}
