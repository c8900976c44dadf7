//! A built program, with its buffers and the pictures of its channels.

use crate::driver::{Driver, Image, ImageMemory, PassProgram};
use crate::error::PlayError;
use crate::gl::{DrawInputs, Texture, TextureShape};
use crate::input::{CHANNELS, FrameValues, Slider, numbers, slider_uniforms, uniforms};
use crate::pass::{CUBE, Channel, Pass, Source, TextVoucher};
use crate::picture::{Keyboard, Picture, Streams};
use crate::program::Program;
use lazy_regex::regex::Captures;
use lazy_regex::{Lazy, Regex, lazy_regex};
use pixelferry::{Arg, Error, Extent, Kernel, PixelFormat, Target};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longest side of a buffer whose shader sets its size.
const MOST_SIDE: f64 = 16_384.0;
/// Longest expression for a size.
const LONGEST: usize = 1000;

/// A built program.
pub struct RunningProgram {
    pub program: Program,
    pub driver: Driver,
    passes: Vec<Rc<PassProgram>>,
    pub size: Extent,
    /// Newest outputs of the passes that write buffers, by the buffer's index.
    buffers: BTreeMap<usize, Image>,
    /// Room for their next outputs; an image is missing only while its pass runs.
    spares: BTreeMap<usize, Image>,
    pub pictures: Vec<Picture>,
}

impl RunningProgram {
    /// Builds the passes and reads the channels' sources.
    ///
    /// # Errors
    /// [`PlayError::Faults`] if the shader does not build; [`PlayError::Channel`]; errors of the driver.
    pub fn build(
        driver: &Driver,
        program: Program,
        size: Extent,
        vouched: TextVoucher,
        streams: &mut Streams,
    ) -> Result<Self, PlayError> {
        let mut passes = Vec::new();
        let key = |pass: &Pass| (pass.text.clone(), pass.fragment.vertex.clone(), pass.channels.clone());
        for same in program.passes.chunk_by(|one, next| key(one) == key(next)) {
            let built = Rc::new(driver.build(&same[0], vouched)?);
            passes.extend(same.iter().map(|_| Rc::clone(&built)));
        }
        let mut pictures: Vec<Picture> = Vec::new();
        for (number, channel) in program.passes.iter().flat_map(|pass| (0..).zip(&pass.channels)) {
            let new = channel.as_ref().filter(|channel| !pictures.iter().any(|known| known.channel == **channel));
            if let Some(channel) = new {
                pictures.extend(Picture::open(channel, number, driver, streams)?);
            }
        }
        let (driver, buffers, spares) = (driver.clone(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { program, driver, passes, size, buffers, spares, pictures })
    }

    /// Sets the size of the picture and clears the buffers.
    pub fn resize(&mut self, size: Extent) {
        self.size = size;
        self.buffers.clear();
        self.spares.clear();
    }

    /// Takes over the buffers' content from another program with the same buffers. Returns true if it did, or if there
    /// are no buffers.
    pub fn inherit(&mut self, from: Option<Self>) -> bool {
        let has = |running: &Self| -> Vec<_> {
            running.buffers.iter().map(|(at, image)| (*at, image.size, image.is_float)).collect()
        };
        if let Some(from) = from.filter(|from| has(from) == has(self) && from.size == self.size) {
            (self.buffers, self.spares) = (from.buffers, from.spares);
            return true;
        }
        self.buffers.is_empty()
    }

    /// Returns the size of the first image that a filter in ISF reads, which its picture has.
    pub fn image_size(&self) -> Option<Extent> {
        let pass = self.program.passes.last().filter(|pass| pass.fragment.is_filter)?;
        Some(self.picture(pass.channels.first()?.as_ref()?)?.size)
    }

    /// Waits up to `limit` for the first frame of each stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] if no frame of a stream arrives in time.
    pub fn wait_for_streams(&self, limit: Duration) -> Result<(), PlayError> {
        let until = Instant::now() + limit;
        let left = || until.saturating_duration_since(Instant::now());
        self.pictures.iter().try_for_each(|picture| picture.wait(left()))
    }

    /// Shows the keys to the channels that read them.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn fill_keyboard(&mut self, keyboard: &Keyboard) -> Result<(), PlayError> {
        let mut pictures = self.pictures.iter_mut().filter(|picture| picture.channel.source == Source::Keyboard);
        pictures.try_for_each(|picture| picture.fill(&self.driver, Keyboard::SIZE, &keyboard.pixels()))
    }

    /// Computes the buffers of a frame.
    ///
    /// # Errors
    /// Errors of a pass, and [`PlayError::Channel`] for a video.
    pub fn compute_buffers(&mut self, now: FrameValues<'_>) -> Result<(), PlayError> {
        self.pictures.iter_mut().try_for_each(|picture| picture.go_to(now.0.time, &self.driver))?;
        self.launch_buffers(now)
    }

    /// Computes the buffers of a frame without advancing videos.
    ///
    /// # Errors
    /// Errors of a pass.
    pub fn launch_buffers(&mut self, now: FrameValues<'_>) -> Result<(), PlayError> {
        (0..self.program.passes.len()).try_for_each(|place| self.make_room(place, now.1))?;
        for place in 0..self.program.passes.len() {
            let Some(at) = self.program.passes[place].buffer else { continue };
            let Some(mut next) = self.spares.remove(&at) else { continue };
            let computed = self.compute_buffer(place, &mut next, now);
            let Some(newest) = self.buffers.get_mut(&at) else { continue };
            if computed.is_ok() {
                std::mem::swap(newest, &mut next);
            }
            self.spares.insert(at, next);
            let mut read = self.program.passes.iter().flat_map(|pass| &pass.channels).flatten();
            let is_copied = |channel: &&Channel| channel.sampling.needs_copy() && channel.source == Source::Buffer(at);
            if let Some(channel) = read.find(is_copied) {
                newest.make_copy(channel.sampling)?;
            }
            computed?;
        }
        Ok(())
    }

    /// Creates the buffer of a pass, unless it exists in the right size.
    fn make_room(&mut self, place: usize, sliders: &[f32]) -> Result<(), PlayError> {
        let pass = &self.program.passes[place];
        let Some(at) = pass.buffer else { return Ok(()) };
        let size = pass_size(pass, self.size, &self.program.sliders, sliders);
        if self.buffers.get(&at).is_none_or(|newest| newest.size != size) {
            let image = || self.driver.image(size, pass.fragment.is_float);
            let (newest, spare) = (image()?, image()?);
            self.buffers.insert(at, newest);
            self.spares.insert(at, spare);
        }
        Ok(())
    }

    fn compute_buffer(&self, place: usize, into: &mut Image, now: FrameValues<'_>) -> Result<(), PlayError> {
        let pass = &self.program.passes[place];
        match (&*self.passes[place], &self.driver, &mut into.memory) {
            (PassProgram::Kernel(kernel), Driver::Kernels(backend), ImageMemory::Kernels(memory)) => {
                let target = Target::image(memory.as_mut(), into.size, PixelFormat::Rgba32F)?;
                Ok(backend.launch(kernel.as_ref(), target, &self.arguments(pass, now))?)
            }
            (_, _, ImageMemory::Fragments(texture)) => self.draw(place, texture, into.size, now),
            _ => Ok(()),
        }
    }

    /// Calls `launch` with the picture's kernel and its arguments.
    ///
    /// # Errors
    /// Errors of the launch.
    pub fn compute_picture(
        &self,
        now: FrameValues<'_>,
        mut launch: impl FnMut(&dyn Kernel, &[Arg<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (Some(pass), Some(program)) = (self.program.passes.last(), self.passes.last()) else { return Ok(()) };
        let PassProgram::Kernel(kernel) = &**program else { return Ok(()) };
        launch(kernel.as_ref(), &self.arguments(pass, now))
    }

    /// Draws the picture of fragment shaders.
    ///
    /// # Errors
    /// Errors of OpenGL.
    pub fn draw_picture(&self, into: &Texture, now: FrameValues<'_>) -> Result<(), PlayError> {
        self.draw(self.passes.len().saturating_sub(1), into, self.size, now)
    }

    fn draw(&self, place: usize, into: &Texture, size: Extent, now: FrameValues<'_>) -> Result<(), PlayError> {
        let pass = &self.program.passes[place];
        let PassProgram::Fragment(program) = &*self.passes[place] else { return Ok(()) };
        // Shaders see one face of a cube.
        let seen = if pass.buffer == Some(CUBE) { Extent::new(size.height, size.height) } else { size };
        let (numbers, is_picture) = (uniforms(now.0, seen), pass.buffer.is_none());
        let mut inputs = DrawInputs { textures: Vec::new(), numbers, is_picture, pass: place };
        let mut sizes = Vec::new();
        for ((at, name), channel) in pass.fragment.names.iter().enumerate().zip(&pass.channels) {
            let read = channel.as_ref().and_then(|channel| Some((self.picture(channel)?, channel.sampling)));
            sizes.extend(read.map_or([0.0; 3], |(image, sampling)| {
                let [width, height] = [image.size.width, image.size.height].map(|side| side as f32);
                match sampling.shape {
                    TextureShape::Flat => [width, height, 1.0],
                    TextureShape::Cube => [height, height, 1.0],
                    TextureShape::Volume => [height, height, width / height],
                }
            }));
            inputs.textures.push(read.and_then(|(image, sampling)| match &image.memory {
                ImageMemory::Fragments(texture) => Some((texture, sampling)),
                ImageMemory::Kernels(_) => None,
            }));
            inputs.numbers.push((name.as_str(), vec![at as f32]));
        }
        inputs.numbers.push(("iChannelResolution", sizes));
        inputs.numbers.push(("PASSINDEX", vec![place as f32]));
        inputs.numbers.extend(slider_uniforms(&self.program.sliders, now.1));
        inputs.numbers.push(("shadertoy_out_opaque", vec![f32::from(u8::from(is_picture))]));
        into.gl.draw(program, into, &inputs)
    }

    fn arguments<'a>(&'a self, pass: &Pass, now: FrameValues<'_>) -> Vec<Arg<'a>> {
        let channels: [_; CHANNELS] = std::array::from_fn(|at| self.picture(pass.channels.get(at)?.as_ref()?));
        let sizes = channels.map(|image| image.map_or(Extent::new(0, 0), |image| image.size));
        let values = numbers(now, self.size, sizes);
        let memories = channels.map(|image| match &image?.memory {
            ImageMemory::Kernels(memory) => Some(memory.as_ref()),
            ImageMemory::Fragments(_) => None,
        });
        pass.params.iter().filter_map(|param| param.argument(&values, memories)).collect()
    }

    fn picture(&self, channel: &Channel) -> Option<&Image> {
        if let Source::Buffer(of) = channel.source {
            return self.buffers.get(&of);
        }
        Some(&self.pictures.iter().find(|picture| picture.channel == *channel)?.image)
    }
}

/// A name in an expression.
static NAME: Lazy<Regex> = lazy_regex!(r"\$[0-9A-Za-z_]+");

/// Returns the size of a pass. The shader may set it by expressions of the picture's size and the sliders.
fn pass_size(pass: &Pass, picture: Extent, sliders: &[Slider], values: &[f32]) -> Extent {
    let value = |name: &Captures<'_>| match &name[0] {
        "$WIDTH" => picture.width.to_string(),
        "$HEIGHT" => picture.height.to_string(),
        name => {
            let at = sliders.iter().position(|slider| slider.name == name[1..]);
            // Without a value, the expression is invalid.
            at.and_then(|at| values.get(at)).map_or_else(String::new, |value| format!("({value})"))
        }
    };
    let side = |text: &String, usual: u32| {
        // Most passes have none, and this runs in every frame.
        let text = Some(text).filter(|text| (1..LONGEST).contains(&text.len()));
        let side = text.and_then(|text| exmex::eval_str::<f64>(&NAME.replace_all(text, value)).ok());
        side.filter(|side| !side.is_nan()).map_or(usual.max(1), |side| side.clamp(1.0, MOST_SIDE) as u32)
    };
    let [width, height] = &pass.fragment.size;
    Extent::new(side(width, picture.width), side(height, picture.height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::error::Origin;
    use crate::pass::FragmentInfo;

    #[test]
    fn sizes_of_passes_are_expressions() {
        let slider = |name: &str| Slider { name: name.into(), ..Slider::read("// @slider n 0..9").unwrap().unwrap() };
        for (text, side) in [
            ("floor($WIDTH/3.0)", 213),
            ("max(floor($WIDTH*0.02),1.0)", 12),
            ("2*$n + 1", 7),
            ("-(4 - $n)", 1),
            ("$n +", 640),
            ("$m", 640),
            ("", 640),
            (&"(".repeat(99_999), 640),
        ] {
            let fragment = FragmentInfo { size: [text.to_owned(), String::new()], ..FragmentInfo::default() };
            let kernel =
                Pass::of_kernel(String::new(), Dialect::Isf, String::new(), Vec::new(), Origin::of("a".as_ref(), ""));
            let size = pass_size(&Pass { fragment, ..kernel }, Extent::new(640, 360), &[slider("n")], &[3.0]);
            assert_eq!(size, Extent::new(side, 360), "{text}");
        }
    }
}
