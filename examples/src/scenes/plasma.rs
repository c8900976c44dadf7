//! An animated float image, turned into colours on the device.
//!
//! Two kernels: the first writes R32F into memory that is never shown, the second reads it and writes RGBA8.

use crate::scene::{Scene, SceneError};
use pixelferry::gl::{DrawOptions, GlDisplay, Viewport};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, CpuKernelExt, Display, Extent, ImageAccess, ImageDesc, Kernel, KernelSource,
    Link, LinkOptions, PixelFormat, SurfaceDesc, Target,
};
use std::rc::Rc;
use std::sync::Arc;

/// See the module.
pub struct Plasma {
    link: Link,
    field: Box<dyn ComputeMemory>,
    extent: Extent,
    waves: Arc<dyn Kernel>,
    colours: Arc<dyn Kernel>,
}

impl Plasma {
    /// Its kernels.
    pub fn sources() -> Vec<KernelSource> {
        vec![waves(), colours()]
    }

    /// A plasma of `width` x `height` pixels.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        (width, height): (u32, u32),
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let field = backend.allocate(SurfaceDesc::image(width, height, PixelFormat::R32F).byte_len("plasma")?)?;
        let (waves, colours) = (backend.build(&waves())?, backend.build(&colours())?);
        let link = Link::open(backend, display, SurfaceDesc::Image(image), options)?;
        Ok(Self { link, field, extent: image.extent, waves, colours })
    }
}

impl Scene for Plasma {
    fn name(&self) -> &'static str {
        "plasma"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let target = Target::image(self.field.as_mut(), self.extent, PixelFormat::R32F)?;
        self.link.backend().launch(self.waves.as_ref(), target, &[Arg::F32(seconds)])?;
        let mut frame = self.link.acquire()?;
        frame.launch(self.colours.as_ref(), &[Arg::Memory(self.field.as_ref())])?;
        frame.finish()?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        Ok(gl.draw(self.link.shown()?.surface(), viewport, DrawOptions::default())?)
    }
}

/// Interfering waves, each pixel in 0..=1.
fn waves() -> KernelSource {
    KernelSource::new("waves")
        .opencl_c(
            "kernel void waves(PF_IMAGE(float, out), float t) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x >= out_width || y >= out_height) return;
               float u = 12.0f * x / out_height, v = 12.0f * y / out_height;
               float cx = u - 10.5f - 3.0f * sin(0.4f * t), cy = v - 6.0f - 2.5f * cos(0.6f * t);
               float s = sin(u + t) + sin(0.7f * v - 1.3f * t) + sin(0.6f * (u + v) + 0.5f * t)
                       + sin(sqrt(cx * cx + cy * cy + 1.0f) * 1.7f - 2.0f * t);
               PF_STORE(out, x, y, 0.5f + 0.125f * s);
             }",
        )
        .cuda_cpp(
            "__global__ void waves(PF_IMAGE(float, out), float t) {
               int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
               if (x >= out_width || y >= out_height) return;
               float u = 12.0f * x / out_height, v = 12.0f * y / out_height;
               float cx = u - 10.5f - 3.0f * sinf(0.4f * t), cy = v - 6.0f - 2.5f * cosf(0.6f * t);
               float s = sinf(u + t) + sinf(0.7f * v - 1.3f * t) + sinf(0.6f * (u + v) + 0.5f * t)
                       + sinf(sqrtf(cx * cx + cy * cy + 1.0f) * 1.7f - 2.0f * t);
               PF_STORE(out, x, y, 0.5f + 0.125f * s);
             }",
        )
        .cpu_image(|out, args| {
            let t = args.f32(0)?;
            let height = out.height() as f32;
            out.par_pixels(|x, y| -> f32 {
                let (u, v) = (12.0 * x as f32 / height, 12.0 * y as f32 / height);
                let (cx, cy) = (u - 10.5 - 3.0 * (0.4 * t).sin(), v - 6.0 - 2.5 * (0.6 * t).cos());
                let s = (u + t).sin()
                    + (0.7 * v - 1.3 * t).sin()
                    + (0.6 * (u + v) + 0.5 * t).sin()
                    + ((cx * cx + cy * cy + 1.0).sqrt() * 1.7 - 2.0 * t).sin();
                0.5 + 0.125 * s
            })
        })
}

/// A cosine palette over the float image.
fn colours() -> KernelSource {
    KernelSource::new("colours")
        .opencl_c(
            "kernel void colours(PF_IMAGE(uchar4, out), global const float* field) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x >= out_width || y >= out_height) return;
               float p = 9.424778f * field[y * out_width + x];
               float3 c = 0.5f + 0.5f * cos(p * (float3)(1.0f, 1.0f, 0.8f) + (float3)(2.6f, 3.7f, 4.6f));
               PF_STORE(out, x, y, convert_uchar4_sat_rte((float4)(255.0f * c, 255.0f)));
             }",
        )
        .cuda_cpp(
            "__global__ void colours(PF_IMAGE(uchar4, out), const float* field) {
               int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
               if (x >= out_width || y >= out_height) return;
               float p = 9.424778f * field[y * out_width + x];
               PF_STORE(out, x, y, make_uchar4(pf_unorm8(0.5f + 0.5f * cosf(p + 2.6f)),
                                               pf_unorm8(0.5f + 0.5f * cosf(p + 3.7f)),
                                               pf_unorm8(0.5f + 0.5f * cosf(0.8f * p + 4.6f)), 255));
             }",
        )
        .cpu_image(|out, args| {
            let field = args.memory::<f32>(0)?;
            let width = out.width() as usize;
            out.par_pixels(|x, y| {
                let p = 1.5 * std::f32::consts::TAU * field[y as usize * width + x as usize];
                let channel =
                    |k: f32, phase: f32| ((0.5 + 0.5 * (p * k + phase).cos()) * 255.0).round_ties_even() as u8;
                [channel(1.0, 2.6), channel(1.0, 3.7), channel(0.8, 4.6), 255]
            })
        })
}
