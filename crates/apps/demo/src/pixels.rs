//! Pixel formats and content of scenes that compute a picture.

use crate::convert::{reinhard, rgb10a2, srgb, unorm8, unorm16};
use crate::draw_args::DrawArgs;
use crate::values::one_of;
use clap::{Args, ValueEnum};
use half::f16;
use pixelferry::driver::describe::format::ChannelKind;
use pixelferry::{AlphaMode, CpuImage, Encoding, Error, ImageAccess, ImageDesc, PixelFormat, ToneMap, Unwritten};

/// Conversion from computed to stored colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Tone {
    /// The colours are stored unchanged.
    #[default]
    None,
    /// Linear light, clipped and sRGB encoded.
    Srgb,
    /// Linear light through Reinhard's tone map, then sRGB encoded.
    Reinhard,
    /// Linear light through the ACES film curve, then sRGB encoded.
    Aces,
    /// Linear light; the draw exposes, maps and encodes it.
    Light,
}

/// Content of the fourth channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Alpha {
    /// Always 1: the picture hides what is behind it.
    #[default]
    Opaque,
    /// How much of the pixel the picture covers.
    Straight,
    /// How much of the pixel the picture covers; colours are multiplied by it.
    Premultiplied,
}

/// How pixels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pixels {
    /// The colours.
    pub tone: Tone,
    /// Storage format. A format with fewer channels stores the first ones; one without numbers above 1 clamps.
    pub format: PixelFormat,
    /// The fourth channel.
    pub alpha: Alpha,
}

impl Default for Pixels {
    fn default() -> Self {
        Self { tone: Tone::default(), format: PixelFormat::Rgba8, alpha: Alpha::default() }
    }
}

/// Command-line options for how pixels are stored.
#[derive(Debug, Clone, Copy, Args)]
pub struct PixelOptions {
    /// Conversion from computed to stored colours. [default: light with --exposure or --tone-map, else none]
    #[arg(long, value_enum)]
    pub tone: Option<Tone>,
    /// Storage format of a pixel. [default: RGBA16F for light, else RGBA8]
    #[arg(long, value_name = "FORMAT", ignore_case = true, value_parser = one_of::<PixelFormat>(PixelFormat::ALL.map(PixelFormat::name)))]
    pub format: Option<PixelFormat>,
    /// Content of the fourth channel.
    #[arg(long, value_enum, default_value_t)]
    pub alpha: Alpha,
}

impl PixelOptions {
    /// Returns the storage for a picture that is drawn with these options.
    pub fn pixels(&self, draw_args: &DrawArgs) -> Pixels {
        let tone = self.tone.unwrap_or(if draw_args.changes_light() { Tone::Light } else { Tone::None });
        let format = self.format.unwrap_or(if tone == Tone::Light { PixelFormat::Rgba16F } else { PixelFormat::Rgba8 });
        Pixels { tone, format, alpha: self.alpha }
    }
}

impl Pixels {
    /// Describes a picture of them, which needs no texture, and whose kernels write every pixel.
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
        let image = ImageDesc::new(width, height, self.format);
        let image = image.with_access(ImageAccess::Any).with_encoding(encoding).with_alpha(alpha);
        image.with_unwritten(Unwritten::Overwrite)
    }

    /// C for both languages: the type `PIXEL`, and `PIXEL pixel(float3 c, float coverage)`, which makes one. The
    /// compiler knows all conversions, so the device does not choose among them.
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
        let (pixel, stored) = self.stored();
        format!(
            "#define PIXEL {pixel}
             float3 pf_encoded(float3 c) {{ c.x = pf_srgb(c.x); c.y = pf_srgb(c.y); c.z = pf_srgb(c.z); return c; }}
             float to_unorm(float v, float most) {{ return fmin(fmax(v, 0.0f), 1.0f) * most + 0.5f; }}
             PIXEL pixel(float3 c, float coverage) {{ c = {shown}; {covered} {stored} }}\n"
        )
    }

    /// A pixel's type in C for both languages, and statements that return `c` and `coverage` as a pixel.
    fn stored(self) -> (String, String) {
        let info = self.format.info();
        let channels = info.order.iter().map(|channel| ["c.x", "c.y", "c.z", "coverage"][*channel]);
        let stored: Vec<_> = channels
            .map(|of| match info.kind {
                ChannelKind::Unorm8 => format!("pf_unorm8({of})"),
                ChannelKind::Unorm16 => format!("(unsigned short)to_unorm({of}, 65535.0f)"),
                ChannelKind::Unorm10A2 => {
                    format!("(unsigned int)to_unorm({of}, {}.0f)", if of == "coverage" { 3 } else { 1023 })
                }
                ChannelKind::Float16 => format!("pf_half({of})"),
                _ => of.to_owned(),
            })
            .collect();
        // The two languages differ in the names of types without a number.
        let scalar = match info.c_type {
            "uchar" => "unsigned char",
            "ushort" => "unsigned short",
            "uint" => "unsigned int",
            other => other,
        };
        let body = match stored.as_slice() {
            [one] => format!("return {one};"),
            [r, g, b, a] if info.kind == ChannelKind::Unorm10A2 => {
                format!("return {r} | {g} << 10 | {b} << 20 | {a} << 30;")
            }
            all => {
                let set = all.iter().zip(["x", "y", "z", "w"]).map(|(value, at)| format!("p.{at} = {value}; "));
                format!("PIXEL p; {}return p;", set.collect::<String>())
            }
        };
        (scalar.to_owned(), body)
    }

    /// `fn pixel(c: vec3<f32>, coverage: f32) -> vec4<f32>` in WGSL, for `pf_store`.
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

    /// Stores all pixels of `out` in Rust: `color` returns the computed colour and its coverage.
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
                Tone::Aces => ToneMap::AcesNarkowicz.apply(c).map(srgb),
            };
            match self.alpha {
                Alpha::Opaque => (c, 1.0),
                Alpha::Straight => (c, coverage),
                Alpha::Premultiplied => (c.map(|c| c * coverage), coverage),
            }
        };
        let four = |x: u32, y: u32| {
            let ([r, g, b], alpha) = stored(x, y);
            [r, g, b, alpha]
        };
        let two = |x: u32, y: u32| four(x, y).first_chunk::<2>().copied().unwrap_or_default();
        let one = |x: u32, y: u32| four(x, y)[0];
        let half = f16::from_f32;
        match self.format {
            PixelFormat::R8 => out.par_pixels(|x, y| unorm8(one(x, y))),
            PixelFormat::Rg8 => out.par_pixels(|x, y| two(x, y).map(unorm8)),
            PixelFormat::R16 => out.par_pixels(|x, y| unorm16(one(x, y))),
            PixelFormat::R16F => out.par_pixels(|x, y| half(one(x, y))),
            PixelFormat::Rgba8 => out.par_pixels(|x, y| four(x, y).map(unorm8)),
            PixelFormat::Bgra8 => out.par_pixels(|x, y| {
                let [r, g, b, alpha] = four(x, y).map(unorm8);
                [b, g, r, alpha]
            }),
            PixelFormat::Rgb10A2 => out.par_pixels(|x, y| rgb10a2(four(x, y))),
            PixelFormat::Rg16F => out.par_pixels(|x, y| two(x, y).map(half)),
            PixelFormat::R32F => out.par_pixels(one),
            PixelFormat::Rgba16F => out.par_pixels(|x, y| four(x, y).map(half)),
            PixelFormat::Rg32F => out.par_pixels(two),
            PixelFormat::Rgba32F => out.par_pixels(four),
            other => Err(Error::invalid("Pixels::write", format!("{other} is unknown to the scenes"))),
        }
    }
}
