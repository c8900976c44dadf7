//! Paints triangles in plain memory, without a graphics driver.

use super::PanelMesh;
use egui::epaint::{ImageDelta, Primitive, Vertex};
use egui::{Color32, ColorImage, ImageData, Mesh, Pos2, Rect, TextureId};
use image::{Rgba, RgbaImage};
use pixelferry::driver::draw::{Plan, paint};
use pixelferry::{DrawOptions, Error, Extent, ImageView, Link, PixelFormat, RowOrder, SurfaceDesc};
use std::collections::HashMap;

/// A picture to draw on, top row first.
pub struct Canvas {
    picture: RgbaImage,
    textures: HashMap<TextureId, ColorImage>,
}

/// Red, green, blue, alpha, from 0 to 255.
type Colour = [f32; 4];

impl Canvas {
    /// Makes a canvas of one colour, with channels from 0 to 1.
    pub fn new(width: u32, height: u32, colour: [f32; 4]) -> Self {
        let pixel = Rgba(colour.map(|c| (c * 255.0 + 0.5) as u8));
        Self { picture: RgbaImage::from_pixel(width, height, pixel), textures: HashMap::new() }
    }

    /// Returns the picture.
    pub fn into_picture(self) -> RgbaImage {
        self.picture
    }

    /// Draws the picture that `link` shows into `area`, in pixels, as `draw_options` says.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if the link shows a buffer, or if `draw_options` does not suit the picture.
    pub fn picture(&mut self, link: &mut Link, draw_options: &DrawOptions, area: Rect) -> Result<(), Error> {
        const OP: &str = "Canvas::picture";
        let SurfaceDesc::Image(image) = *link.shown()?.desc() else {
            return Err(Error::invalid(OP, "the scene shows a buffer, which needs OpenGL to be drawn"));
        };
        let canvas = Extent::new(self.picture.width(), self.picture.height());
        let side = |from: f32, to: f32, most: u32| {
            let [from, to] = [from, to].map(|v| (v.max(0.0) as u32).min(most));
            (from, to.saturating_sub(from))
        };
        let (x, width) = side(area.left(), area.right(), canvas.width);
        let (y, height) = side(area.top(), area.bottom(), canvas.height);
        let plan = Plan::new(&image, Extent::new(width, height), draw_options)?;
        let reversed = image.row_order == RowOrder::BottomUp;
        let from = ImageView::packed(image.extent, image.format, 1, 0, reversed)?;
        let to = ImageView::packed(canvas, PixelFormat::Rgba8, 1, 0, false)?;
        paint(&plan, (&link.read_back()?, &from), (&mut self.picture, &to), (x, y))
    }

    /// Blends the panels over the canvas.
    pub fn paint(&mut self, painted: &PanelMesh) {
        for (id, delta) in &painted.textures.set {
            set_texture(&mut self.textures, *id, delta);
        }
        let size = self.picture.dimensions();
        for primitive in &painted.primitives {
            if let Primitive::Mesh(mesh) = &primitive.primitive {
                self.mesh(mesh, painted.pixels(primitive.clip_rect, size), painted.scale);
            }
        }
    }

    fn mesh(&mut self, mesh: &Mesh, clip: [i32; 4], scale: f32) {
        // Taken out during the call.
        let Some(texture) = self.textures.remove(&mesh.texture_id) else { return };
        for corners in mesh.indices.chunks_exact(3) {
            let corner = |i: usize| mesh.vertices.get(corners[i] as usize);
            if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
                self.triangle([a, b, c], &texture, clip, scale);
            }
        }
        self.textures.insert(mesh.texture_id, texture);
    }

    fn triangle(
        &mut self,
        corners: [&Vertex; 3],
        texture: &ColorImage,
        [left, top, right, bottom]: [i32; 4],
        scale: f32,
    ) {
        let mut corners = corners;
        let place = |v: &Vertex| v.pos * scale;
        let area = cross(place(corners[0]), place(corners[1]), place(corners[2]));
        if area == 0.0 || !area.is_finite() {
            return;
        }
        if area < 0.0 {
            corners.swap(1, 2);
        }
        let [a, b, c] = corners.map(place);
        let least = |f: fn(Pos2) -> f32| f(a).min(f(b)).min(f(c)).floor();
        let most = |f: fn(Pos2) -> f32| f(a).max(f(b)).max(f(c)).ceil();
        let (x0, x1) = ((least(|p| p.x) as i32).max(left), (most(|p| p.x) as i32).min(right));
        let (y0, y1) = ((least(|p| p.y) as i32).max(top), (most(|p| p.y) as i32).min(bottom));
        let owned = [owns(b, c), owns(c, a), owns(a, b)];
        let tints = corners.map(|v| v.color.to_array().map(f32::from));
        let [width, height] = texture.size.map(|n| n as f32);
        for y in y0..y1 {
            for x in x0..x1 {
                let p = Pos2::new(x as f32 + 0.5, y as f32 + 0.5);
                let sides = [cross(b, c, p), cross(c, a, p), cross(a, b, p)];
                if sides.iter().zip(owned).any(|(side, owned)| *side < 0.0 || (*side == 0.0 && !owned)) {
                    continue;
                }
                let weights = sides.map(|side| side / area.abs());
                let mix = |values: [f32; 3]| values.iter().zip(weights).map(|(v, w)| v * w).sum::<f32>();
                let (u, v) = (mix(corners.map(|c| c.uv.x)) * width, mix(corners.map(|c| c.uv.y)) * height);
                let texel = |x: i64, y: i64| texel(texture, x, y);
                let sampled = between(texel, u, v);
                let colour = std::array::from_fn(|i| mix(tints.map(|t| t[i])) * sampled[i] / 255.0);
                self.blend(x as u32, y as u32, colour);
            }
        }
    }

    /// Blends a premultiplied colour over a pixel.
    fn blend(&mut self, x: u32, y: u32, colour: Colour) {
        let Some(pixel) = self.picture.get_pixel_mut_checked(x, y) else { return };
        let keep = 1.0 - colour[3] / 255.0;
        for (below, above) in pixel.0.iter_mut().zip(colour) {
            *below = (above + f32::from(*below) * keep + 0.5) as u8;
        }
    }
}

fn set_texture(textures: &mut HashMap<TextureId, ColorImage>, id: TextureId, delta: &ImageDelta) {
    let ImageData::Color(image) = &delta.image;
    match (delta.pos, textures.get_mut(&id)) {
        (None, _) => {
            textures.insert(id, image.as_ref().clone());
        }
        (Some([x, y]), Some(texture)) => {
            let (from, to) = (image.size[0].max(1), texture.size[0]);
            for (row, pixels) in image.pixels.chunks(from).enumerate() {
                let at = (y + row) * to + x;
                if let Some(to) = texture.pixels.get_mut(at..at + pixels.len()) {
                    to.copy_from_slice(pixels);
                }
            }
        }
        (Some(_), None) => {}
    }
}

fn texel(texture: &ColorImage, x: i64, y: i64) -> Colour {
    let [width, height] = texture.size;
    let x = x.clamp(0, width as i64 - 1) as usize;
    let y = y.clamp(0, height as i64 - 1) as usize;
    texture.pixels.get(y * width + x).copied().unwrap_or(Color32::TRANSPARENT).to_array().map(f32::from)
}

/// Interpolates between the four texels around a position, which counts from the centre of the first.
fn between(texel: impl Fn(i64, i64) -> Colour, u: f32, v: f32) -> Colour {
    let (u, v) = (u - 0.5, v - 0.5);
    let (x, y) = (u.floor(), v.floor());
    let (fx, fy) = (u - x, v - y);
    let (x, y) = (x as i64, y as i64);
    // Most of the panels uses one texel, at its centre.
    if fx == 0.0 && fy == 0.0 {
        return texel(x, y);
    }
    let [a, b, c, d] = [texel(x, y), texel(x + 1, y), texel(x, y + 1), texel(x + 1, y + 1)];
    std::array::from_fn(|i| {
        let (above, below) = (a[i] + fx * (b[i] - a[i]), c[i] + fx * (d[i] - c[i]));
        above + fy * (below - above)
    })
}

/// Twice the area of a triangle; positive if its corners go round clockwise on the screen.
fn cross(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Returns whether a clockwise triangle owns the pixels on this edge, so that two triangles with a common edge do not
/// both draw them.
fn owns(from: Pos2, to: Pos2) -> bool {
    (from.y == to.y && to.x > from.x) || to.y < from.y
}
