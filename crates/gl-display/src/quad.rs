//! Drawing an image into the bound framebuffer.

use crate::draw_state::{DrawState, Source, Viewport, Written};
use crate::gl_format::Decoding;
use crate::owned::Owned;
use crate::program::link;
use crate::shared::Shared;
use glow::HasContext as _;
use interop_core::draw::{Plan, Variant};
use interop_core::{Region, Result};
use std::cell::RefCell;
use std::rc::Rc;

/// Where the pixels are.
#[derive(Clone, Copy)]
pub(crate) struct ImageSource {
    pub target: u32,
    pub texture: glow::Texture,
    /// Texel of pixel (0, 0), in a buffer texture.
    pub base: i32,
    /// Texels from row to row, in a buffer texture.
    pub pitch: i32,
    /// Of texels in a buffer texture.
    pub decoding: Decoding,
}

impl ImageSource {
    /// All of a 2-D texture.
    pub(crate) const fn texture(texture: glow::Texture) -> Self {
        Self { target: glow::TEXTURE_2D, texture, base: 0, pitch: 0, decoding: Decoding::None }
    }
}

/// A program and its uniforms.
struct Program {
    program: Owned<glow::Program>,
    layout: Option<glow::UniformLocation>,
    window: Option<glow::UniformLocation>,
    region: Option<glow::UniformLocation>,
    smooth: Option<glow::UniformLocation>,
    grey: Option<glow::UniformLocation>,
    background: Option<glow::UniformLocation>,
    exposure: Option<glow::UniformLocation>,
}

/// What a program is made for. Plain draws have programs of their own, with nothing of colours in them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// How texels of linear memory are read; `None` where the image is a texture.
    memory: Option<Decoding>,
    one_to_one: bool,
    bars: bool,
    colors: Option<Variant>,
}

/// Programs, an empty vertex array, and a sampler that makes any texture of one level complete.
pub(crate) struct Quad {
    /// Made at the first use.
    programs: RefCell<Vec<(Kind, Rc<Program>)>>,
    vertex_array: Owned<glow::VertexArray>,
    sampler: Owned<glow::Sampler>,
}

const VERSION: &str = "#version 330 core\n";
const VERTEX: &str = include_str!("triangle.vert");
const COLOR: &str = include_str!("color.glsl");
const FRAGMENT: &str = include_str!("image.frag");

impl Kind {
    fn of(plan: &Plan, source: &ImageSource) -> Self {
        let memory = (source.target == glow::TEXTURE_BUFFER).then_some(source.decoding);
        Self { memory, one_to_one: plan.one_to_one, bars: plan.bars, colors: Variant::of(plan) }
    }

    /// Before the text of the fragment shader.
    fn head(self) -> String {
        let names = [(self.memory.is_some(), "LINEAR_MEMORY"), (self.one_to_one, "ONE_TO_ONE"), (self.bars, "BARS")];
        let decoding = self.memory.and_then(Decoding::define);
        let names = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).chain(decoding);
        let names = names.map(|name| format!("#define {name}\n"));
        let Some(colors) = self.colors else { return format!("{VERSION}{}", names.collect::<String>()) };
        let values = colors.constants().map(|(name, value)| format!("#define {name} {value}\n")).concat();
        format!("{VERSION}{}#define SHADED\n{values}{COLOR}", names.collect::<String>())
    }
}

impl Program {
    fn build(shared: &Rc<Shared>, kind: Kind) -> Result<Self> {
        let (vertex, fragment) = (format!("{VERSION}{VERTEX}"), format!("{}{FRAGMENT}", kind.head()));
        let program = link(shared, &[(glow::VERTEX_SHADER, &vertex), (glow::FRAGMENT_SHADER, &fragment)])?;
        // SAFETY: the context is current and the program is of it and linked.
        let at = |uniform| unsafe { shared.gl.get_uniform_location(program.get(), uniform) };
        // The sampler uniform starts as unit 0, the one we use.
        let (layout, window, region) = (at("layout_"), at("window"), at("region"));
        let (smooth, grey, background, exposure) = (at("smooth_"), at("grey"), at("background"), at("exposure"));
        Ok(Self { layout, window, region, smooth, grey, background, exposure, program })
    }
}

impl Quad {
    pub(crate) fn new(shared: &Rc<Shared>) -> Result<Self> {
        let gl = &shared.gl;
        shared.drain_errors("Quad::new");
        // SAFETY: the context is current; samplers are of GL 3.3.
        let (vertex_array, sampler) = unsafe {
            let vertex_array = gl.create_vertex_array().map_err(|e| shared.no_name("glGenVertexArrays", &e))?;
            let vertex_array = Owned::new(shared, vertex_array);
            let sampler = gl.create_sampler().map_err(|e| shared.no_name("glGenSamplers", &e))?;
            let sampler = Owned::new(shared, sampler);
            for parameter in [glow::TEXTURE_MIN_FILTER, glow::TEXTURE_MAG_FILTER] {
                gl.sampler_parameter_i32(sampler.get(), parameter, glow::NEAREST as i32);
            }
            (vertex_array, sampler)
        };
        shared.check("Quad::new")?;
        Ok(Self { programs: RefCell::default(), vertex_array, sampler })
    }

    fn program(&self, shared: &Rc<Shared>, kind: Kind) -> Result<Rc<Program>> {
        let mut made = self.programs.borrow_mut();
        if let Some((_, program)) = made.iter().find(|(other, _)| *other == kind) {
            return Ok(Rc::clone(program));
        }
        let program = Rc::new(Program::build(shared, kind)?);
        made.push((kind, Rc::clone(&program)));
        Ok(program)
    }

    /// Draws `region` of the image as planned into `viewport` of the bound draw framebuffer. `keep` puts the state
    /// back in any context.
    pub(crate) fn draw(
        &self,
        shared: &Rc<Shared>,
        image: &ImageSource,
        region: Region,
        viewport: Viewport,
        plan: &Plan,
        keep: bool,
    ) -> Result<()> {
        let p = self.program(shared, Kind::of(plan, image))?;
        let source = Source { target: image.target, texture: image.texture, sampler: self.sampler.get() };
        let gl = &shared.gl;
        // Plans count rows from the top.
        let bottom = |y: i64, rows: u32| i64::from(viewport.height) - y - i64::from(rows);
        let (drawn, picture) = (plan.drawn, plan.picture);
        let clip = Viewport {
            x: viewport.x.saturating_add_unsigned(drawn.x),
            y: viewport.y.saturating_add_unsigned(bottom(i64::from(drawn.y), drawn.height) as u32),
            width: drawn.width,
            height: drawn.height,
        };
        let left = i64::from(viewport.x) + i64::from(picture.x);
        let low = i64::from(viewport.y) + bottom(i64::from(picture.y), picture.height);
        let written = Written { blends: plan.blends, encodes: plan.format_encodes };
        let _state = DrawState::set(shared, keep, clip, p.program.get(), self.vertex_array.get(), source, written);
        // SAFETY: the context is current, our program is in use; the region lies inside the image, so every fetch
        // lies inside the texture.
        unsafe {
            let (x, y, w, h) = (region.x as i32, region.y as i32, region.width as i32, region.height as i32);
            gl.uniform_2_i32(p.layout.as_ref(), image.base, image.pitch);
            gl.uniform_4_i32(p.region.as_ref(), x, y, w, h);
            let size = [picture.width as f32, picture.height as f32];
            gl.uniform_4_f32(p.window.as_ref(), left as f32, low as f32, size[0], size[1]);
            gl.uniform_1_i32(p.smooth.as_ref(), i32::from(plan.weighs));
            gl.uniform_1_i32(p.grey.as_ref(), i32::from(plan.grey));
            if let Some([r, g, b]) = plan.background {
                gl.uniform_3_f32(p.background.as_ref(), r, g, b);
            }
            if let Some(shading) = plan.shading {
                gl.uniform_2_f32(p.exposure.as_ref(), shading.gain, shading.tone.inverse_white_squared());
            }
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
        }
        Ok(())
    }
}
