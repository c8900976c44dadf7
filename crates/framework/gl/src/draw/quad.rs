//! Draws an image into the bound framebuffer with a triangle.

use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::draw::draw_program::{ProgramKey, Programs};
use crate::draw::image_source::ImageSource;
use crate::objects::draw_state::{DrawState, OutputState, Source};
use glow::HasContext as _;
use interop_core::draw::Plan;
use interop_core::{Region, Result, Viewport};
use std::sync::Arc;

/// Programs for both manners, an empty vertex array, and a sampler that makes any texture of one level complete.
pub(crate) struct Quad {
    pub programs: Programs,
    vertex_array: OwnedObject<glow::VertexArray>,
    pub sampler: OwnedObject<glow::Sampler>,
}

/// A draw and its position.
#[derive(Clone, Copy)]
pub(crate) struct Draw<'a> {
    pub image: &'a ImageSource,
    /// Region of the image, by the plan.
    pub region: Region,
    pub viewport: Viewport,
    pub plan: &'a Plan,
    /// True where the state is restored in any context.
    pub keep: bool,
    /// True where the framebuffer may have draw buffers after the first.
    pub has_others: bool,
}

/// Position of a plan in a framebuffer, whose rows count from the bottom while those of plans count from the top.
pub(crate) struct PlanPlacement {
    /// Rectangle of the written pixels.
    pub clip: Viewport,
    /// Left and bottom of the picture.
    pub corner: [f32; 2],
}

impl PlanPlacement {
    pub(crate) fn new(plan: &Plan, viewport: Viewport) -> Self {
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
        Self { clip, corner: [left as f32, low as f32] }
    }
}

impl Quad {
    pub(crate) fn new(shared: &Arc<ContextState>) -> Result<Self> {
        let gl = &shared.gl;
        shared.drain_errors("Quad::new");
        // SAFETY: the context is current; samplers are of GL 3.3.
        let (vertex_array, sampler) = unsafe {
            let vertex_array = gl.create_vertex_array().map_err(|e| shared.no_name("glGenVertexArrays", &e))?;
            let vertex_array = OwnedObject::new(shared, vertex_array);
            let sampler = gl.create_sampler().map_err(|e| shared.no_name("glGenSamplers", &e))?;
            let sampler = OwnedObject::new(shared, sampler);
            for parameter in [glow::TEXTURE_MIN_FILTER, glow::TEXTURE_MAG_FILTER] {
                gl.sampler_parameter_i32(sampler.get(), parameter, glow::NEAREST as i32);
            }
            (vertex_array, sampler)
        };
        shared.check("Quad::new")?;
        Ok(Self { programs: Programs::default(), vertex_array, sampler })
    }

    /// Draws into the bound draw framebuffer.
    pub(crate) fn draw(&self, shared: &Arc<ContextState>, draw: &Draw<'_>) -> Result<()> {
        let Draw { image, region, viewport, plan, keep, has_others } = *draw;
        let program = self.programs.get(shared, ProgramKey::of(plan, image, None))?;
        let source = Source { target: image.target, texture: image.texture, sampler: self.sampler.get() };
        let PlanPlacement { clip, corner } = PlanPlacement::new(plan, viewport);
        let written = OutputState { blends: plan.blends, encodes: plan.format_encodes };
        let _state =
            DrawState::set(shared, (keep, has_others), clip, program.name(), self.vertex_array.get(), source, written);
        // SAFETY: the context is current, our program is in use; the region lies inside the image, so every fetch
        // lies inside the texture.
        unsafe {
            program.set(&shared.gl, image, region, plan, corner);
            shared.gl.draw_arrays(glow::TRIANGLES, 0, 3);
        }
        Ok(())
    }
}
