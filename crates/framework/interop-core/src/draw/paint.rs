//! Draws on the CPU: the reference, and the implementation of the display in plain memory.

use super::{Plan, Shading};
use crate::describe::color::{AlphaMode, Curve, load, store};
use crate::describe::error::{Error, Result};
use crate::describe::format::ChannelKind;
use crate::describe::geometry::{Extent, Region};
use crate::describe::view::{ImageView, View};

/// Limit of every number's magnitude: 2^38, so that neither a curve nor an exposure makes it infinite.
const LIMIT: f32 = 274_877_906_944.0;

/// Replaces NaN by 0 and limits infinities.
fn clean(v: f32) -> f32 {
    if v.is_nan() { 0.0 } else { v.clamp(-LIMIT, LIMIT) }
}

/// Divides by alpha; where alpha is 0 the colour is 0.
fn divided([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    if a > 0.0 { [r / a, g / a, b / a, a] } else { [0.0, 0.0, 0.0, a] }
}

fn multiplied([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [r * a, g * a, b * a, a]
}

fn mix(a: [f32; 4], b: [f32; 4], by: f32) -> [f32; 4] {
    std::array::from_fn(|c| a[c] * (1.0 - by) + b[c] * by)
}

/// Applies `f` to the first three channels.
fn on_rgb([r, g, b, a]: [f32; 4], f: impl FnMut(f32) -> f32) -> [f32; 4] {
    let [r, g, b] = [r, g, b].map(f);
    [r, g, b, a]
}

impl Shading {
    /// Converts a texel to light multiplied by its coverage, which can be weighted.
    fn light(&self, texel: [f32; 4]) -> [f32; 4] {
        let [r, g, b, a] = texel.map(clean);
        let a = match self.alpha {
            AlphaMode::Stored => texel[3],
            AlphaMode::Opaque => 1.0,
            AlphaMode::Premultiplied | AlphaMode::Straight => a.clamp(0.0, 1.0),
        };
        let own = if self.alpha == AlphaMode::Premultiplied { divided([r, g, b, a]) } else { [r, g, b, a] };
        let light = on_rgb(own, |v| self.decode.decode(clean(v)));
        if self.alpha.is_translucent() { multiplied(light) } else { light }
    }

    /// Converts weighted light to the numbers to write.
    fn shown(&self, light: [f32; 4], plan: &Plan) -> [f32; 4] {
        let [r, g, b, a] = if self.alpha.is_translucent() { divided(light) } else { light };
        let [r, g, b] = self.tone.apply([r, g, b].map(|v| v * self.gain));
        let own = match plan.background {
            Some([br, bg, bb]) if self.alpha.is_translucent() => mix([br, bg, bb, 1.0], [r, g, b, 1.0], a),
            _ => [r, g, b, a],
        };
        let encoded = on_rgb(own, |v| self.encode.encode(v));
        if plan.blends { multiplied(encoded) } else { encoded }
    }
}

impl Plan {
    /// Returns the colour to write to pixel (`x`, `y`) of the viewport, which lies in [`Plan::drawn`], before blending.
    /// `texel` returns the texel of a column and row of the image, rows from the top.
    pub fn color(&self, x: u32, y: u32, image: Extent, texel: &dyn Fn(u32, u32) -> [f32; 4]) -> [f32; 4] {
        let along = |at: u32, start: i32, len: u32, texels: u32| {
            ((at as f32 + 0.5) - start as f32) / len as f32 * texels as f32
        };
        let at = [
            along(x, self.picture.x, self.picture.width, image.width),
            along(y, self.picture.y, self.picture.height, image.height),
        ];
        let outside = |v: f32, texels: u32| v < 0.0 || v >= texels as f32;
        if let Some([r, g, b]) = self.background
            && self.bars
            && (outside(at[0], image.width) || outside(at[1], image.height))
        {
            let encode = self.shading.map_or(Curve::Linear, |s| s.encode);
            return on_rgb([r, g, b, 1.0], |v| encode.encode(v));
        }
        let tap = |x: f32, y: f32| {
            // The cast truncates the fraction.
            let [r, g, b, a] = texel((x as u32).min(image.width - 1), (y as u32).min(image.height - 1));
            let own = if self.grey { [r, r, r, 1.0] } else { [r, g, b, a] };
            self.shading.map_or(own, |s| s.light(own))
        };
        let weighed = if self.weighs {
            let corner = at.map(|v| (v - 0.5).floor());
            let [fx, fy] = [at[0] - 0.5 - corner[0], at[1] - 0.5 - corner[1]];
            let row = |y: f32| mix(tap(corner[0], y), tap(corner[0] + 1.0, y), fx);
            mix(row(corner[1]), row(corner[1] + 1.0), fy)
        } else {
            tap(at[0].floor(), at[1].floor())
        };
        self.shading.map_or(weighed, |s| s.shown(weighed, self))
    }

    /// True where the bytes of an image can be copied to a target of its format.
    pub fn is_copy(&self) -> bool {
        let as_is = self.shading.is_none() && !self.grey && !self.blends && !self.format_encodes;
        as_is && self.one_to_one && !self.bars
    }

    /// Returns the target's content after writing `new` over `old`, as hardware does it.
    fn written(&self, new: [f32; 4], old: impl FnOnce() -> [f32; 4], kind: ChannelKind) -> [f32; 4] {
        // Integer targets clamp before they blend.
        let new = if kind.is_float() { new } else { new.map(|v| v.clamp(0.0, 1.0)) };
        let curve = if self.format_encodes { Curve::Srgb } else { Curve::Linear };
        let all = if self.blends {
            let old = on_rgb(old(), |v| curve.decode(v));
            std::array::from_fn(|c| new[c] + old[c] * (1.0 - new[3]))
        } else {
            new
        };
        on_rgb(all, |v| curve.encode(v))
    }
}

/// Draws `image` over the part of `target` that begins at pixel `at` and has the size of the plan's viewport.
///
/// Displays with shaders produce the same numbers within 1/255 in integer targets, and within 1/500 of the number
/// (1/5000 near 0) in floating-point targets. With [`crate::Filter::Nearest`], a pixel whose centre lies on the edge
/// between two texels may show either.
///
/// Where no conversion is needed, bytes are copied unchanged, whatever they contain.
///
/// # Errors
/// [`Error::InvalidInput`] where image or target reach outside their bytes, where the plan reaches outside the target,
/// or where the image's size differs from the planned one.
pub fn paint(plan: &Plan, image: (&[u8], &ImageView), target: (&mut [u8], &ImageView), at: (u32, u32)) -> Result<()> {
    let ((from, from_view), (to, to_view)) = (image, target);
    View::Image(*from_view).check_inside(from.len())?;
    View::Image(*to_view).check_inside(to.len())?;
    let drawn = plan.drawn;
    let region = Region { x: at.0.saturating_add(drawn.x), y: at.1.saturating_add(drawn.y), ..drawn };
    region.check_inside(to_view.extent)?;
    let planned = Extent::new(plan.picture.width, plan.picture.height);
    if plan.one_to_one && planned != from_view.extent {
        return Err(Error::refused(format!(
            "the plan is for an image of {planned}, but {} was given",
            from_view.extent
        )));
    }
    let (from_size, to_size) = (from_view.format.bytes_per_pixel(), to_view.format.bytes_per_pixel());
    if plan.is_copy() && from_view.format == to_view.format {
        for y in 0..drawn.height {
            let row = to_view.row_start(region.y + y) + region.x as usize * to_size;
            let x = (i64::from(drawn.x) - i64::from(plan.picture.x)) as usize * from_size;
            let line = (i64::from(drawn.y + y) - i64::from(plan.picture.y)) as u32;
            let start = from_view.row_start(line) + x;
            let len = drawn.width as usize * from_size;
            to[row..row + len].copy_from_slice(&from[start..start + len]);
        }
        return Ok(());
    }
    let texel = |x: u32, y: u32| load(from_view.format, &from[from_view.row_start(y) + x as usize * from_size..]);
    for y in 0..drawn.height {
        let row = to_view.row_start(region.y + y) + region.x as usize * to_size;
        let pixels = to[row..row + drawn.width as usize * to_size].chunks_exact_mut(to_size);
        for (x, pixel) in (drawn.x..).zip(pixels) {
            let color = plan.color(x, drawn.y + y, from_view.extent, &texel);
            let written = plan.written(color, || load(to_view.format, pixel), to_view.format.channel_kind());
            store(to_view.format, written, pixel);
        }
    }
    Ok(())
}
