//! What jobs on the layer's thread use.

use super::functions::{Gl, RobustGl};
use super::pixels::PixelRows;
use crate::codes::{INVALID_GL_OBJECT, OUT_OF_HOST_MEMORY};
use crate::explain::refuse;
use std::collections::HashMap;

const MAX_UNITS: u32 = 0x8B4D;

/// The layer's own OpenGL context, current on the layer's thread.
pub struct WorkContext {
    pub gl: Gl,
    pub robust: Option<RobustGl>,
    pub units: TextureUnits,
}

impl WorkContext {
    /// Returns the error that OpenGL has recorded since the last call.
    pub fn check(&self, what: &str) -> Result<(), i32> {
        match self.gl.error() {
            None => Ok(()),
            Some(error) => Err(refuse(INVALID_GL_OBJECT, format_args!("OpenGL error {error:#x} while {what}"))),
        }
    }

    /// Describes the layout of rows to OpenGL, or refuses them.
    pub fn describe(&self, rows: &PixelRows<'_>) -> Result<(), i32> {
        if rows.describe(&self.gl) {
            return Ok(());
        }
        Err(refuse(OUT_OF_HOST_MEMORY, "OpenGL cannot express the layout of the rows"))
    }
}

/// Texture units of the layer's own context. Each unit keeps textures bound, one per target, so that their storage
/// survives when the program deletes the name. The first unit is for textures that find no free unit.
#[derive(Debug)]
pub struct TextureUnits {
    count: u32,
    /// By target: the first unit that was never used, and returned units.
    given: HashMap<u32, (u32, Vec<u32>)>,
}

impl TextureUnits {
    pub fn new(gl: &Gl) -> Self {
        Self { count: gl.integer(MAX_UNITS).max(1).cast_unsigned(), given: HashMap::new() }
    }

    pub fn take(&mut self, binding: u32) -> Option<u32> {
        let (next, free) = self.given.entry(binding).or_insert((1, Vec::new()));
        free.pop().or_else(|| {
            *next += 1;
            (*next <= self.count).then_some(*next - 1)
        })
    }

    pub fn give_back(&mut self, binding: u32, unit: u32) {
        if let Some((_, free)) = self.given.get_mut(&binding) {
            free.push(unit);
        }
    }
}
