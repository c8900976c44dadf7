//! Pixel formats and contents of scenes that compute a picture.

use crate::convert::{aces, reinhard, rgba8, rgba16f, srgb};
use crate::draw_args::DrawArgs;
use clap::{Args, ValueEnum};
use pixelferry::{AlphaMode, CpuImage, Encoding, ImageAccess, ImageDesc, PixelFormat, Unwritten};

/// From the colours to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Tone {
    /// The colours are stored unchanged.
    #[default]
    None,
    /// Linear light, clipped and encoded by the sRGB curve.
    Srgb,
    /// Linear light through Reinhard's tone map, then encoded.
    Reinhard,
    /// Linear light through the ACES film curve, then encoded.
    Aces,
    /// Linear light, for the draw to expose, map and encode.
    Light,
}

/// Storage format of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Four channels of 8 bits.
    #[default]
    #[value(name = "RGBA8")]
    Rgba8,
    /// Four channels of binary16, which hold light brighter than white.
    #[value(name = "RGBA16F")]
    Rgba16f,
}

impl Format {
    /// The format's name in a surface.
    pub fn pixel_format(self) -> PixelFormat {
        match self {
            Self::Rgba8 => PixelFormat::Rgba8,
            Self::Rgba16f => PixelFormat::Rgba16F,
        }
    }
}

/// Content of the fourth channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Alpha {
    /// 1: the picture hides what is below it.
    #[default]
    Opaque,
    /// Coverage of the pixel by the picture.
    Straight,
    /// Coverage of the pixel by the picture; the colours are multiplied by it.
    Premultiplied,
}

/// All of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pixels {
    /// The colours.
    pub tone: Tone,
    /// The format.
    pub format: Format,
    /// The fourth channel.
    pub alpha: Alpha,
}

/// Arguments of the command line that say how pixels are stored.
#[derive(Debug, Clone, Copy, Args)]
pub struct PixelOptions {
    /// From the colours that are computed to what is stored. [default: light where the draw is to expose or map it, else
    /// none]
    #[arg(long, value_enum)]
    pub tone: Option<Tone>,
    /// Storage format of a pixel. [default: RGBA16F for light, else RGBA8]
    #[arg(long, value_enum, ignore_case = true)]
    pub format: Option<Format>,
    /// Content of the fourth channel.
    #[arg(long, value_enum, default_value_t)]
    pub alpha: Alpha,
}

impl PixelOptions {
    /// Returns what is to be stored for a picture that is shown like this.
    pub fn pixels(&self, draw_args: &DrawArgs) -> Pixels {
        let tone = self.tone.unwrap_or(if draw_args.changes_light() { Tone::Light } else { Tone::None });
        let format = self.format.unwrap_or(if tone == Tone::Light { Format::Rgba16f } else { Format::Rgba8 });
        Pixels { tone, format, alpha: self.alpha }
    }
}

impl Pixels {
    /// A picture of them, which needs no texture, and whose kernels write every pixel.
    pub(crate) fn image(self, width: u32, height: u32) -> ImageDesc {
        let encoding = match self.tone {
            Tone::None => Encoding::Unmanaged,
            Tone::Srgb | Tone::Reinhard | Tone::Aces => Encoding::Srgb,
            Tone::Light => Encoding::Linear,
        };
        let alpha = match self.alpha {
            Alpha::Opaque => AlphaMode::Stored,
            Alpha::Straight => AlphaMode::Straight,
            Alpha::Premultiplied => AlphaMode::Premultiplied,
        };
        let image = ImageDesc::new(width, height, self.format.pixel_format());
        let image = image.with_access(ImageAccess::Any).with_encoding(encoding).with_alpha(alpha);
        image.with_unwritten(Unwritten::Overwrite)
    }

    /// C of both languages: the type `PIXEL`, and `PIXEL pixel(float3 c, float coverage)`, which makes one. What is
    /// converted to what the compiler knows, not the device.
    pub(crate) fn source(self) -> String {
        let shown = match self.tone {
            Tone::None | Tone::Light => "c",
            Tone::Srgb => "pf_encoded(c)",
            Tone::Reinhard => "pf_encoded(pf_tonemap_reinhard(c))",
            Tone::Aces => "pf_encoded(pf_tonemap_aces(c))",
        };
        let covered = match self.alpha {
            Alpha::Opaque => "coverage = 1.0f;",
            Alpha::Straight => "",
            Alpha::Premultiplied => "c.x *= coverage; c.y *= coverage; c.z *= coverage;",
        };
        let (pixel, stored) = match self.format {
            Format::Rgba8 => ("uchar4", "pf_rgba8(c, coverage)"),
            Format::Rgba16f => ("ushort4", "to_half(c, coverage)"),
        };
        format!(
            "#define PIXEL {pixel}
             float3 pf_encoded(float3 c) {{ c.x = pf_srgb(c.x); c.y = pf_srgb(c.y); c.z = pf_srgb(c.z); return c; }}
             ushort4 to_half(float3 c, float alpha) {{
               ushort4 h;
               h.x = pf_half(c.x); h.y = pf_half(c.y); h.z = pf_half(c.z); h.w = pf_half(alpha);
               return h;
             }}
             PIXEL pixel(float3 c, float coverage) {{ c = {shown}; {covered} return {stored}; }}\n"
        )
    }

    /// `fn pixel(c: vec3<f32>, coverage: f32) -> vec4<f32>` of WGSL, for `pf_store`.
    pub(crate) fn wgsl(self) -> String {
        let shown = match self.tone {
            Tone::None | Tone::Light => "c",
            Tone::Srgb => "encoded(c)",
            Tone::Reinhard => "encoded(reinhard(c))",
            Tone::Aces => "encoded(aces(c))",
        };
        let stored = match self.alpha {
            Alpha::Opaque => "vec4<f32>(shown, 1.0)",
            Alpha::Straight => "vec4<f32>(shown, coverage)",
            Alpha::Premultiplied => "vec4<f32>(shown * coverage, coverage)",
        };
        format!(
            "fn encoded(light: vec3<f32>) -> vec3<f32> {{
               let c = clamp(light, vec3<f32>(0.0), vec3<f32>(1.0));
               return select(1.055 * pow(c, vec3<f32>(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3<f32>(0.0031308));
             }}
             fn reinhard(c: vec3<f32>) -> vec3<f32> {{ return c / (1.0 + c); }}
             fn aces(light: vec3<f32>) -> vec3<f32> {{
               let c = max(light, vec3<f32>(0.0));
               return clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), vec3<f32>(0.0), vec3<f32>(1.0));
             }}
             fn pixel(c: vec3<f32>, coverage: f32) -> vec4<f32> {{
               let shown = {shown};
               return {stored};
             }}\n"
        )
    }

    /// Stores pixels in Rust, for all of `out`: `color` gives what is computed and its coverage.
    pub(crate) fn write(
        self,
        out: &mut CpuImage<'_>,
        color: impl Fn(u32, u32) -> ([f32; 3], f32) + Send + Sync,
    ) -> pixelferry::Result<()> {
        let stored = |x: u32, y: u32| {
            let (c, coverage) = color(x, y);
            let c = match self.tone {
                Tone::None | Tone::Light => c,
                Tone::Srgb => c.map(srgb),
                Tone::Reinhard => c.map(|c| srgb(reinhard(c))),
                Tone::Aces => c.map(|c| srgb(aces(c))),
            };
            match self.alpha {
                Alpha::Opaque => (c, 1.0),
                Alpha::Straight => (c, coverage),
                Alpha::Premultiplied => (c.map(|c| c * coverage), coverage),
            }
        };
        match self.format {
            Format::Rgba8 => out.par_pixels(|x, y| {
                let (c, alpha) = stored(x, y);
                rgba8(c, alpha)
            }),
            Format::Rgba16f => out.par_pixels(|x, y| {
                let (c, alpha) = stored(x, y);
                rgba16f(c, alpha)
            }),
        }
    }
}
