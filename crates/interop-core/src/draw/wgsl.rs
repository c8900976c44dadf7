//! The draw in WGSL, for displays whose shaders are made of it: its text, and what it is told of one draw.

use super::{Plan, Variant};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Region;

/// Work items of a group of [`store`], as the text declares it.
pub const GROUP: (u32, u32) = (32, 8);

/// The structure `DrawParams` of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct DrawParams {
    region: [u32; 4],
    picture: [f32; 4],
    /// Byte of the first pixel in linear memory, bytes from row to row; whether texels are weighed, and one channel is grey.
    lie: [u32; 4],
    background: [f32; 4],
    exposure: [f32; 4],
    area: [i32; 4],
}

impl DrawParams {
    /// Bytes of the structure.
    pub const BYTES: usize = 96;

    /// Region of an image, drawn as planned, with the plan's viewport at this place of the target: left and top.
    pub fn new(plan: &Plan, region: Region, (x, y): (i32, i32)) -> Self {
        let (place, drawn) = (plan.picture, plan.drawn);
        // Position in the target; no side comes near the range of 64 bits.
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

    /// For an image in linear memory: the first byte of its first pixel, counted from the first that is bound, and the bytes from row
    /// to row.
    #[must_use]
    pub const fn in_memory(self, base: u32, pitch: u32) -> Self {
        let [.., linear, grey] = self.lie;
        Self { lie: [base, pitch, linear, grey], ..self }
    }

    /// What is drawn of the target, in pixels: left, top, width, height.
    pub const fn area(&self) -> [i32; 4] {
        self.area
    }

    /// The structure as shaders read it.
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

/// Steps that are fixed when a shader is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The format, where pixels lie in linear memory.
    pub memory: Option<PixelFormat>,
    /// A texel for each pixel.
    pub one_to_one: bool,
    /// More than the picture is drawn.
    pub bars: bool,
    /// Work on colours; plain draws have a text of their own with nothing of it.
    pub colors: Option<Variant>,
}

impl Steps {
    /// Those of a draw. `memory`: the format, where pixels lie in linear memory.
    pub fn new(plan: &Plan, memory: Option<PixelFormat>) -> Self {
        Self { memory, one_to_one: plan.one_to_one, bars: plan.bars, colors: Variant::of(plan) }
    }

    /// The constants by the names that the text gives them.
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        let switches = switches([("one_to_one", self.one_to_one), ("bars", self.bars)]);
        let colors = self.colors.map(Variant::constants).into_iter().flatten().map(|(n, value)| (n, f64::from(value)));
        let format = self.memory.map(|format| ("kind", f64::from(format.info().shader_id)));
        switches.into_iter().chain(colors).chain(format).collect()
    }
}

/// How a compute shader stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// Format of the storage texture, as WGSL calls it.
    pub name: &'static str,
    /// It holds 0 to 1 only.
    pub fixed: bool,
    /// Blue stands where it has red.
    pub blue_first: bool,
    /// The draw blends: the shader reads the texture, too.
    pub blends: bool,
    /// What is stored is encoded, as a format with sRGB encoding does.
    pub encodes: bool,
}

impl Storage {
    /// The constants by the names that the text gives them.
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        let fixed = self.blends.then_some(("cut_off", self.fixed));
        switches(fixed.into_iter().chain([("blue_first", self.blue_first)]))
    }
}

fn switches(named: impl IntoIterator<Item = (&'static str, bool)>) -> Vec<(&'static str, f64)> {
    named.into_iter().map(|(name, on)| (name, f64::from(u8::from(on)))).collect()
}

/// Where a display binds what the text reads and writes: the words of WGSL before the variable's name.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Of [`DrawParams`], with the address space.
    pub params: &'static str,
    /// Of the image: a texture, or words of memory.
    pub image: &'static str,
    /// Of the texture that is stored to.
    pub canvas: &'static str,
}

/// Curves of numbers.
const CURVES: &str = include_str!("wgsl/curves.wgsl");

/// The text of a function `shown(at: vec2<f32>) -> vec4<f32>`: what the draw shows at the centre of a pixel of the target. All draws
/// with the same `memory` and `colors`, or without, share it.
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

/// The text of a compute shader `store` that draws.
pub fn store(places: &Places, steps: Steps, to: Storage) -> String {
    let (access, over) = match to.blends {
        true => ("read_write", include_str!("wgsl/blend.wgsl")),
        false => ("write", include_str!("wgsl/replace.wgsl")),
    };
    let encoding = if to.encodes { include_str!("wgsl/encoded.wgsl") } else { include_str!("wgsl/as_is.wgsl") };
    // Texts that work on colours have them already.
    let curves = if to.encodes && steps.colors.is_none() { CURVES } else { "" };
    let (shown, canvas, name) = (shown(places, steps), places.canvas, to.name);
    let store = include_str!("wgsl/store.wgsl");
    format!("{shown}{canvas} var canvas: texture_storage_2d<{name}, {access}>;\n{store}{over}{encoding}{curves}")
}
