//! Formats that both APIs have: OpenGL's internal format and OpenCL's `cl_image_format`.

/// Channels of a pixel: `cl_channel_order`, OpenGL's format, OpenGL's format for integers, and the number of channels.
#[derive(Clone, Copy)]
struct Channels(u32, u32, u32, usize);

const R: Channels = Channels(0x10B0, 0x1903, 0x8D94, 1);
const RG: Channels = Channels(0x10B2, 0x8227, 0x8228, 2);
const RGBA: Channels = Channels(0x10B5, 0x1908, 0x8D99, 4);
const SRGBA: Channels = Channels(0x10C1, 0x1908, 0, 4);

/// Type of a channel: `cl_channel_type`, OpenGL's type, whether kernels see integers, and bytes.
#[derive(Clone, Copy)]
struct Component(u32, u32, bool, usize);

const SNORM8: Component = Component(0x10D0, 0x1400, false, 1);
const SNORM16: Component = Component(0x10D1, 0x1402, false, 2);
const UNORM8: Component = Component(0x10D2, 0x1401, false, 1);
const UNORM16: Component = Component(0x10D3, 0x1403, false, 2);
const INT8: Component = Component(0x10D7, 0x1400, true, 1);
const INT16: Component = Component(0x10D8, 0x1402, true, 2);
const INT32: Component = Component(0x10D9, 0x1404, true, 4);
const UINT8: Component = Component(0x10DA, 0x1401, true, 1);
const UINT16: Component = Component(0x10DB, 0x1403, true, 2);
const UINT32: Component = Component(0x10DC, 0x1405, true, 4);
const HALF: Component = Component(0x10DD, 0x140B, false, 2);
const FLOAT: Component = Component(0x10DE, 0x1406, false, 4);

pub struct Format {
    /// OpenGL's internal format.
    pub internal: u32,
    /// `cl_image_format`.
    pub image: [u32; 2],
    /// OpenGL's format and type of the same bytes.
    pub pixels: (u32, u32),
    /// Bytes of a pixel.
    pub bytes: usize,
}

const fn format(internal: u32, channels: Channels, component: Component) -> Format {
    let Channels(order, floats, integers, count) = channels;
    let Component(channel, ty, integer, bytes) = component;
    let format = if integer { integers } else { floats };
    Format { internal, image: [order, channel], pixels: (format, ty), bytes: bytes * count }
}

/// Of buffers.
pub static BYTES: Format = Format { internal: 0, image: [0; 2], pixels: (0, 0), bytes: 1 };

static FORMATS: [Format; 42] = [
    format(0x8229, R, UNORM8),
    format(0x8F94, R, SNORM8),
    format(0x822A, R, UNORM16),
    format(0x8F98, R, SNORM16),
    format(0x822D, R, HALF),
    format(0x822E, R, FLOAT),
    format(0x8231, R, INT8),
    format(0x8232, R, UINT8),
    format(0x8233, R, INT16),
    format(0x8234, R, UINT16),
    format(0x8235, R, INT32),
    format(0x8236, R, UINT32),
    format(0x822B, RG, UNORM8),
    format(0x8F95, RG, SNORM8),
    format(0x822C, RG, UNORM16),
    format(0x8F99, RG, SNORM16),
    format(0x822F, RG, HALF),
    format(0x8230, RG, FLOAT),
    format(0x8237, RG, INT8),
    format(0x8238, RG, UINT8),
    format(0x8239, RG, INT16),
    format(0x823A, RG, UINT16),
    format(0x823B, RG, INT32),
    format(0x823C, RG, UINT32),
    format(0x8058, RGBA, UNORM8),
    // Drivers report 4 components, or `GL_RGBA`, for storage requested without sizes.
    format(0x0004, RGBA, UNORM8),
    format(0x1908, RGBA, UNORM8),
    format(0x8F97, RGBA, SNORM8),
    format(0x805B, RGBA, UNORM16),
    format(0x8F9B, RGBA, SNORM16),
    format(0x881A, RGBA, HALF),
    format(0x8814, RGBA, FLOAT),
    format(0x8D8E, RGBA, INT8),
    format(0x8D7C, RGBA, UINT8),
    format(0x8D88, RGBA, INT16),
    format(0x8D76, RGBA, UINT16),
    format(0x8D82, RGBA, INT32),
    format(0x8D70, RGBA, UINT32),
    // Kernels see linear colours; the bytes are those of the texture.
    format(0x8C43, SRGBA, UNORM8),
    format(0x8C42, SRGBA, UNORM8),
    format(0x1903, R, UNORM8),
    format(0x8227, RG, UNORM8),
];

/// Returns the format for an internal format; `None` if OpenCL has no equivalent.
pub fn of(internal: u32) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.internal == internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_format_has_one_row() {
        for (index, row) in FORMATS.iter().enumerate() {
            assert!(FORMATS[index + 1..].iter().all(|other| other.internal != row.internal), "{:#x}", row.internal);
            assert_ne!(row.pixels.0, 0, "{:#x}", row.internal);
        }
    }
}
