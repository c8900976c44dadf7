//! Runs a custom kernel over a film: the strength of edges in each of its frames.

use pixelferry::{
    Arg, BackendChoice, CpuKernelExt as _, Extent, InitialContent, KernelSource, LinkBuilder, OpenedLink, PixelFormat,
    Scratch, SurfaceDesc, Unwritten, picture,
};
use pixelferry_media::film::{Film, FilmError, Form, Source, SourceError};
use pixelferry_media::record::{FilmSummary, Output, RecordError, RecordOptions, Recorder};

/// Returns the kernel. It adds the differences of luma across and down, in a frame of the target's size.
pub fn edges() -> KernelSource {
    let opencl = "
        float luma(global const uchar4 *frame, int x, int y, int width, int height) {
          float4 p = convert_float4(frame[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)]);
          return (0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z) / 255.0f;
        }
        kernel void edges(PF_IMAGE(uchar4, out), global const uchar4 *frame) {
          int x = get_global_id(0), y = get_global_id(1), w = out_width, h = out_height;
          if (x >= w || y >= h) return;
          float v = fabs(luma(frame, x + 1, y, w, h) - luma(frame, x - 1, y, w, h))
                  + fabs(luma(frame, x, y + 1, w, h) - luma(frame, x, y - 1, w, h));
          PF_STORE(out, x, y, pf_rgba8((float3)(v, v, v), 1.0f));
        }";
    let wgsl = "
        @group(1) @binding(0) var<storage, read> frame: array<u32>;
        fn luma(x: i32, y: i32) -> f32 {
          let size = vec2<i32>(pf_size());
          let p = unpack4x8unorm(frame[clamp(y, 0, size.y - 1) * size.x + clamp(x, 0, size.x - 1)]);
          return dot(p.rgb, vec3<f32>(0.2126, 0.7152, 0.0722));
        }
        @compute @workgroup_size(8, 8) fn edges(@builtin(global_invocation_id) id: vec3<u32>) {
          let x = i32(id.x);
          let y = i32(id.y);
          let v = abs(luma(x + 1, y) - luma(x - 1, y)) + abs(luma(x, y + 1) - luma(x, y - 1));
          pf_store(id.xy, vec4<f32>(v, v, v, 1.0));
        }";
    // SAFETY: each work item stores its own pixel, below the width and height, and reads a frame of that size by places within it.
    let c = unsafe { KernelSource::new("edges").opencl_c(opencl) };
    c.wgsl(wgsl).cpu_image(|out, args| {
        let frame = args.memory::<[u8; 4]>(0)?;
        let size = Extent::new(out.width(), out.height());
        out.par_pixels(|x, y| edge(frame, size, x, y))
    })
}

/// Returns the kernel's result for a pixel.
pub fn edge(frame: &[[u8; 4]], size: Extent, x: u32, y: u32) -> [u8; 4] {
    let luma = |dx: i32, dy: i32| {
        let inside = |at: u32, by: i32, side: u32| at.saturating_add_signed(by).min(side - 1) as usize;
        let at = inside(y, dy, size.height) * size.width as usize + inside(x, dx, size.width);
        let [red, green, blue, _] = frame[at].map(f32::from);
        (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255.0
    };
    let v = (luma(1, 0) - luma(-1, 0)).abs() + (luma(0, 1) - luma(0, -1)).abs();
    let v = (255.0 * v.min(1.0) + 0.5) as u8;
    [v, v, v, 255]
}

/// The reason why a film's edges cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The film cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A frame cannot be copied into the backend's memory.
    #[error(transparent)]
    Film(#[from] FilmError),
    /// The film of edges cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The backend cannot run the kernel.
    #[error(transparent)]
    Driver(#[from] pixelferry::Error),
    /// The film has no frame.
    #[error("the film has no frame")]
    Empty,
    /// The frame with this number has another size, but the kernel reads as many pixels as it writes.
    #[error("frame {0} has another size than the first one")]
    Size(u64),
}

/// Records the edges of each frame of a film.
///
/// # Errors
/// [`Failure`] says which step failed.
pub fn record(mut source: Source, backend: BackendChoice, output: Output) -> Result<FilmSummary, Failure> {
    let size = source.peek()?.ok_or(Failure::Empty)?.extent();
    let rate = (1.0 / source.period().as_secs_f64()).round() as u32;
    let surface = SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    // The memory that the link measures with.
    let frame = Scratch::Memory(InitialContent::Zeros(surface.byte_len()?));
    let builder = LinkBuilder::new(surface).launch(&edges(), [frame]).backend(backend);
    let OpenedLink { kernels, mut link, .. } = builder.open()?;
    let mut film = Film::new(source, Form::Rgba8, link.backend());
    let mut recorder = Recorder::create(output, RecordOptions::default().with_rate(rate.max(1)).with_step(true))?;
    while let Some(frame) = film.next_frame()? {
        if frame.extent() != size {
            return Err(Failure::Size(frame.number()));
        }
        link.frame(|next| next.launch(kernels[0].as_ref(), &[Arg::Memory(frame.memory())]))?;
        recorder.put_picture(picture(&mut link)?)?;
    }
    Ok(recorder.finish()?)
}

/// Returns a film in Y4M: a disc that moves to the right, at 25 frames a second.
pub fn made(size: Extent, frames: u32) -> Vec<u8> {
    let mut film = format!("YUV4MPEG2 W{} H{} F25:1 Cmono XCOLORRANGE=FULL\n", size.width, size.height).into_bytes();
    for frame in 0..frames {
        film.extend(b"FRAME\n");
        let [x, y] = [size.width * (frame + 1) / (frames + 1), size.height / 2].map(f64::from);
        let pixels = (0..size.height).flat_map(|row| (0..size.width).map(move |column| (column, row)));
        film.extend(pixels.map(|(column, row)| {
            let far = (f64::from(column) - x).hypot(f64::from(row) - y);
            (f64::from(size.height) * 10.0 - 40.0 * far).clamp(20.0, 230.0) as u8
        }));
    }
    film
}
