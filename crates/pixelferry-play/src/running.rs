//! A program on what computes it, and the pictures that its channels show.

use crate::drawing::{Canvas, Drawing};
use crate::driver::Driver;
use crate::error::PlayError;
use crate::input::Moment;
use crate::kernels::Kernels;
use crate::pass::Vouched;
use crate::picture::{Picture, Pictures, Streams};
use crate::program::Program;
use pixelferry::{Arg, Error, Extent, Kernel};
use std::time::{Duration, Instant};

/// A program that was built.
pub struct Running {
    pub program: Program,
    driver: Driver,
    built: Built,
    size: Extent,
    pictures: Pictures,
}

enum Built {
    Kernels(Kernels),
    Fragments(Drawing),
}

impl Running {
    /// Builds the passes, and reads what the channels name.
    ///
    /// # Errors
    /// [`PlayError::Faults`] for a text that does not build; [`PlayError::Channel`]; what the driver reports.
    pub fn build(
        driver: &Driver,
        program: Program,
        size: Extent,
        vouched: Vouched,
        streams: &mut Streams,
    ) -> Result<Self, PlayError> {
        let built = match driver {
            Driver::Kernels(backend) => Built::Kernels(Kernels::build(backend, &program, vouched)?),
            Driver::Fragments(gl) => Built::Fragments(Drawing::build(gl, &program, vouched)?),
        };
        let mut pictures = Pictures::default();
        let channels = program.passes.iter().flat_map(|pass| (0..).zip(&pass.channels));
        for (number, channel) in channels.filter_map(|(number, channel)| Some((number, channel.as_ref()?))) {
            if pictures.of(channel).is_none()
                && let Some(picture) = Picture::open(channel, number, driver, streams)?
            {
                pictures.add(channel, picture);
            }
        }
        let mut running = Self { program, driver: driver.clone(), built, size, pictures };
        running.resize(size)?;
        Ok(running)
    }

    /// Sets the size of the picture, and clears the buffers.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn resize(&mut self, size: Extent) -> Result<(), PlayError> {
        self.size = size;
        match &mut self.built {
            Built::Kernels(kernels) => kernels.resize(&self.program, size),
            Built::Fragments(drawing) => {
                drawing.clear();
                Ok(())
            }
        }
    }

    /// Takes over what the buffers of another program hold, where both have the same. True where it did, or there are none.
    pub fn inherit(&mut self, from: Option<Self>) -> bool {
        let is_same = |from: &Self| from.size == self.size;
        let from = from.filter(is_same).map(|from| from.built);
        match (&mut self.built, from) {
            (Built::Kernels(kernels), Some(Built::Kernels(from))) => kernels.inherit(Some(from)),
            (Built::Kernels(kernels), _) => kernels.inherit(None),
            (Built::Fragments(drawing), Some(Built::Fragments(from))) => drawing.inherit(Some(from)),
            (Built::Fragments(drawing), _) => drawing.inherit(None),
        }
    }

    /// Columns and rows of the first image that a text of ISF is given, which a filter keeps.
    pub fn image_size(&self) -> Option<Extent> {
        let pass = self.program.passes.last().filter(|pass| pass.fragment.is_filter)?;
        Some(self.pictures.of(pass.channels.first()?.as_ref()?)?.stored.size)
    }

    /// Waits, at most so long, for the first frame of each stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] where there is none.
    pub fn wait_for_streams(&self, limit: Duration) -> Result<(), PlayError> {
        let until = Instant::now() + limit;
        for picture in self.pictures.all() {
            picture.wait(until.saturating_duration_since(Instant::now()))?;
        }
        Ok(())
    }

    /// Streams that channels read, and what is to be said of each; nothing while frames come.
    pub fn streams(&self) -> Vec<(String, String)> {
        let streams = self.pictures.all().filter_map(Picture::stream);
        streams.map(|stream| (stream.name().to_owned(), stream.said())).collect()
    }

    /// Takes videos and streams to a moment.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a video, and what the driver reports.
    pub fn go_to(&mut self, moment: &Moment) -> Result<(), PlayError> {
        self.pictures.all_mut().try_for_each(|picture| picture.go_to(moment.time, &self.driver))
    }

    /// Computes the buffers of a frame of kernels.
    ///
    /// # Errors
    /// What a launch reports.
    pub fn launch_buffers(&mut self, moment: &Moment, sliders: &[f32]) -> Result<(), PlayError> {
        let Built::Kernels(kernels) = &mut self.built else { return Ok(()) };
        kernels.launch_buffers(&self.program, &self.pictures, moment, sliders)
    }

    /// Gives the kernel of the picture and its arguments to what launches it.
    ///
    /// # Errors
    /// What the launch reports.
    pub fn compute_picture(
        &self,
        moment: &Moment,
        sliders: &[f32],
        launch: impl FnMut(&dyn Kernel, &[Arg<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Built::Kernels(kernels) = &self.built else { return Ok(()) };
        kernels.compute_picture(&self.program, &self.pictures, moment, sliders, launch)
    }

    /// Draws all passes of a frame of fragment shaders.
    ///
    /// # Errors
    /// What OpenGL reports.
    pub fn draw(&mut self, canvas: &Canvas, moment: &Moment, sliders: &[f32]) -> Result<(), PlayError> {
        let Built::Fragments(drawing) = &mut self.built else { return Ok(()) };
        drawing.draw(&self.program, &self.pictures, canvas, moment, sliders)
    }
}
