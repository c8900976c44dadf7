//! What computes a program: a backend for its kernels, or OpenGL for its fragment shaders; and pixels in its memory.

use crate::error::PlayError;
use crate::gl::{Gl, Program, SamplerState, Texture};
use crate::pass::{Pass, TextVoucher};
use crate::text::{COLOUR, TRIANGLE, as_compute};
use pixelferry::{ComputeBackend, ComputeMemory, Error, Extent, Kernel};
use std::sync::Arc;

/// What computes a program.
#[derive(Clone)]
pub enum Driver {
    Kernels(Arc<dyn ComputeBackend>),
    Fragments(Gl),
}

/// A pass that was built.
pub enum PassProgram {
    Kernel(Arc<dyn Kernel>),
    Fragment(Program),
}

/// Pixels in memory of a driver.
pub struct Image {
    pub memory: ImageMemory,
    pub size: Extent,
    /// The pixels are four floats each on the host, instead of four bytes.
    pub is_float: bool,
}

pub enum ImageMemory {
    /// Four floats per pixel, top row first.
    Kernels(Box<dyn ComputeMemory>),
    Fragments(Texture),
}

/// Bytes of a pixel of floats.
pub const PIXEL: usize = size_of::<[f32; 4]>();
/// Bytes that are converted to floats at once.
const PART: usize = 1 << 18;

impl Driver {
    /// Builds a pass.
    ///
    /// # Errors
    /// [`PlayError::Faults`] for an invalid shader, and errors of the driver.
    pub fn build(&self, pass: &Pass, vouched: TextVoucher) -> Result<PassProgram, PlayError> {
        match self {
            Self::Kernels(backend) => match backend.build(&pass.source(vouched)) {
                Err(Error::KernelBuild { log, .. }) => Err(PlayError::Faults(pass.origin.faults(&log, &pass.text))),
                built => Ok(PassProgram::Kernel(built?)),
            },
            Self::Fragments(gl) => {
                let own = pass.fragment.vertex.as_ref();
                let (vertices, origin) = own.map_or((TRIANGLE, &pass.origin), |(text, origin)| (text, origin));
                let fault = |is_vertex: bool, log: String| {
                    let (origin, text) = if is_vertex { (origin, vertices) } else { (&pass.origin, &*pass.text) };
                    PlayError::Faults(origin.faults(&log.replace(COLOUR[1], COLOUR[0]), text))
                };
                let has_levels = pass.channels.iter().flatten().any(|channel| channel.sampling.has_levels);
                let has_rival = own.is_none() && gl.has_rivals(has_levels);
                let rival = has_rival.then(|| as_compute(&pass.text)).flatten();
                let mut first = None;
                for version in gl.versions(pass.fragment.is_strict) {
                    let stages = [vertices, &pass.text].map(|text| format!("{version}{text}"));
                    match gl.program([&stages[0], &stages[1]], own.is_some(), fault) {
                        Err(PlayError::Faults(faults)) => first = first.or(Some(faults)),
                        built => {
                            let mut program = built?;
                            rival.iter().for_each(|text| gl.add_rival(&mut program, text, [vertices, &pass.text]));
                            return Ok(PassProgram::Fragment(program));
                        }
                    }
                }
                Err(PlayError::Faults(first.unwrap_or_default()))
            }
        }
    }

    /// Allocates pixels, which are zero.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn image(&self, size: Extent, is_float: bool) -> Result<Image, PlayError> {
        let memory = match self {
            Self::Kernels(backend) => {
                let bytes = (size.pixels() as usize).saturating_mul(PIXEL);
                let mut memory = backend.allocate(bytes)?;
                memory.write(0, &vec![0; bytes])?;
                ImageMemory::Kernels(memory)
            }
            Self::Fragments(gl) => ImageMemory::Fragments(gl.texture(size, is_float)?),
        };
        Ok(Image { memory, size, is_float })
    }

    /// Replaces all pixels of an image, top row first, and its memory if the size is another. `is_turned` puts the top
    /// row at the bottom of a texture, where shaders see row 0.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn fill(&self, image: &mut Image, size: Extent, pixels: &[u8], is_turned: bool) -> Result<(), PlayError> {
        if image.size != size {
            *image = self.image(size, image.is_float)?;
        }
        match &mut image.memory {
            ImageMemory::Fragments(texture) if is_turned => texture.fill(pixels),
            ImageMemory::Fragments(texture) => {
                let row = (pixels.len() / size.height.max(1) as usize).max(1);
                texture.fill(&pixels.chunks(row).rev().flatten().copied().collect::<Vec<_>>())
            }
            ImageMemory::Kernels(memory) if image.is_float => Ok(memory.write(0, pixels)?),
            ImageMemory::Kernels(memory) => {
                // In parts: a copy with all pixels as floats would be large.
                for (n, some) in pixels.chunks(PART).enumerate() {
                    let floats: Vec<f32> = some.iter().map(|part| f32::from(*part) / 255.0).collect();
                    memory.write(n * PART * size_of::<f32>(), bytemuck::cast_slice(&floats))?;
                }
                Ok(())
            }
        }
    }
}

impl Image {
    /// Copies a texture to the shape in which shaders read it, if it has one.
    ///
    /// # Errors
    /// Errors of OpenGL.
    pub fn make_copy(&mut self, sampling: SamplerState) -> Result<(), PlayError> {
        match &mut self.memory {
            ImageMemory::Fragments(texture) if sampling.needs_copy() => texture.make_copy(sampling.shape),
            _ => Ok(()),
        }
    }
}
