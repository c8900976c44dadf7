//! Draws a page's picture offscreen and encodes it as a message.

use crate::error::ViewError;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::api::gl::{EngineTexture, GlDisplay, OffscreenTarget};
use pixelferry::{ComputeBackend, Display, Error, Extent, ImageDesc, Intake, PixelFormat, RowOrder, Support};
use pixelferry_media::wire::{Codec, Header, MessageKind};
use pixelferry_media::{GpuJpeg, GpuJpegError};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// JPEG quality, 1 to 100.
const QUALITY: u8 = 90;

/// A render target and its encoders.
pub struct Screen {
    // Declared before the target, because it reads the target's texture.
    way: JpegSource,
    target: OffscreenTarget,
    display: Arc<GlDisplay>,
    header: Header,
    /// Description of the JPEG encoder.
    encoder: String,
}

enum JpegSource {
    /// No JPEG was needed yet.
    Untried,
    /// Its first picture must still be compared with the host's.
    Opened(Box<OnGpu>),
    Gpu(Box<OnGpu>),
    Host,
}

/// Copies the texture to CUDA memory and encodes it there.
struct OnGpu {
    intake: Intake,
    jpeg: GpuJpeg,
}

impl OnGpu {
    fn open(display: &Arc<GlDisplay>, target: &OffscreenTarget, size: Extent) -> Result<Self, GpuJpegError> {
        GpuJpeg::available()?;
        let backend = CudaBackend::open_best_for(display.device())?;
        if let Support::No(reason) = backend.device().same_device(display.device()) {
            return Err(Error::invalid("GpuJpeg", format!("OpenGL uses another device: {reason}")).into());
        }
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let texture = EngineTexture::new(target.texture().0.get(), size);
        // SAFETY: the texture belongs to the target, which `Screen` drops after this, and never gets other storage.
        // Only the display's context uses it.
        let surface = unsafe { display.engine_image(texture, target.format()) }?;
        let jpeg = GpuJpeg::open(Arc::clone(&backend), size, QUALITY)?;
        let intake = Intake::open(backend, Arc::clone(display) as Arc<dyn Display>, surface)?;
        Ok(Self { intake, jpeg })
    }

    fn pack(&mut self) -> Result<Vec<u8>, GpuJpegError> {
        // OpenGL's first row is the bottom one.
        self.jpeg.pack(self.intake.take()?.memory(), RowOrder::BottomUp)
    }
}

impl Screen {
    /// Makes a screen of this size. Only the host encodes JPEGs unless `may_use_gpu`.
    pub fn new(display: &Arc<GlDisplay>, size: Extent, may_use_gpu: bool) -> Result<Self, ViewError> {
        let image = ImageDesc::new(size.width, size.height, PixelFormat::Rgba8);
        let mut header = Header::new(MessageKind::Picture, image, size.full());
        header.epoch = micros();
        Ok(Self {
            way: if may_use_gpu { JpegSource::Untried } else { JpegSource::Host },
            target: display.create_offscreen_target(size.width, size.height)?,
            display: Arc::clone(display),
            header,
            encoder: if may_use_gpu { "none yet".into() } else { "the host, as requested".into() },
        })
    }

    /// Size in pixels.
    pub fn size(&self) -> Extent {
        self.header.image.extent
    }

    /// Describes the JPEG encoder, and if it is the host, why.
    pub fn encoder(&self) -> &str {
        &self.encoder
    }

    /// Binds the target for a new picture.
    pub fn begin(&mut self) -> Result<(), ViewError> {
        self.header.frame += 1;
        self.header.time = micros();
        Ok(self.target.bind()?)
    }

    /// Returns the picture as a message.
    pub fn message(&mut self, codec: Codec) -> Result<Vec<u8>, ViewError> {
        if codec == Codec::Jpeg
            && let Some(packed) = self.by_gpu()
        {
            return Ok(self.header.message(codec, &packed));
        }
        Ok(self.header.pack(codec, &self.target.read_pixels()?, QUALITY)?)
    }

    /// Encodes the JPEG on the GPU. An encoder that fails is not used again, and the host encodes the picture instead.
    fn by_gpu(&mut self) -> Option<Vec<u8>> {
        if matches!(self.way, JpegSource::Untried) {
            match OnGpu::open(&self.display, &self.target, self.size()) {
                Ok(opened) => self.way = JpegSource::Opened(Box::new(opened)),
                Err(error) => self.leave(&error),
            }
        }
        let packed = match std::mem::replace(&mut self.way, JpegSource::Host) {
            JpegSource::Untried | JpegSource::Host => return None,
            JpegSource::Gpu(mut gpu) => gpu.pack().map(|packed| (packed, gpu)),
            JpegSource::Opened(mut gpu) => gpu.pack().and_then(|packed| {
                gpu.jpeg.check(&self.target.read_pixels()?, &packed)?;
                self.encoder = format!("{}, by {}", gpu.jpeg.name(), gpu.intake.path());
                tracing::info!("JPEGs are encoded by {}", self.encoder);
                Ok((packed, gpu))
            }),
        };
        match packed {
            Ok((packed, gpu)) => {
                self.way = JpegSource::Gpu(gpu);
                Some(packed)
            }
            Err(error) => {
                self.leave(&error);
                None
            }
        }
    }

    fn leave(&mut self, error: &GpuJpegError) {
        tracing::info!("JPEGs are encoded on the host: {error}");
        (self.way, self.encoder) = (JpegSource::Host, format!("the host: {error}"));
    }
}

/// Microseconds since 1970.
fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
