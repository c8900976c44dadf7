//! A program on a backend: kernels, buffers and channels.

use crate::error::PlayError;
use crate::input::{CHANNELS, FrameInputs, Moment};
use crate::pass::{BUFFERS, Pass, Source, TextVoucher};
use crate::picture::{PIXEL, Picture, Streams};
use crate::program::Program;
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Error, Extent, Kernel, PixelFormat, Target};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A built program.
pub struct RunningProgram {
    pub program: Program,
    backend: Arc<dyn ComputeBackend>,
    kernels: Vec<Arc<dyn Kernel>>,
    size: Extent,
    buffers: [Option<Buffer>; BUFFERS.len()],
    pictures: Vec<(Source, Picture)>,
}

/// Memory of a buffer: the previous output of its pass, and room for the next.
struct Buffer {
    newest: Box<dyn ComputeMemory>,
    /// `None` only while the pass runs.
    next: Option<Box<dyn ComputeMemory>>,
}

impl Buffer {
    fn zeroed(backend: &dyn ComputeBackend, size: Extent) -> Result<Self, Error> {
        let bytes = (size.pixels() as usize).saturating_mul(PIXEL);
        let memory = || {
            let mut memory = backend.allocate(bytes)?;
            memory.write(0, &vec![0; bytes])?;
            Ok::<_, Error>(memory)
        };
        Ok(Self { newest: memory()?, next: Some(memory()?) })
    }
}

impl RunningProgram {
    /// Builds the kernels and reads the channels' sources.
    ///
    /// # Errors
    /// [`PlayError::Faults`] if the shader does not build; [`PlayError::Channel`]; errors of the backend.
    pub fn build(
        backend: &Arc<dyn ComputeBackend>,
        program: Program,
        size: Extent,
        vouched: TextVoucher,
        streams: &mut Streams,
    ) -> Result<Self, PlayError> {
        let build = |pass: &Pass| match backend.build(&pass.source(vouched)) {
            Err(Error::KernelBuild { log, .. }) => Err(PlayError::Faults(pass.origin.faults(&log, &pass.text))),
            built => Ok(built?),
        };
        let kernels = program.passes.iter().map(build).collect::<Result<_, _>>()?;
        let mut pictures: Vec<(Source, Picture)> = Vec::new();
        for (channel, source) in program.passes.iter().flat_map(sources) {
            if !pictures.iter().any(|(known, _)| known == source)
                && let Some(picture) = Picture::open(source, channel, backend.as_ref(), streams)?
            {
                pictures.push((source.clone(), picture));
            }
        }
        let backend = Arc::clone(backend);
        let mut running = Self { program, backend, kernels, size, buffers: [const { None }; 4], pictures };
        running.resize(size)?;
        Ok(running)
    }

    /// Sets the size of the picture and clears the buffers.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        self.size = size;
        for at in self.program.passes.iter().filter_map(|pass| pass.buffer) {
            self.buffers[at] = Some(Buffer::zeroed(self.backend.as_ref(), size)?);
        }
        Ok(())
    }

    /// Takes over the buffers' content from another program with the same buffers. Returns true if it did, or if there
    /// are no buffers.
    pub fn inherit(&mut self, from: Option<Self>) -> bool {
        let has = |running: &Self| running.buffers.each_ref().map(Option::is_some);
        if !has(self).contains(&true) {
            return true;
        }
        match from.filter(|from| has(from) == has(self) && from.size == self.size) {
            Some(from) => self.buffers = from.buffers,
            None => return false,
        }
        true
    }

    /// Waits up to `limit` for the first frame of each stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] if no frame of a stream arrives in time.
    pub fn wait_for_streams(&self, limit: Duration) -> Result<(), PlayError> {
        let until = Instant::now() + limit;
        for (_, picture) in &self.pictures {
            picture.wait(until.saturating_duration_since(Instant::now()))?;
        }
        Ok(())
    }

    /// Returns the streams that channels read, each with a message, which is empty while frames arrive.
    pub fn streams(&self) -> Vec<(String, String)> {
        let streams = self.pictures.iter().filter_map(|(_, picture)| picture.stream());
        streams.map(|stream| (stream.name().to_owned(), stream.said())).collect()
    }

    /// Computes the buffers of a frame.
    ///
    /// # Errors
    /// Errors of a launch, and [`PlayError::Channel`] for a video.
    pub fn compute_buffers(&mut self, moment: &Moment, sliders: &[f32]) -> Result<(), PlayError> {
        for (_, picture) in &mut self.pictures {
            picture.go_to(moment.time, self.backend.as_ref())?;
        }
        self.launch_buffers(moment, sliders)
    }

    /// Computes the buffers of a frame without advancing videos.
    ///
    /// # Errors
    /// Errors of a launch.
    pub fn launch_buffers(&mut self, moment: &Moment, sliders: &[f32]) -> Result<(), PlayError> {
        for (place, at) in self.program.passes.iter().map(|pass| pass.buffer).enumerate().collect::<Vec<_>>() {
            let Some(at) = at else { continue };
            let Some(mut next) = self.buffers[at].as_mut().and_then(|buffer| buffer.next.take()) else { continue };
            let launched = Target::image(next.as_mut(), self.size, PixelFormat::Rgba32F).and_then(|target| {
                let arguments = self.arguments(&self.program.passes[place], moment, sliders);
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

    /// Calls `launch` with the picture's kernel and its arguments.
    ///
    /// # Errors
    /// Errors of the launch.
    pub fn compute_picture(
        &self,
        moment: &Moment,
        sliders: &[f32],
        mut launch: impl FnMut(&dyn Kernel, &[Arg<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (Some(pass), Some(kernel)) = (self.program.passes.last(), self.kernels.last()) else { return Ok(()) };
        launch(kernel.as_ref(), &self.arguments(pass, moment, sliders))
    }

    fn arguments<'a>(&'a self, pass: &Pass, moment: &Moment, sliders: &'a [f32]) -> Vec<Arg<'a>> {
        let channels: [_; CHANNELS] = std::array::from_fn(|at| self.channel(pass, at));
        let sizes = channels.map(|found| found.map_or(Extent::new(0, 0), |(_, size)| size));
        let is_from_top = self.program.is_from_top;
        let now = FrameInputs { moment: *moment, sliders, size: self.size, channels: sizes, is_from_top };
        let argument = |param: &crate::input::Param| match param {
            crate::input::Param::Channel(at) => channels.get(*at)?.map(|(memory, _)| Arg::Memory(memory)),
            number => number.argument(&now),
        };
        pass.params.iter().filter_map(argument).collect()
    }

    fn channel(&self, pass: &Pass, at: usize) -> Option<(&dyn ComputeMemory, Extent)> {
        match &pass.channels[at].as_ref()?.source {
            Source::Buffer(of) => Some((self.buffers.get(*of)?.as_ref()?.newest.as_ref(), self.size)),
            source => {
                let (_, picture) = self.pictures.iter().find(|(known, _)| known == source)?;
                Some((picture.memory.as_ref(), picture.size))
            }
        }
    }
}

fn sources(pass: &Pass) -> impl Iterator<Item = (usize, &Source)> {
    (0..).zip(&pass.channels).filter_map(|(at, channel)| Some((at, &channel.as_ref()?.source)))
}
