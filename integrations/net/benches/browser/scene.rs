//! The pictures, and the same ready-made for each way.

use crate::{PictureCodec, Result};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::video::{Encoder, EncoderReport, Shape, encoders};
use pixelferry_net::Codec;
use pixelferry_net::wire::{Header, MessageKind};
use std::sync::mpsc;
use std::time::Duration;

pub const IMAGE: ImageDesc = ImageDesc::new(1280, 720, PixelFormat::Rgba8);
pub const QUALITY: u8 = 85;
const PICTURES: u64 = 16;
/// Units of H.264, which repeat from the keyframe on.
const UNITS: u64 = 64;
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Scene {
    pictures: Vec<Vec<u8>>,
}

impl Scene {
    /// Waves that move.
    pub fn new() -> Result<Self> {
        let (width, height) = (IMAGE.extent.width, IMAGE.extent.height);
        let picture = |number: u64| {
            let time = number as f32 / PICTURES as f32 * std::f32::consts::TAU;
            let mut pixels = Vec::with_capacity((width * height * 4) as usize);
            for y in 0..height {
                for x in 0..width {
                    let (u, v) = (x as f32 / 90.0, y as f32 / 70.0);
                    let wave = (u + time).sin() + (v - time).sin() + ((u + v) / 2.0 + time).sin();
                    let value = |phase: f32| (127.0 + 127.0 * (wave + phase).sin()) as u8;
                    pixels.extend([value(0.0), value(2.1), value(4.2), 255]);
                }
            }
            pixels
        };
        Ok(Self { pictures: (0..PICTURES).map(picture).collect() })
    }

    /// The pixels of a frame.
    pub fn pixels(&self, frame: u64) -> &[u8] {
        &self.pictures[(frame % PICTURES) as usize]
    }

    /// Messages as the gateway sends them.
    pub fn messages(&self, way: PictureCodec) -> Result<Vec<Vec<u8>>> {
        match way {
            // The gateway unpacks LZ4.
            PictureCodec::Raw | PictureCodec::Lz4 => {
                (0..PICTURES).map(|frame| self.message(frame, Codec::None)).collect()
            }
            PictureCodec::Jpeg => (0..PICTURES).map(|frame| self.message(frame, Codec::Jpeg)).collect(),
            PictureCodec::H264 => self.units(),
        }
    }

    fn message(&self, frame: u64, codec: Codec) -> Result<Vec<u8>> {
        let header = Header { frame, ..Header::new(MessageKind::Picture, IMAGE, IMAGE.extent.full()) };
        Ok(header.pack(codec, self.pixels(frame), QUALITY)?)
    }

    fn units(&self) -> Result<Vec<Vec<u8>>> {
        let (tell, told) = mpsc::channel();
        let element = *encoders()?.first().ok_or("no encoder")?;
        let shape = Shape::of(&self.message(0, Codec::None)?)?;
        let encoder = Encoder::start(element, shape, move |said| drop(tell.send(said)))?;
        let unit = |frame| {
            encoder.write(self.message(frame, Codec::None)?.into());
            match told.recv_timeout(PATIENCE)? {
                EncoderReport::Unit(unit) => Ok(unit.message()),
                EncoderReport::Ended(error) => Err(error.into()),
            }
        };
        (0..UNITS).map(unit).collect()
    }
}
