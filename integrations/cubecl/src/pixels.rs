//! [`Pixels`].

use crate::error::call;
use cubecl_core::client::Client;
use cubecl_core::prelude::{BufferArg, CubeCount, CubeDim};
use cubecl_core::server::{Handle, ServerError};
use pixelferry::api::wgpu::WgpuDevice;
use pixelferry::{Error, Extent, Result, Target};

/// Units per cube, in a row.
const UNITS: u32 = 256;

/// Number of cubes along one dimension that every device supports.
const MOST_CUBES: u32 = 65_535;

/// A picture in CubeCL memory: one `u32` per pixel, top row first, without gaps.
pub struct Pixels {
    handle: Handle,
    count: u32,
}

impl Pixels {
    pub(crate) fn new(device: &WgpuDevice, client: &Client, extent: Extent) -> Result<Self> {
        const OP: &str = "CubeGuest::pixels";
        let count = extent.width.checked_mul(extent.height).filter(|count| *count > 0);
        let count = count.ok_or_else(|| {
            Error::invalid(OP, format!("invalid size {extent}: a side is zero, or 32 bits cannot count the pixels"))
        })?;
        let bytes = count as usize * size_of::<u32>();
        let handle = call(device, OP, || Ok::<_, ServerError>(client.empty(bytes)))?;
        Ok(Self { handle, count })
    }

    /// A kernel's argument `&mut [u32]`.
    pub fn arg(&self) -> BufferArg {
        // SAFETY: the memory was allocated for this many words.
        unsafe { BufferArg::from_raw_parts(self.handle.clone(), self.count as usize) }
    }

    /// Number of cubes of [`Pixels::cube`] that give each pixel a unit at `ABSOLUTE_POS`; there may be more units than
    /// pixels.
    pub fn cubes(&self) -> CubeCount {
        let cubes = self.count.div_ceil(UNITS);
        let across = cubes.min(MOST_CUBES);
        CubeCount::Static(across, cubes.div_ceil(across), 1)
    }

    /// The shape of one cube.
    pub fn cube(&self) -> CubeDim {
        CubeDim::new_1d(UNITS)
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Checks that a frame has exactly this many bytes: memory after them belongs to others.
    pub(crate) fn check(&self, target: &Target<'_>) -> Result<()> {
        let (has, takes) = (self.count as usize * size_of::<u32>(), target.view().payload_len());
        if has == takes {
            return Ok(());
        }
        Err(Error::invalid("CubeGuest::copy", format!("the picture has {has} bytes, but the frame needs {takes}")))
    }
}
