//! Drawing an image into the bound framebuffer.

use crate::draw_state::{DrawState, Source, Viewport};
use crate::names::Owned;
use crate::program::link;
use crate::shared::Shared;
use glow::HasContext as _;
use interop_core::{Region, Result};
use std::cell::OnceCell;
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
}

/// How a draw looks.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub linear: bool,
    pub grey: bool,
}

/// A program and its uniforms.
struct Program {
    program: Owned<glow::Program>,
    layout: Option<glow::UniformLocation>,
    window: Option<glow::UniformLocation>,
    region: Option<glow::UniformLocation>,
    smooth: Option<glow::UniformLocation>,
    grey: Option<glow::UniformLocation>,
}

/// Programs, an empty vertex array, and a sampler that makes any texture of one level complete.
pub(crate) struct Quad {
    /// By [`DEFINES`]; made at the first use.
    programs: [OnceCell<Program>; DEFINES.len()],
    vertex_array: Owned<glow::VertexArray>,
    sampler: Owned<glow::Sampler>,
}

/// For a texture or linear memory, drawn at any size or a texel for each pixel.
const DEFINES: [&str; 4] =
    ["", "#define LINEAR_MEMORY\n", "#define ONE_TO_ONE\n", "#define LINEAR_MEMORY\n#define ONE_TO_ONE\n"];

const VERSION: &str = "#version 330 core\n";
const VERTEX: &str = include_str!("triangle.vert");
const FRAGMENT: &str = include_str!("image.frag");

impl Program {
    fn build(shared: &Rc<Shared>, defines: &str) -> Result<Self> {
        let text = |stage| format!("{VERSION}{defines}{stage}");
        let stages = [(glow::VERTEX_SHADER, &*text(VERTEX)), (glow::FRAGMENT_SHADER, &*text(FRAGMENT))];
        let program = link(shared, &stages)?;
        // SAFETY: the context is current and the program is of it and linked.
        let at = |uniform| unsafe { shared.gl.get_uniform_location(program.get(), uniform) };
        // The sampler uniform starts as unit 0, the one we use.
        let (layout, window, region) = (at("layout_"), at("window"), at("region"));
        Ok(Self { layout, window, region, smooth: at("smooth_"), grey: at("grey"), program })
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
        Ok(Self { programs: Default::default(), vertex_array, sampler })
    }

    fn program(&self, shared: &Rc<Shared>, linear_memory: bool, one_to_one: bool) -> Result<&Program> {
        let index = usize::from(linear_memory) + 2 * usize::from(one_to_one);
        let slot = &self.programs[index];
        match slot.get() {
            Some(program) => Ok(program),
            None => {
                let program = Program::build(shared, DEFINES[index])?;
                Ok(slot.get_or_init(|| program))
            }
        }
    }

    /// Draws `region` of the image over the whole of `viewport` in the bound draw framebuffer. `keep` puts the state
    /// back in any context.
    pub(crate) fn draw(
        &self,
        shared: &Rc<Shared>,
        image: &ImageSource,
        region: Region,
        viewport: Viewport,
        look: Look,
        keep: bool,
    ) -> Result<()> {
        let one_to_one = !look.linear && (viewport.width, viewport.height) == (region.width, region.height);
        let p = self.program(shared, image.target == glow::TEXTURE_BUFFER, one_to_one)?;
        let source = Source { target: image.target, texture: image.texture, sampler: self.sampler.get() };
        let gl = &shared.gl;
        let _state = DrawState::set(shared, keep, viewport, p.program.get(), self.vertex_array.get(), source);
        // SAFETY: the context is current, our program is in use; the region lies inside the image, so every fetch
        // lies inside the texture.
        unsafe {
            let (x, y, w, h) = (region.x as i32, region.y as i32, region.width as i32, region.height as i32);
            gl.uniform_2_i32(p.layout.as_ref(), image.base, image.pitch);
            gl.uniform_4_i32(p.region.as_ref(), x, y, w, h);
            let (vw, vh) = (viewport.width as f32, viewport.height as f32);
            gl.uniform_4_f32(p.window.as_ref(), viewport.x as f32, viewport.y as f32, vw, vh);
            gl.uniform_1_i32(p.smooth.as_ref(), i32::from(look.linear));
            gl.uniform_1_i32(p.grey.as_ref(), i32::from(look.grey));
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
        }
        Ok(())
    }
}
