//! The passes of a filter, and the memory between them.

use super::choice::Filter;
use super::kernels::{RADIUS, weights};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Extent, Kernel, PixelFormat, Result, SurfaceDesc, Target, WriteFrame,
};
use pixelferry_media::film::Frame;
use std::sync::Arc;

/// Kernels and memory of one filter at one size.
pub struct Stages {
    filter: Filter,
    extent: Extent,
    /// The unfiltered frame, RGBA8.
    source: Box<dyn ComputeMemory>,
    /// Blurred along rows, RGBA32F.
    wide: Box<dyn ComputeMemory>,
    /// Blurred, RGBA8.
    blurred: Box<dyn ComputeMemory>,
    weights: Box<dyn ComputeMemory>,
    /// Y, U and V of a video frame; allocated for the first one.
    planes: Vec<Box<dyn ComputeMemory>>,
    rows: Arc<dyn Kernel>,
    columns: Arc<dyn Kernel>,
    sobel: Arc<dyn Kernel>,
    yuv: Arc<dyn Kernel>,
}

impl Stages {
    /// Allocates the memory. The kernels are in the order of [`super::kernels::all`].
    pub fn new(
        backend: &Arc<dyn ComputeBackend>,
        extent: Extent,
        filter: Filter,
        [rows, columns, sobel, yuv]: [Arc<dyn Kernel>; 4],
    ) -> Result<Self> {
        let weights_bytes: Vec<u8> = weights().iter().flat_map(|w| w.to_ne_bytes()).collect();
        let mut weights = backend.allocate(weights_bytes.len())?;
        weights.write(0, &weights_bytes)?;
        Ok(Self {
            filter,
            extent,
            source: image_memory(backend, extent, PixelFormat::Rgba8)?,
            wide: image_memory(backend, extent, PixelFormat::Rgba32F)?,
            blurred: image_memory(backend, extent, PixelFormat::Rgba8)?,
            weights,
            planes: Vec::new(),
            rows,
            columns,
            sobel,
            yuv,
        })
    }

    /// Tells where the unfiltered frame goes, RGBA8 with tight rows.
    pub fn source_mut(&mut self) -> &mut dyn ComputeMemory {
        self.source.as_mut()
    }

    /// Uploads a video frame and converts it to RGB on the device.
    pub fn load_yuv(&mut self, backend: &dyn ComputeBackend, frame: &Frame) -> Result<()> {
        let planes = frame.planes().planes();
        if self.planes.is_empty() {
            self.planes = planes.iter().map(|plane| backend.allocate(plane.range.len())).collect::<Result<_>>()?;
        }
        for (memory, plane) in self.planes.iter_mut().zip(planes) {
            memory.write(0, frame.bytes().get(plane.range).unwrap_or_default())?;
        }
        let [sx, sy] = frame.planes().layout().shift().unwrap_or_default().map(u32::cast_signed);
        let mut args: Vec<Arg<'_>> = self.planes.iter().map(|p| Arg::Memory(p.as_ref())).collect();
        args.extend([Arg::I32(sx), Arg::I32(sy)]);
        let target = Target::image(self.source.as_mut(), self.extent, PixelFormat::Rgba8)?;
        backend.launch(self.yuv.as_ref(), target, &args)
    }

    /// Filters the source into `frame`.
    pub fn run(&mut self, frame: &mut WriteFrame<'_>) -> Result<()> {
        if self.filter == Filter::Sobel {
            return frame.launch(self.sobel.as_ref(), &[Arg::Memory(self.source.as_ref()), Arg::F32(1.0)]);
        }
        let taps = [Arg::Memory(self.weights.as_ref()), Arg::I32(RADIUS)];
        let wide = Target::image(self.wide.as_mut(), self.extent, PixelFormat::Rgba32F)?;
        frame.backend().launch(self.rows.as_ref(), wide, &[Arg::Memory(self.source.as_ref()), taps[0], taps[1]])?;
        let columns = [Arg::Memory(self.wide.as_ref()), taps[0], taps[1]];
        if self.filter == Filter::Gaussian {
            return frame.launch(self.columns.as_ref(), &columns);
        }
        let blurred = Target::image(self.blurred.as_mut(), self.extent, PixelFormat::Rgba8)?;
        frame.backend().launch(self.columns.as_ref(), blurred, &columns)?;
        frame.launch(self.sobel.as_ref(), &[Arg::Memory(self.blurred.as_ref()), Arg::F32(2.0)])
    }
}

/// Allocates memory for `extent` pixels of `format`.
fn image_memory(
    backend: &Arc<dyn ComputeBackend>,
    extent: Extent,
    format: PixelFormat,
) -> Result<Box<dyn ComputeMemory>> {
    backend.allocate(SurfaceDesc::image(extent.width, extent.height, format).byte_len()?)
}
