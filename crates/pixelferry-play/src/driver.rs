//! What computes a program: a backend its kernels, or OpenGL its fragment shaders; and a picture in memory of either.

use crate::error::PlayError;
use crate::gl::{Depth, Gl, Texture};
use pixelferry::{ComputeBackend, ComputeMemory, Extent};
use std::sync::Arc;

/// What computes a program.
#[derive(Clone)]
pub enum Driver {
    Kernels(Arc<dyn ComputeBackend>),
    Fragments(Gl),
}

/// Pixels on the host, rows from the top.
#[derive(Clone, Copy)]
pub enum Pixels<'a> {
    /// Red, green, blue and alpha, a byte each.
    Bytes(&'a [u8]),
    Floats(&'a [[f32; 4]]),
}

impl Pixels<'_> {
    /// Most bytes of a pixel.
    pub const MOST: usize = size_of::<[f32; 4]>();
}

/// A picture in memory of a driver.
pub struct Stored {
    pub memory: StoredMemory,
    pub size: Extent,
    /// Row 0 of a texture is the one at the top.
    is_turned: bool,
    has_levels: bool,
}

/// Memory of a picture.
pub enum StoredMemory {
    /// Four floats a pixel, rows from the top.
    Kernels(Box<dyn ComputeMemory>),
    Fragments(Texture),
}

impl Stored {
    pub fn new(
        driver: &Driver,
        size: Extent,
        pixels: Pixels<'_>,
        is_turned: bool,
        has_levels: bool,
    ) -> Result<Self, PlayError> {
        let memory = match driver {
            Driver::Kernels(backend) => {
                let bytes = (size.pixels() as usize).saturating_mul(Pixels::MOST);
                StoredMemory::Kernels(backend.allocate(bytes)?)
            }
            Driver::Fragments(gl) => StoredMemory::Fragments(gl.texture(Extent::new(1, 1), Depth::Bytes, None)?),
        };
        let mut stored = Self { memory, size, is_turned, has_levels };
        stored.replace(driver, size, pixels)?;
        Ok(stored)
    }

    /// Puts other pixels there, of which there may be more or fewer.
    pub fn replace(&mut self, driver: &Driver, size: Extent, pixels: Pixels<'_>) -> Result<(), PlayError> {
        match (driver, &mut self.memory) {
            (Driver::Kernels(backend), StoredMemory::Kernels(memory)) => {
                if size != self.size {
                    *memory = backend.allocate((size.pixels() as usize).saturating_mul(Pixels::MOST))?;
                }
                write(memory.as_mut(), pixels)?;
            }
            (Driver::Fragments(gl), StoredMemory::Fragments(texture)) => {
                let (depth, bytes): (_, &[u8]) = match pixels {
                    Pixels::Bytes(bytes) => (Depth::Bytes, bytes),
                    Pixels::Floats(floats) => (Depth::Floats, bytemuck::cast_slice(floats)),
                };
                let row = (bytes.len() / size.height.max(1) as usize).max(1);
                if self.is_turned {
                    gl.fill(texture, size, depth, bytes)?;
                } else {
                    gl.fill(texture, size, depth, &bytes.chunks(row).rev().collect::<Vec<_>>().concat())?;
                }
                if self.has_levels {
                    gl.level(texture)?;
                }
            }
            _ => {}
        }
        self.size = size;
        Ok(())
    }
}

/// Writes pixels, some at a time: all as floats would be another copy of a large picture.
fn write(memory: &mut dyn ComputeMemory, pixels: Pixels<'_>) -> Result<(), PlayError> {
    const TOGETHER: usize = 1 << 16;
    let bytes = match pixels {
        Pixels::Floats(floats) => return Ok(memory.write(0, bytemuck::cast_slice(floats))?),
        Pixels::Bytes(bytes) => bytes,
    };
    for (n, some) in bytes.chunks(4 * TOGETHER).enumerate() {
        let floats: Vec<f32> = some.iter().map(|part| f32::from(*part) / 255.0).collect();
        memory.write(n * TOGETHER * Pixels::MOST, bytemuck::cast_slice(&floats))?;
    }
    Ok(())
}
