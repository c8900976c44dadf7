//! Streams of other processes, shown live.

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::stream_tap::{StreamNews, StreamTap};
use crate::view::ArrayView;
use pixelferry::driver::describe::color::{Curve, load};
use pixelferry::driver::describe::format::ChannelKind;
use pixelferry::stream::StreamFrame;
use pixelferry::{AlphaMode, Encoding, Extent, ImageDesc, PixelFormat, SurfaceDesc};
use pixelferry_look::{Number, Refusal};
use std::time::Duration;

/// A stream that [`ArrayView::attend`] shows live, always its newest frame; a [`StreamTap`] that yields arrays.
///
/// Numbers that a window shows unchanged keep their type. Numbers of light, and those of formats with packed channels,
/// become floats; floats of light are sRGB encoded.
pub struct AttachedStream(StreamTap<Numbers>);

/// A frame's numbers. The thread that shows them makes an array of them.
struct Numbers {
    bytes: Vec<u8>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    number: Number,
}

impl AttachedStream {
    /// Attaches to the stream of this name, which may have no publisher yet.
    ///
    /// # Errors
    /// Those of [`StreamTap::open`].
    pub fn open(name: &str) -> Result<Self, ReadError> {
        StreamTap::open(name, numbers).map(Self)
    }

    /// Waits up to `limit` for a frame and takes the newest.
    ///
    /// # Errors
    /// Those of [`StreamTap::first`].
    pub fn first(&self, limit: Duration) -> Result<Array, ReadError> {
        self.0.first(limit)?.array(self.0.name())
    }

    /// Returns the placeholder that is shown before the first frame.
    ///
    /// # Errors
    /// [`ReadError::Memory`].
    pub(crate) fn waiting(&self) -> Result<Array, ReadError> {
        Array::dark(self.0.name())
    }

    /// Registers a function that a thread of the stream calls after each change.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.0.wake_by(wake);
    }
}

/// Copies a frame's pixels as tight rows, top row first, with their description.
fn picture(frame: &mut StreamFrame<'_>) -> Result<(ImageDesc, Vec<u8>), ReadError> {
    match *frame.desc() {
        SurfaceDesc::Image(image) => Ok((image, frame.read()?)),
        SurfaceDesc::Buffer(_) => {
            Err(Refusal::Shape(format!("the stream carries a {}, not a picture", frame.desc())).into())
        }
    }
}

/// Copies a frame's numbers: unchanged if a window shows them so, else as floats.
fn numbers(frame: &mut StreamFrame<'_>) -> Result<Numbers, ReadError> {
    let (image, bytes) = picture(frame)?;
    let ImageDesc { format, extent, .. } = image;
    let bits = 8 * format.channel_kind().bytes();
    let (bytes, number) = match (image.encoding, format.channel_kind()) {
        (Encoding::Unmanaged | Encoding::Srgb, ChannelKind::Unorm8 | ChannelKind::Unorm16) => {
            (as_they_are(format, bytes), Number { code: 1, bits, foreign: false })
        }
        (Encoding::Unmanaged | Encoding::Srgb, ChannelKind::Float16 | ChannelKind::Float32) => {
            (as_they_are(format, bytes), Number { code: 2, bits, foreign: false })
        }
        _ => (as_floats(&image, &bytes), Number { code: 2, bits: 32, foreign: false }),
    };
    let (channel, stored) = ((number.bits / 8) as i64, format.channels() as i64);
    let [height, width] = [extent.height, extent.width].map(i64::from);
    let (mut shape, mut strides) = (vec![height, width], vec![width * stored * channel, stored * channel]);
    if stored > 1 {
        // The alpha of an opaque picture has no meaning.
        shape.push(if image.alpha == AlphaMode::Opaque { stored.min(3) } else { stored });
        strides.push(channel);
    }
    Ok(Numbers { bytes, shape, strides, number })
}

/// Reorders channels so that red is first.
fn as_they_are(format: PixelFormat, mut bytes: Vec<u8>) -> Vec<u8> {
    if format == PixelFormat::Bgra8 {
        bytes.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    bytes
}

/// Converts channels to floats.
fn as_floats(image: &ImageDesc, bytes: &[u8]) -> Vec<u8> {
    let (channels, pixels) = (image.format.channels(), bytes.chunks_exact(image.format.bytes_per_pixel()));
    pixels.flat_map(|pixel| colour(image, pixel).into_iter().take(channels)).flat_map(f32::to_ne_bytes).collect()
}

/// Returns a pixel as a sampler does, with the sRGB curve for colours of light; the curve does not apply to alpha.
fn colour(image: &ImageDesc, pixel: &[u8]) -> [f32; 4] {
    let stored = load(image.format, pixel);
    match image.encoding {
        Encoding::Linear | Encoding::Gamma22 => {
            let [red, green, blue, alpha] = stored;
            let [red, green, blue] =
                [red, green, blue].map(|number| Curve::Srgb.encode(Curve::of(image.encoding).decode(number)));
            [red, green, blue, alpha]
        }
        _ => stored,
    }
}

impl Numbers {
    fn array(self, name: &str) -> Result<Array, ReadError> {
        Array::with_strides(name, &self.bytes, 0, self.shape, self.strides, self.number)
    }
}

/// A frame as a shader samples it: four floats per pixel in tight rows, top row first, normalised, with the sRGB curve
/// for colours of light. A single channel becomes grey; with two channels, the third is 0. Alpha is 1 if the format has
/// no alpha or the picture is opaque.
pub struct Texels {
    /// Width and height in pixels.
    pub size: Extent,
    /// Pixels as red, green, blue and alpha.
    pub pixels: Vec<[f32; 4]>,
}

impl Texels {
    /// Copies a frame; pass this to [`StreamTap::open`].
    ///
    /// # Errors
    /// [`ReadError::Refused`] for a frame that is not a picture, and errors of the stream.
    pub fn of(frame: &mut StreamFrame<'_>) -> Result<Self, ReadError> {
        let (image, bytes) = picture(frame)?;
        let (is_grey, is_opaque) = (image.format.channels() == 1, image.alpha == AlphaMode::Opaque);
        let pixel = |pixel| match colour(&image, pixel) {
            [grey, ..] if is_grey => [grey, grey, grey, 1.0],
            [red, green, blue, _] if is_opaque => [red, green, blue, 1.0],
            all => all,
        };
        let pixels = bytes.chunks_exact(image.format.bytes_per_pixel()).map(pixel).collect();
        Ok(Self { size: image.extent, pixels })
    }
}

impl ArrayView {
    /// Takes the newest frame and messages of a stream and shows them under its name. Returns true if something
    /// changed, so that the view must be redrawn.
    pub fn attend(&mut self, stream: &AttachedStream) -> bool {
        let StreamNews { frame, said } = stream.0.take();
        if frame.is_none() && said.is_none() {
            return false;
        }
        let name = stream.0.name();
        let array = frame.map(|frame| frame.and_then(|numbers| numbers.array(name)));
        let refused = array.and_then(|array| array.map_err(ViewError::from).and_then(|array| self.put(array)).err());
        if let Some(said) = refused.map(|error| error.to_string()).or(said) {
            self.say(name, if said.is_empty() { said } else { format!("stream {name:?}: {said}") });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::driver::describe::color::store;

    /// A grey of half the light is 188 of 255 in numbers of sRGB, in whatever format and encoding it comes.
    #[test]
    fn colours_are_shown_by_their_encoding() {
        let rows = [
            (PixelFormat::Rgba16F, Encoding::Linear, 0.5),
            (PixelFormat::R32F, Encoding::Linear, 0.5),
            (PixelFormat::Rgba8, Encoding::Gamma22, 0.5_f32.powf(1.0 / 2.2)),
            (PixelFormat::Rgb10A2, Encoding::Srgb, 188.0 / 255.0),
        ];
        for (format, encoding, number) in rows {
            let mut pixel = [0; 16];
            store(format, [number, number, number, 0.25], &mut pixel);
            let image = ImageDesc::new(1, 1, format).with_encoding(encoding);
            let floats = as_floats(&image, &pixel[..format.bytes_per_pixel()]);
            let floats: Vec<f32> = floats.chunks(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
            assert_eq!(floats.len(), format.channels());
            assert!((floats[0] * 255.0 - 188.0).abs() < 1.0, "{format} {encoding:?}: {floats:?}");
            assert!(floats.get(3).is_none_or(|alpha| (alpha - 0.25).abs() < 0.1), "{floats:?}");
        }
        assert_eq!(as_they_are(PixelFormat::Bgra8, vec![1, 2, 3, 4]), [3, 2, 1, 4]);
    }
}
