//! Plans a launch: parameters and a grid, from a target and arguments according to the entry's PTX.

use crate::signature::{Class, Param};
use interop_core::describe::words::counted;
use interop_core::{Arg, BufferView, ComputeMemory, Error, Extent, ImageView, Result};

/// Threads of a block for images: one warp wide, so that a row's pixels are written together.
const IMAGE_BLOCK: [u32; 2] = [32, 8];
/// Threads of a block for buffers.
const BUFFER_BLOCK: u32 = 256;
/// Largest number of blocks across and down, on every device.
const MAX_GRID: [u64; 2] = [i32::MAX as u64, 65_535];

/// Blocks and threads in each dimension that is used (`gridDim`, `blockDim` of `cuLaunchKernel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Number of blocks across and down (`gridDimX`, `gridDimY` of `cuLaunchKernel`).
    pub grid: [u32; 2],
    /// Number of threads of a block across and down (`blockDimX`, `blockDimY` of `cuLaunchKernel`).
    pub block: [u32; 2],
}

/// Parameter values in the form of `kernelParams` of `cuLaunchKernel`; each value starts at a multiple of 8 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params {
    words: Vec<u64>,
    /// Index of the word at which each parameter starts.
    starts: Vec<usize>,
}

impl Params {
    /// Adds one parameter, as 64-bit words. Narrower values lie in the low bytes, where little-endian hosts (all that
    /// CUDA supports) expect them.
    pub fn push(&mut self, words: &[u64]) {
        self.starts.push(self.words.len());
        self.words.extend_from_slice(words);
    }

    /// Iterates over the values, each with at least as many words as it has.
    pub fn values(&self) -> impl Iterator<Item = &[u64]> {
        self.starts.iter().map(|at| self.words.get(*at..).unwrap_or_default())
    }
}

/// An entry for which launches are planned.
pub struct Planner<'a> {
    pub kernel: &'a str,
    pub params: &'a [Param],
    pub max_threads: u32,
    /// Returns the address of a memory argument.
    pub address_of: &'a dyn Fn(&dyn ComputeMemory) -> Result<u64>,
}

impl Planner<'_> {
    /// Plans a launch for an image; `first` is the address of pixel (0, 0).
    pub fn image(&self, first: u64, pitch: i64, view: &ImageView, args: &[Arg<'_>]) -> Result<(Geometry, Params)> {
        let pixel = view.format.bytes_per_pixel() as u64;
        if !(first.is_multiple_of(pixel) && pitch.unsigned_abs().is_multiple_of(pixel)) {
            return Err(Error::refused(format!("{view:?} is not aligned to its pixels of {pixel} bytes")));
        }
        let [width, height] = sides(view.extent)?;
        let target: [(&[u64], usize); 4] = [(&[first], 8), (&[pitch as u64], 8), (&[width], 4), (&[height], 4)];
        Ok((self.image_geometry(view.extent)?, self.values("PF_IMAGE", &target, args)?))
    }

    /// Plans a launch for a texture; `surface` is the prelude's `pf_surface` in words.
    pub fn surface(&self, surface: [u64; 3], extent: Extent, args: &[Arg<'_>]) -> Result<(Geometry, Params)> {
        let [width, height] = sides(extent)?;
        let target: [(&[u64], usize); 3] = [(&surface, 24), (&[width], 4), (&[height], 4)];
        Ok((self.image_geometry(extent)?, self.values("PF_IMAGE", &target, args)?))
    }

    /// Plans a launch for a buffer; `memory` is the address of the memory's first byte, and `items` is set by the
    /// source or the launch.
    pub fn buffer(
        &self,
        memory: u64,
        view: &BufferView,
        items: Option<usize>,
        args: &[Arg<'_>],
    ) -> Result<(Geometry, Params)> {
        let items = items.unwrap_or(view.len.div_ceil(4)) as u64;
        let threads = BUFFER_BLOCK.min(self.max_threads);
        let blocks = items.div_ceil(u64::from(threads));
        if blocks == 0 || blocks > MAX_GRID[0] {
            return Err(Error::refused(format!(
                "a launch takes 1 to {} work items; {items} were given",
                u64::from(threads) * MAX_GRID[0]
            )));
        }
        let target: [(&[u64], usize); 2] = [(&[memory + view.offset as u64], 8), (&[view.len as u64], 8)];
        let geometry = Geometry { grid: [blocks as u32, 1], block: [threads, 1] };
        Ok((geometry, self.values("PF_BUFFER", &target, args)?))
    }

    fn image_geometry(&self, extent: Extent) -> Result<Geometry> {
        let [width, most_rows] = IMAGE_BLOCK;
        let width = width.min(self.max_threads);
        let rows = (self.max_threads / width).clamp(1, most_rows);
        let grid = [extent.width.div_ceil(width), extent.height.div_ceil(rows)];
        if u64::from(grid[1]) > MAX_GRID[1] {
            return Err(Error::refused(format!(
                "{extent} has more rows than one launch supports; use several launches"
            )));
        }
        Ok(Geometry { grid, block: [width, rows] })
    }

    /// Returns the target's parameters as (value, bytes), then the user's, after comparing each with the entry's own.
    fn values(&self, kind: &str, target: &[(&[u64], usize)], args: &[Arg<'_>]) -> Result<Params> {
        let (name, mut values) = (self.kernel, Params::default());
        let found = self.params.get(..target.len());
        let fits = found.is_some_and(|found| {
            found.iter().zip(target).all(|(p, (_, bytes))| p.bytes == *bytes && p.class != Class::Float)
                // In C++ a buffer's length is a structure, while an image's pitch is not.
                && (kind == "PF_BUFFER" || target.len() == 3 || found[1].class != Class::Structure)
        });
        if !fits {
            let found: Vec<_> = self.params.iter().take(target.len()).map(|p| p.describe()).collect();
            return Err(Error::refused(format!(
                "the first parameters of kernel '{name}' ({}) are not those of {kind}, which this target needs",
                found.join(", ")
            )));
        }
        target.iter().for_each(|(words, _)| values.push(words));
        let wanted = self.params.get(target.len()..).unwrap_or_default();
        if wanted.len() != args.len() {
            return Err(Error::refused(format!(
                "kernel '{name}' takes {} after the target, but {} were given",
                counted(wanted.len(), "argument"),
                args.len()
            )));
        }
        for (index, (arg, param)) in args.iter().zip(wanted).enumerate() {
            if !accepts(*param, arg) {
                return Err(Error::refused(format!(
                    "argument {index} of kernel '{name}' is {}, but the kernel takes {} there",
                    arg.kind(),
                    param.describe()
                )));
            }
            let value = match arg {
                // As a 32-bit pattern: the kernel reads only the low half of the word.
                Arg::I32(v) => u64::from(v.cast_unsigned()),
                Arg::U32(v) => u64::from(*v),
                Arg::F32(v) => u64::from(v.to_bits()),
                Arg::I64(v) => v.cast_unsigned(),
                Arg::U64(v) => *v,
                Arg::F64(v) => v.to_bits(),
                Arg::Memory(memory) => (self.address_of)(*memory)?,
                _ => return Err(Error::refused(format!("CUDA does not support the kind of argument {index}"))),
            };
            values.push(&[value]);
        }
        Ok(values)
    }
}

/// Returns both sides as `int`.
fn sides(extent: Extent) -> Result<[u64; 2]> {
    let int = |n: u32| i32::try_from(n).map(|n| n as u64);
    match (int(extent.width), int(extent.height)) {
        (Ok(width), Ok(height)) => Ok([width, height]),
        _ => Err(Error::refused(format!("{extent} has a side larger than {}", i32::MAX))),
    }
}

fn accepts(param: Param, arg: &Arg<'_>) -> bool {
    let (bytes, class) = match arg {
        Arg::I32(_) | Arg::U32(_) => (4, Class::Integer),
        Arg::F32(_) => (4, Class::Float),
        Arg::F64(_) => (8, Class::Float),
        Arg::Memory(_) if param.class == Class::Pointer => (8, Class::Pointer),
        _ => (8, Class::Integer),
    };
    param.bytes == bytes && (param.class == class || param.class == Class::Bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature;
    use interop_core::PixelFormat;

    #[test]
    fn launches_are_planned_without_a_driver() {
        let text = ".visible .entry grey(.param .u64 .ptr .global .align 4 out, .param .s64 pitch, .param .s32 w, \
                    .param .s32 h, .param .f32 level) { ret; }";
        let params = signature::of_entry(text, "grey").unwrap();
        let planner = Planner { kernel: "grey", params: &params, max_threads: 256, address_of: &|_| Ok(0) };
        let view = ImageView { offset: 0, row_pitch: 512, extent: Extent::new(100, 20), format: PixelFormat::Rgba8 };
        let (geometry, params) = planner.image(4160, 512, &view, &[Arg::F32(0.5)]).unwrap();
        assert_eq!(geometry, Geometry { grid: [4, 3], block: [32, 8] });
        let values: Vec<u64> = params.values().map(|value| value[0]).collect();
        assert_eq!(values, [4160, 512, 100, 20, u64::from(0.5f32.to_bits())]);
        assert!(planner.image(4160, 512, &view, &[Arg::I32(1)]).is_err());
    }

    #[test]
    fn a_pointer_takes_no_number_where_the_text_tells_pointers() {
        let wide = [Arg::U64(4096), Arg::I64(4096), Arg::F64(0.0)];
        assert!(wide.iter().all(|arg| !accepts(Param { bytes: 8, class: Class::Pointer }, arg)));
        // Without `.ptr` a pointer is an integer like any other.
        let accepted = wide.each_ref().map(|arg| accepts(Param { bytes: 8, class: Class::Integer }, arg));
        assert_eq!(accepted, [true, true, false]);
    }
}
