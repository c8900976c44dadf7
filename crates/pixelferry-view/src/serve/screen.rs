//! The picture that a page shows, off screen, and its way from there to messages.

use crate::error::ViewError;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::api::gl::{EngineTexture, GlDisplay, OffscreenTarget};
use pixelferry::{ComputeBackend, Display, Error, Extent, ImageDesc, Intake, PixelFormat, RowOrder, Support};
use pixelferry_media::wire::{Codec, Header, Kind};
use pixelferry_media::{GpuJpeg, GpuJpegError};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Quality of JPEGs.
const QUALITY: u8 = 90;

/// A place to draw into, and what packs it.
pub struct Screen {
    // Before the target, whose texture it reads.
    way: Way,
    target: OffscreenTarget,
    display: Rc<GlDisplay>,
    header: Header,
    /// Packer of JPEGs, in words.
    encoder: String,
}

enum Way {
    /// No JPEG was asked for yet.
    Untried,
    /// Its first picture is still to be compared.
    Opened(Box<OnGpu>),
    Gpu(Box<OnGpu>),
    Host,
}

/// The way of the texture to memory of CUDA's, and the encoder there.
struct OnGpu {
    intake: Intake,
    jpeg: GpuJpeg,
}

impl OnGpu {
    fn open(display: &Rc<GlDisplay>, target: &OffscreenTarget, size: Extent) -> Result<Self, GpuJpegError> {
        GpuJpeg::available()?;
        let backend = CudaBackend::open_best_for(display.device())?;
        if let Support::No(reason) = backend.device().same_device(display.device()) {
            return Err(Error::invalid("GpuJpeg", format!("OpenGL draws elsewhere: {reason}")).into());
        }
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let texture = EngineTexture::new(target.texture().0.get(), size);
        // SAFETY: the texture is the target's, which `Screen` drops after this, and nobody gives it another storage. One context
        // uses it, that of the display.
        let surface = unsafe { display.engine_image(texture, target.format()) }?;
        let jpeg = GpuJpeg::open(Arc::clone(&backend), size, QUALITY)?;
        let intake = Intake::open(backend, Rc::clone(display) as Rc<dyn Display>, surface)?;
        Ok(Self { intake, jpeg })
    }

    fn pack(&mut self) -> Result<Vec<u8>, GpuJpegError> {
        // OpenGL's rows begin at the bottom.
        self.jpeg.pack(self.intake.take()?.memory(), RowOrder::BottomUp)
    }
}

impl Screen {
    /// A screen of this size; JPEGs are packed on the host alone, unless `may_use_gpu`.
    pub fn new(display: &Rc<GlDisplay>, size: Extent, may_use_gpu: bool) -> Result<Self, ViewError> {
        let image = ImageDesc::new(size.width, size.height, PixelFormat::Rgba8);
        let mut header = Header::new(Kind::Picture, image, size.full());
        header.epoch = micros();
        Ok(Self {
            way: if may_use_gpu { Way::Untried } else { Way::Host },
            target: display.create_offscreen_target(size.width, size.height)?,
            display: Rc::clone(display),
            header,
            encoder: if may_use_gpu { "none yet".into() } else { "the host, as asked".into() },
        })
    }

    /// Size in pixels.
    pub fn size(&self) -> Extent {
        self.header.image.extent
    }

    /// Packer of JPEGs, and why it is the host where it is.
    pub fn encoder(&self) -> &str {
        &self.encoder
    }

    /// Binds it for a new picture.
    pub fn begin(&mut self) -> Result<(), ViewError> {
        self.header.frame += 1;
        self.header.time = micros();
        Ok(self.target.bind()?)
    }

    /// The picture as a message.
    pub fn message(&mut self, codec: Codec) -> Result<Vec<u8>, ViewError> {
        if codec == Codec::Jpeg
            && let Some(packed) = self.by_gpu()
        {
            return Ok(self.header.message(codec, &packed));
        }
        Ok(self.header.pack(codec, &self.target.read_pixels()?, QUALITY)?)
    }

    /// The JPEG by the GPU, where it has an encoder. One that fails is left, without the loss of a picture.
    fn by_gpu(&mut self) -> Option<Vec<u8>> {
        if matches!(self.way, Way::Untried) {
            match OnGpu::open(&self.display, &self.target, self.size()) {
                Ok(opened) => self.way = Way::Opened(Box::new(opened)),
                Err(error) => self.leave(&error),
            }
        }
        let packed = match std::mem::replace(&mut self.way, Way::Host) {
            Way::Untried | Way::Host => return None,
            Way::Gpu(mut gpu) => gpu.pack().map(|packed| (packed, gpu)),
            Way::Opened(mut gpu) => gpu.pack().and_then(|packed| {
                gpu.jpeg.check(&self.target.read_pixels()?, &packed)?;
                self.encoder = format!("{}, by {}", gpu.jpeg.name(), gpu.intake.path());
                tracing::info!("JPEGs are packed by {}", self.encoder);
                Ok((packed, gpu))
            }),
        };
        match packed {
            Ok((packed, gpu)) => {
                self.way = Way::Gpu(gpu);
                Some(packed)
            }
            Err(error) => {
                self.leave(&error);
                None
            }
        }
    }

    fn leave(&mut self, error: &GpuJpegError) {
        tracing::info!("JPEGs are packed on the host: {error}");
        (self.way, self.encoder) = (Way::Host, format!("the host: {error}"));
    }
}

/// Microseconds since 1970.
fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
