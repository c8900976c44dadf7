//! Programs that draw images: the same shader text with two heads, for fragments and for stores.

use crate::api::gl_format::TexelDecoding;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::draw::image_source::ImageSource;
use crate::objects::program::{compute_version, draw_version, link};
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::draw::{Plan, Variant};
use interop_core::{Region, Result};
use std::sync::Arc;

/// Variant of a compute shader's store, which replaces the hardware's steps after a fragment shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Storer {
    /// The layout with which the old pixel is read, where the draw blends, and whether it holds only 0 to 1.
    pub blends_as: Option<(&'static str, bool)>,
    pub encodes: bool,
}

/// Key of a program. Plain draws have programs of their own, without colour conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramKey {
    /// Decoding of texels in linear memory; `None` if the image is a texture.
    memory: Option<TexelDecoding>,
    one_to_one: bool,
    bars: bool,
    colors: Option<Variant>,
    /// `None` for fragments.
    storer: Option<Storer>,
}

/// A program and its uniforms.
pub(crate) struct Program {
    program: OwnedObject<glow::Program>,
    layout: Option<glow::UniformLocation>,
    window: Option<glow::UniformLocation>,
    region: Option<glow::UniformLocation>,
    smooth: Option<glow::UniformLocation>,
    grey: Option<glow::UniformLocation>,
    background: Option<glow::UniformLocation>,
    exposure: Option<glow::UniformLocation>,
    /// Location of the area that stores write.
    area: Option<glow::UniformLocation>,
    /// The last values of the uniforms, which a program keeps.
    given: PlainMutex<Option<HeadUniforms>>,
    /// Changes with each draw where [`stale_coordinates`](crate::api::features::Features::stale_coordinates) requires
    /// it.
    turn: Option<PlainMutex<bool>>,
    given_area: PlainMutex<Option<[u32; 4]>>,
}

/// The uniforms that both heads have.
#[derive(Clone, Copy, PartialEq)]
struct HeadUniforms {
    layout: [i32; 2],
    region: Region,
    window: [f32; 4],
    weighs: bool,
    grey: i32,
    background: Option<[f32; 3]>,
    exposure: Option<[f32; 2]>,
}

/// Programs, built at first use.
#[derive(Default)]
pub(crate) struct Programs(PlainMutex<Vec<(ProgramKey, Arc<Program>)>>);

const VERTEX: &str = include_str!("quad.vert");
const CURVES: &str = include_str!("curves.glsl");
const COLOR: &str = include_str!("color.glsl");
const IMAGE: &str = include_str!("image.glsl");
const FRAGMENT: &str = include_str!("quad.frag");
const STORE: &str = include_str!("store.comp");

impl ProgramKey {
    pub(crate) fn of(plan: &Plan, source: &ImageSource, storer: Option<Storer>) -> Self {
        let memory = (source.target == glow::TEXTURE_BUFFER).then_some(source.decoding);
        Self { memory, one_to_one: plan.one_to_one, bars: plan.bars, colors: Variant::of(plan), storer }
    }

    /// Returns the stage's text without its version.
    fn text(self) -> String {
        let encodes = self.storer.is_some_and(|storer| storer.encodes);
        let blends = self.storer.and_then(|storer| storer.blends_as);
        let names = [
            (self.memory.is_some(), "LINEAR_MEMORY"),
            (self.one_to_one, "ONE_TO_ONE"),
            (self.bars, "BARS"),
            (self.colors.is_some(), "SHADED"),
            (encodes, "ENCODES"),
            (blends.is_some_and(|(_, fixed)| fixed), "FIXED"),
        ];
        let decoding = self.memory.and_then(TexelDecoding::define);
        let names = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).chain(decoding);
        let mut text: String = names.map(|name| format!("#define {name}\n")).collect();
        if let Some((layout, _)) = blends {
            text += &format!("#define BLENDS_AS {layout}\n");
        }
        if encodes || self.colors.is_some() {
            text += CURVES;
        }
        if let Some(colors) = self.colors {
            text.extend(colors.constants().map(|(name, value)| format!("#define {name} {value}\n")));
            text += COLOR;
        }
        text + IMAGE + if self.storer.is_some() { STORE } else { FRAGMENT }
    }
}

impl Program {
    fn build(shared: &Arc<ContextState>, kind: ProgramKey) -> Result<Self> {
        let text = kind.text();
        let program = if kind.storer.is_some() {
            link(shared, &[(glow::COMPUTE_SHADER, &format!("{}{text}", compute_version(&shared.features)))])?
        } else {
            let version = draw_version(&shared.features, kind.memory.is_some());
            let (vertex, fragment) = (format!("{version}{VERTEX}"), format!("{version}{text}"));
            link(shared, &[(glow::VERTEX_SHADER, &vertex), (glow::FRAGMENT_SHADER, &fragment)])?
        };
        // SAFETY: the context is current and the program is of it and linked.
        let at = |uniform| unsafe { shared.gl.get_uniform_location(program.get(), uniform) };
        // The sampler uniform is initially unit 0, which is used here; the image uniform is image unit 0.
        let (layout, window, region, area) = (at("layout_"), at("window"), at("region"), at("area"));
        let (smooth, grey, background, exposure) = (at("smooth_"), at("grey"), at("background"), at("exposure"));
        let (given, given_area) = (PlainMutex::new(None), PlainMutex::new(None));
        let turn = (kind.storer.is_none() && shared.features.stale_coordinates).then(PlainMutex::default);
        Ok(Self { layout, window, region, smooth, grey, background, exposure, area, given, turn, given_area, program })
    }

    pub(crate) fn name(&self) -> glow::Program {
        self.program.get()
    }

    /// Sets the uniforms that both heads have. `corner` is the left and bottom of the picture in the framebuffer.
    ///
    /// # Safety
    /// The context is current and the program in use; the region lies inside the image.
    pub(crate) unsafe fn set(
        &self,
        gl: &glow::Context,
        image: &ImageSource,
        region: Region,
        plan: &Plan,
        corner: [f32; 2],
    ) {
        let [width, height] = [plan.picture.width as f32, plan.picture.height as f32];
        let turned = self.turn.as_ref().is_some_and(|turn| turn.replace(!turn.get()));
        let given = HeadUniforms {
            layout: [image.base, image.pitch],
            region,
            window: [corner[0], corner[1], width, height],
            weighs: plan.weighs,
            // Positive means grey.
            grey: i32::from(plan.grey) * 4 - 2 + i32::from(turned),
            background: plan.background,
            exposure: plan.shading.map(|shading| [shading.gain, shading.tone.inverse_white_squared()]),
        };
        if self.given.replace(Some(given)) == Some(given) {
            return;
        }
        let (x, y, w, h) = (region.x as i32, region.y as i32, region.width as i32, region.height as i32);
        // SAFETY: the caller's promise; the locations are the program's own.
        unsafe {
            gl.uniform_2_i32(self.layout.as_ref(), image.base, image.pitch);
            gl.uniform_4_i32(self.region.as_ref(), x, y, w, h);
            gl.uniform_4_f32(self.window.as_ref(), corner[0], corner[1], width, height);
            gl.uniform_1_i32(self.smooth.as_ref(), i32::from(given.weighs));
            gl.uniform_1_i32(self.grey.as_ref(), given.grey);
            if let Some([r, g, b]) = given.background {
                gl.uniform_3_f32(self.background.as_ref(), r, g, b);
            }
            if let Some([gain, white]) = given.exposure {
                gl.uniform_2_f32(self.exposure.as_ref(), gain, white);
            }
        }
    }

    /// Sets the area of the target that stores write: left, bottom, width, height.
    ///
    /// # Safety
    /// The context is current and the program in use; the area lies inside the target.
    pub(crate) unsafe fn set_area(&self, gl: &glow::Context, area: [u32; 4]) {
        if self.given_area.replace(Some(area)) != Some(area) {
            let [x, y, width, height] = area.map(|v| v as i32);
            // SAFETY: the caller's promise; the location is the program's own.
            unsafe { gl.uniform_4_i32(self.area.as_ref(), x, y, width, height) }
        }
    }
}

impl Programs {
    /// The context must be current.
    pub(crate) fn get(&self, shared: &Arc<ContextState>, kind: ProgramKey) -> Result<Arc<Program>> {
        let mut made = self.0.lock();
        if let Some((_, program)) = made.iter().find(|(other, _)| *other == kind) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(Program::build(shared, kind)?);
        made.push((kind, Arc::clone(&program)));
        Ok(program)
    }
}
