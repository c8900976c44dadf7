//! The draw in WGSL: shader text and parameters, for displays whose shaders are built from it.

use super::{Plan, Variant};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Region;

/// Size of a workgroup of [`store`], as the text declares it.
pub const GROUP: (u32, u32) = (32, 8);

/// The structure `DrawParams` of the shader text.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct DrawParams {
    region: [u32; 4],
    picture: [f32; 4],
    /// Byte of the first pixel in linear memory, bytes from row to row, whether texels are weighted, and whether one
    /// channel is grey.
    lie: [u32; 4],
    background: [f32; 4],
    exposure: [f32; 4],
    area: [i32; 4],
}

impl DrawParams {
    /// Size of the structure in bytes.
    pub const BYTES: usize = 96;

    /// Parameters for a region of an image, drawn by `plan`, with the viewport at this position (left, top) of the
    /// target.
    pub fn new(plan: &Plan, region: Region, (x, y): (i32, i32)) -> Self {
        let (place, drawn) = (plan.picture, plan.drawn);
        // Position in the target; the sides are far below the range of 64 bits.
        let placed = |start: i32, inside: i64| i64::from(start) + inside;
        let (left, top) = (placed(x, place.x.into()), placed(y, place.y.into()));
        let (first, above) = (placed(x, drawn.x.into()), placed(y, drawn.y.into()));
        let whole = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let [r, g, b] = plan.background.unwrap_or_default();
        let exposure = plan.shading.map_or([1.0, 0.0], |s| [s.gain, s.tone.inverse_white_squared()]);
        Self {
            region: [region.x, region.y, region.width, region.height],
            picture: [left as f32, top as f32, place.width as f32, place.height as f32],
            lie: [0, 0, plan.weighs.into(), plan.grey.into()],
            background: [r, g, b, 1.0],
            exposure: [exposure[0], exposure[1], 0.0, 0.0],
            area: [whole(first), whole(above), whole(drawn.width.into()), whole(drawn.height.into())],
        }
    }

    /// Adds the layout of an image in linear memory: the byte of its first pixel, counted from the start of the
    /// binding, and the bytes from row to row.
    #[must_use]
    pub const fn in_memory(self, base: u32, pitch: u32) -> Self {
        let [.., linear, grey] = self.lie;
        Self { lie: [base, pitch, linear, grey], ..self }
    }

    /// Returns the drawn rectangle of the target in pixels: left, top, width, height.
    pub const fn area(&self) -> [i32; 4] {
        self.area
    }

    /// Returns the structure as shaders read it.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let floats = |v: [f32; 4]| v.map(f32::to_bits);
        let rows = [
            self.region,
            floats(self.picture),
            self.lie,
            floats(self.background),
            floats(self.exposure),
            self.area.map(|v| v as u32),
        ];
        let mut bytes = [0; Self::BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(rows.as_flattened()) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// Decisions that are fixed when a shader is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The pixel format, where pixels are in linear memory.
    pub memory: Option<PixelFormat>,
    /// True where each pixel shows exactly one texel.
    pub one_to_one: bool,
    /// True where more than the picture is drawn.
    pub bars: bool,
    /// Colour conversions; draws without them use a shorter text.
    pub colors: Option<Variant>,
}

impl Steps {
    /// Returns the decisions of a draw. `memory` is the pixel format where pixels are in linear memory.
    pub fn new(plan: &Plan, memory: Option<PixelFormat>) -> Self {
        Self { memory, one_to_one: plan.one_to_one, bars: plan.bars, colors: Variant::of(plan) }
    }

    /// Returns the constants with their names in the text.
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        let switches = switches([("one_to_one", self.one_to_one), ("bars", self.bars)]);
        let colors = self.colors.map(Variant::constants).into_iter().flatten().map(|(n, value)| (n, f64::from(value)));
        let format = self.memory.map(|format| ("kind", f64::from(format.info().shader_id)));
        switches.into_iter().chain(colors).chain(format).collect()
    }
}

/// How a compute shader stores its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// Format of the storage texture, by its name in WGSL.
    pub name: &'static str,
    /// True where it holds only numbers from 0 to 1.
    pub fixed: bool,
    /// True where blue takes the place of red.
    pub blue_first: bool,
    /// True where the draw blends, so that the shader also reads the texture.
    pub blends: bool,
    /// True where the stored numbers are encoded, as with an sRGB format.
    pub encodes: bool,
}

impl Storage {
    /// Returns the constants with their names in the text.
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        let fixed = self.blends.then_some(("cut_off", self.fixed));
        switches(fixed.into_iter().chain([("blue_first", self.blue_first)]))
    }
}

fn switches(named: impl IntoIterator<Item = (&'static str, bool)>) -> Vec<(&'static str, f64)> {
    named.into_iter().map(|(name, on)| (name, f64::from(u8::from(on)))).collect()
}

/// Bindings of the text's inputs and outputs: the WGSL attributes before the variable's name.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Binding of [`DrawParams`], with the address space.
    pub params: &'static str,
    /// Binding of the image: a texture, or words of memory.
    pub image: &'static str,
    /// Binding of the texture that is stored to.
    pub canvas: &'static str,
}

/// WGSL text of the curves.
const CURVES: &str = include_str!("wgsl/curves.wgsl");

/// Returns the text of a function `shown(at: vec2<f32>) -> vec4<f32>`: the colour at the centre of a pixel of the
/// target. All draws with the same `memory` and the same presence of `colors` share it.
pub fn shown(places: &Places, steps: Steps) -> String {
    let (colors, curves) = match steps.colors {
        Some(_) => (include_str!("wgsl/color.wgsl"), CURVES),
        None => (include_str!("wgsl/plain.wgsl"), ""),
    };
    let (variable, ty, texel) = match steps.memory {
        Some(_) => ("var<storage, read> words", "array<u32>", include_str!("wgsl/memory.wgsl")),
        None => ("var image", "texture_2d<f32>", include_str!("wgsl/texture.wgsl")),
    };
    let (params, image) = (places.params, places.image);
    let common = include_str!("wgsl/common.wgsl");
    format!("{common}{params} draw_params: DrawParams;\n{colors}{curves}{image} {variable}: {ty};\n{texel}")
}

/// Returns the text of a compute shader `store` that draws.
pub fn store(places: &Places, steps: Steps, to: Storage) -> String {
    let (access, over) = match to.blends {
        true => ("read_write", include_str!("wgsl/blend.wgsl")),
        false => ("write", include_str!("wgsl/replace.wgsl")),
    };
    let encoding = if to.encodes { include_str!("wgsl/encoded.wgsl") } else { include_str!("wgsl/as_is.wgsl") };
    // Texts with colour conversions contain the curves already.
    let curves = if to.encodes && steps.colors.is_none() { CURVES } else { "" };
    let (shown, canvas, name) = (shown(places, steps), places.canvas, to.name);
    let store = include_str!("wgsl/store.wgsl");
    format!("{shown}{canvas} var canvas: texture_storage_2d<{name}, {access}>;\n{store}{over}{encoding}{curves}")
}
