//! The offer to consumers, as PipeWire's parameters.

use crate::error::PipewireError;
use pipewire::spa::buffer::DataType;
use pipewire::spa::param::ParamType;
use pipewire::spa::param::format::{FormatProperties, MediaSubtype, MediaType};
use pipewire::spa::param::video::{VideoFormat, VideoInfoRaw};
use pipewire::spa::pod::serialize::PodSerializer;
use pipewire::spa::pod::{ChoiceValue, Object, Pod, Property, Value, property};
use pipewire::spa::sys;
use pipewire::spa::utils::{Choice, ChoiceEnum, ChoiceFlags, Fraction, Id, Rectangle, SpaTypes};
use pixelferry::{AlphaMode, Encoding, ImageDesc, PixelFormat};

/// Formats of equal bytes: pixelferry's, and PipeWire's with and without alpha.
const FORMATS: [(PixelFormat, VideoFormat, VideoFormat); 2] = [
    (PixelFormat::Rgba8, VideoFormat::RGBA, VideoFormat::RGBx),
    (PixelFormat::Bgra8, VideoFormat::BGRA, VideoFormat::BGRx),
];

const PIXEL_BYTES: u32 = 4;
const MOST_SIDE: u32 = 32767;
/// Sizes of buffers are multiples of this. libpipewire before 1.6 maps a buffer within the pages of the previous one to
/// a wrong address (`pw_memblock_map`), so that their pixels overlap.
const PAGE: u64 = 64 << 10;
/// Number of buffers (default, minimum, maximum).
const BUFFERS: [i32; 3] = [4, 2, 16];

/// Pictures of one size and format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Formats of the pictures, best first.
    formats: [VideoFormat; 2],
    width: u32,
    height: u32,
}

impl Offer {
    /// Describes the offer for a picture.
    ///
    /// # Errors
    /// [`PipewireError::Format`] and [`PipewireError::Size`].
    pub(crate) fn of(image: &ImageDesc, bytes: usize) -> Result<Self, PipewireError> {
        let ImageDesc { format, encoding, .. } = *image;
        let row = FORMATS.into_iter().find(|(ours, ..)| *ours == format);
        let (Some((_, with_alpha, without)), Encoding::Srgb | Encoding::Unmanaged) = (row, encoding) else {
            return Err(PipewireError::Format { format, encoding });
        };
        let (width, height) = (image.extent.width, image.extent.height);
        let fits = |side: u32| (1..=MOST_SIDE).contains(&side);
        let is_opaque = matches!(image.alpha, AlphaMode::Opaque);
        let formats = if is_opaque { [without, with_alpha] } else { [with_alpha, without] };
        let offer = Self { formats, width, height };
        if fits(width) && fits(height) && i32::try_from(offer.bytes() + PAGE).is_ok() && bytes as u64 == offer.bytes() {
            return Ok(offer);
        }
        Err(PipewireError::Size { width, height, bytes })
    }

    /// Bytes of a row.
    pub(crate) fn stride(&self) -> i32 {
        (self.width * PIXEL_BYTES) as i32
    }

    /// Bytes of a picture.
    fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * u64::from(PIXEL_BYTES)
    }

    /// Returns whether a consumer has agreed to pictures like this.
    pub(crate) fn is_agreed(&self, info: &VideoInfoRaw) -> bool {
        let size = info.size();
        self.formats.contains(&info.format()) && (size.width, size.height) == (self.width, self.height)
    }

    /// `SPA_PARAM_EnumFormat`.
    ///
    /// DMA-BUF would be added here: a second object before this one, with `SPA_FORMAT_VIDEO_modifier` (a choice of the
    /// modifiers that the device exports, with `SPA_POD_PROP_FLAG_MANDATORY` and `DONT_FIXATE`), so that consumers
    /// without it fall back to this one. [`Offer::buffers`] would then name `SPA_DATA_DmaBuf` if a modifier was agreed
    /// on.
    pub(crate) fn format(&self) -> Vec<u8> {
        let [best, other] = self.formats;
        let id = |key: FormatProperties, value: u32| Property::new(key.as_raw(), Value::Id(Id(value)));
        serialized(Object {
            type_: SpaTypes::ObjectParamFormat.as_raw(),
            id: ParamType::EnumFormat.as_raw(),
            properties: vec![
                property!(FormatProperties::MediaType, Id, MediaType::Video),
                property!(FormatProperties::MediaSubtype, Id, MediaSubtype::Raw),
                property!(FormatProperties::VideoFormat, Choice, Enum, Id, best, best, other),
                property!(FormatProperties::VideoSize, Rectangle, Rectangle { width: self.width, height: self.height }),
                // Pictures have no fixed rate.
                property!(FormatProperties::VideoFramerate, Fraction, Fraction { num: 0, denom: 1 }),
                property!(
                    FormatProperties::VideoMaxFramerate,
                    Choice,
                    Range,
                    Fraction,
                    Fraction { num: 60, denom: 1 },
                    Fraction { num: 1, denom: 1 },
                    Fraction { num: 1000, denom: 1 }
                ),
                id(FormatProperties::VideoColorRange, sys::SPA_VIDEO_COLOR_RANGE_0_255),
                id(FormatProperties::VideoColorMatrix, sys::SPA_VIDEO_COLOR_MATRIX_RGB),
                id(FormatProperties::VideoTransferFunction, sys::SPA_VIDEO_TRANSFER_SRGB),
                id(FormatProperties::VideoColorPrimaries, sys::SPA_VIDEO_COLOR_PRIMARIES_BT709),
            ],
        })
    }

    /// `SPA_PARAM_Buffers`.
    pub(crate) fn buffers(&self) -> Vec<u8> {
        let int = |key: u32, value: i32| Property::new(key, Value::Int(value));
        let choice = |key: u32, of: ChoiceEnum<i32>| {
            Property::new(key, Value::Choice(ChoiceValue::Int(Choice(ChoiceFlags::empty(), of))))
        };
        let [default, min, max] = BUFFERS;
        let memfd = 1 << DataType::MemFd.as_raw();
        serialized(Object {
            type_: SpaTypes::ObjectParamBuffers.as_raw(),
            id: ParamType::Buffers.as_raw(),
            properties: vec![
                choice(sys::SPA_PARAM_BUFFERS_buffers, ChoiceEnum::Range { default, min, max }),
                int(sys::SPA_PARAM_BUFFERS_blocks, 1),
                int(sys::SPA_PARAM_BUFFERS_size, self.bytes().next_multiple_of(PAGE) as i32),
                int(sys::SPA_PARAM_BUFFERS_stride, self.stride()),
                choice(sys::SPA_PARAM_BUFFERS_dataType, ChoiceEnum::Flags { default: memfd, flags: vec![memfd] }),
            ],
        })
    }
}

/// Serialises a parameter. Writing to memory cannot fail; [`pod`] would refuse an empty result.
fn serialized(object: Object) -> Vec<u8> {
    let to = std::io::Cursor::new(Vec::new());
    PodSerializer::serialize(to, &Value::Object(object)).map_or_else(|_| Vec::new(), |(to, _)| to.into_inner())
}

/// Parses bytes as a parameter.
pub(crate) fn pod(bytes: &[u8]) -> Result<&Pod, PipewireError> {
    Pod::from_bytes(bytes).ok_or_else(|| PipewireError::Lost("a parameter cannot be written".into()))
}
