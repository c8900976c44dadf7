//! One frame through a [`Link`].

use super::Subject;
use pixelferry::gl_display::GlDisplay;
use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt, Display, ImageAccess, ImageDesc, Kernel, KernelSource, Link, LinkOptions,
    PathId, PixelFormat, Policy, RowOrder, SurfaceDesc, Unwritten,
};
use std::rc::Rc;
use std::sync::Arc;

pub struct Framework {
    link: Link,
    kernel: Option<Arc<dyn Kernel>>,
    n: u32,
}

impl Framework {
    pub fn open(
        backend: &Arc<dyn ComputeBackend>,
        gl: &Rc<GlDisplay>,
        path: PathId,
        width: u32,
        height: u32,
        with_kernel: bool,
    ) -> pixelferry::Result<Self> {
        // The display's own row order, and all pixels overwritten, as in the program written by hand.
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8)
            .with_access(ImageAccess::Any)
            .with_row_order(RowOrder::BottomUp)
            .with_unwritten(Unwritten::Overwrite);
        let options = LinkOptions::new(Policy::default().with_force(path));
        let display = Rc::clone(gl) as Rc<dyn Display>;
        let link = Link::open(Arc::clone(backend), display, SurfaceDesc::Image(image), options)?;
        let kernel = if with_kernel { Some(backend.build(&source())?) } else { None };
        Ok(Self { link, kernel, n: 0 })
    }
}

impl Subject for Framework {
    fn frame(&mut self) {
        self.n += 1;
        let mut frame = self.link.acquire().expect("acquire");
        if let Some(kernel) = &self.kernel {
            frame.launch(kernel.as_ref(), &[Arg::U32(self.n)]).expect("launch");
        }
        frame.finish().expect("finish");
    }
}

fn source() -> KernelSource {
    let text = "kernel void ramp(PF_IMAGE(uchar4, out), uint n) {
                  int x = get_global_id(0), y = get_global_id(1);
                  if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x + n, y, n, 255));
                }";
    // SAFETY: it writes pixels below the width and height only, and takes a number.
    let source = unsafe { KernelSource::new("ramp").opencl_c(text) };
    source.cpu_image(|out, args| {
        let n = args.u32(0)?;
        out.par_pixels(|x, y| [(x + n) as u8, y as u8, n as u8, 255])
    })
}
