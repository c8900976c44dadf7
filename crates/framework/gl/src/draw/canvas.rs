//! Draws an image into a window's own framebuffer with a compute shader: into another texture, followed by a blit.
//!
//! A window's framebuffer cannot be bound to an image unit. A blit costs at most a triangle, so there is no third
//! manner to measure.

use crate::api::gl_format::gl_format;
use crate::context::context_state::ContextState;
use crate::draw::draw_program::{ProgramKey, Programs};
use crate::draw::quad::{Draw, PlanPlacement};
use crate::draw::store;
use crate::objects::attachment::{Attachment, StoreFormat};
use crate::objects::draw_state::ClearState;
use crate::objects::framebuffer::ColorTarget;
use crate::objects::state_guards::Framebuffers;
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::draw::{Obstacle, StoreCaps};
use interop_core::{PixelFormat, Result, Viewport};
use std::sync::Arc;

/// Draw buffers that a framebuffer may have, after the first.
const DRAW_BUFFERS: std::ops::RangeInclusive<u32> = glow::DRAW_BUFFER1..=glow::DRAW_BUFFER7;

/// Largest number of pixels of the texture for a window. The window's size cannot be queried, and a viewport may be far
/// larger.
const MOST_PIXELS: u64 = 1 << 26;

/// Formats of a window's pixels: bits of red, green and blue, of alpha if there is any, and the kind of number.
const FORMATS: [(i32, i32, u32, PixelFormat); 3] = [
    (8, 8, glow::UNSIGNED_NORMALIZED, PixelFormat::Rgba8),
    (10, 2, glow::UNSIGNED_NORMALIZED, PixelFormat::Rgb10A2),
    (16, 16, glow::FLOAT, PixelFormat::Rgba16F),
];

/// A window's or pbuffer's framebuffer that is bound for drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowTarget {
    /// Format of a texture that can hold the window's pixels.
    pub format: StoreFormat,
    pixels: PixelFormat,
    /// The only draw buffer.
    buffer: u32,
}

impl WindowTarget {
    /// Returns the bound framebuffer. The context must be current.
    pub(crate) fn bound(shared: &ContextState) -> Result<Self, Obstacle> {
        let gl = &shared.gl;
        // SAFETY: the context is current; states and the attachment's are single integers of GL 3.0.
        unsafe {
            let get = |name| gl.get_parameter_i32(name);
            let buffer = get(glow::DRAW_BUFFER0) as u32;
            let single = match buffer {
                glow::NONE => return Err(Obstacle::NoTexture),
                glow::BACK | glow::BACK_LEFT => glow::BACK_LEFT,
                glow::FRONT | glow::FRONT_LEFT => glow::FRONT_LEFT,
                glow::BACK_RIGHT | glow::FRONT_RIGHT => buffer,
                _ => return Err(Obstacle::Window("its draws reach several buffers")),
            };
            if DRAW_BUFFERS.into_iter().any(|name| get(name) as u32 != glow::NONE) {
                return Err(Obstacle::Window("its draws reach several buffers"));
            }
            if get(glow::SAMPLES) > 0 {
                return Err(Obstacle::Window("it has several samples for each pixel"));
            }
            let of = |name| gl.get_framebuffer_attachment_parameter_i32(glow::DRAW_FRAMEBUFFER, single, name);
            // Without a surface there is none.
            if of(glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 != glow::FRAMEBUFFER_DEFAULT {
                return Err(Obstacle::NoTexture);
            }
            let sizes = [
                glow::FRAMEBUFFER_ATTACHMENT_RED_SIZE,
                glow::FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
                glow::FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
            ]
            .map(of);
            let (alpha, numbers) =
                (of(glow::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE), of(glow::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) as u32);
            let row = FORMATS.into_iter().find(|(bits, most, kind, _)| {
                sizes.iter().all(|size| size == bits) && (alpha == 0 || alpha == *most) && numbers == *kind
            });
            let found = row.and_then(|(.., pixels)| Some((pixels, StoreFormat::of(gl_format(pixels).internal)?)));
            let (pixels, format) =
                found.ok_or_else(|| Obstacle::Format(format!("{sizes:?} and {alpha} bits of a window's pixel")))?;
            Ok(Self { format, pixels, buffer })
        }
    }

    /// Rejects draws that are not possible through a texture.
    pub(crate) fn takes(self, draw: &Draw<'_>) -> Result<(), Obstacle> {
        if draw.plan.drawn.extent().pixels() > MOST_PIXELS {
            return Err(Obstacle::Window("the viewport is larger than a texture beside it may be"));
        }
        // Drivers report unreliably whether a window encodes.
        draw.plan.may_store(StoreCaps { reads: true, encodes: false }, &format_args!("a window"))
    }
}

/// The texture, as large as the last draw needed.
#[derive(Default)]
pub(crate) struct Canvas(PlainMutex<Option<(PixelFormat, Arc<ColorTarget>)>>);

/// Objects that a draw needs.
pub(crate) struct Ready {
    store: store::Ready,
    /// `None` where the draw reaches no pixel of the window.
    beside: Option<(Arc<ColorTarget>, [u32; 4])>,
}

/// Returns the part of a window that a draw reaches, as far as is known without its size: left, bottom, width, height.
fn area(draw: &Draw<'_>) -> Option<[u32; 4]> {
    store::inside(PlanPlacement::new(draw.plan, draw.viewport).clip, [i32::MAX as u32; 2])
}

impl Canvas {
    /// Prepares a draw with a program of [`store::kind`]. The context must be current.
    pub(crate) fn ready(
        &self,
        shared: &Arc<ContextState>,
        programs: &Programs,
        kind: ProgramKey,
        window: WindowTarget,
        draw: &Draw<'_>,
    ) -> Result<Ready> {
        let store = store::Ready::of(shared, programs, kind)?;
        let Some(area) = area(draw) else { return Ok(Ready { store, beside: None }) };
        Ok(Ready { store, beside: Some((self.get(shared, window.pixels, area)?, area)) })
    }

    fn get(
        &self,
        shared: &Arc<ContextState>,
        pixels: PixelFormat,
        [.., width, height]: [u32; 4],
    ) -> Result<Arc<ColorTarget>> {
        let mut kept = self.0.lock();
        let fits = |(format, target): &(PixelFormat, Arc<ColorTarget>)| {
            let (w, h) = target.size();
            // A window that was far larger before keeps no memory.
            let small = u64::from(w) * u64::from(h) <= 2 * u64::from(width) * u64::from(height);
            *format == pixels && w >= width && h >= height && small
        };
        if let Some((_, target)) = kept.as_ref().filter(|kept| fits(kept)) {
            return Ok(Arc::clone(target));
        }
        *kept = None;
        let target = Arc::new(ColorTarget::new(shared, width, height, gl_format(pixels))?);
        *kept = Some((pixels, Arc::clone(&target)));
        Ok(target)
    }

    /// Frees the texture. The context must be current.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

/// Draws into the part of the bound window that the viewport reaches.
pub(crate) fn draw(
    shared: &ContextState,
    ready: &Ready,
    sampler: glow::Sampler,
    window: WindowTarget,
    draw: &Draw<'_>,
) {
    let Some((canvas, [x, y, width, height])) = &ready.beside else { return };
    let at = [*x as i32, *y as i32];
    let size = [*width as i32, *height as i32];
    if draw.plan.blends {
        read(shared, canvas, window, at, size);
    }
    let viewport = Viewport {
        x: draw.viewport.x.saturating_sub(at[0]),
        y: draw.viewport.y.saturating_sub(at[1]),
        ..draw.viewport
    };
    let (texture, format, width, height) = (canvas.texture(), window.format, *width, *height);
    let beside = Attachment { texture, level: 0, layer: 0, width, height, format, encodes: false };
    store::draw(shared, &ready.store, sampler, &beside, &Draw { viewport, ..*draw });
    let _state = ClearState::set(shared);
    let _bound = Framebuffers::bind(shared, canvas.framebuffer());
    // SAFETY: the context is current; a window's framebuffer is bound for drawing, as it was, and the texture's for reading.
    unsafe {
        shared.gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, None);
        blit(shared, [0, 0], at, size);
    }
}

/// Copies the window's content into the texture.
fn read(shared: &ContextState, canvas: &ColorTarget, window: WindowTarget, at: [i32; 2], size: [i32; 2]) {
    let gl = &shared.gl;
    let _state = ClearState::set(shared);
    let _bound = Framebuffers::bind(shared, canvas.framebuffer());
    // SAFETY: the context is current; the window's framebuffer has the buffer, as it draws into it.
    unsafe {
        gl.bind_framebuffer(glow::READ_FRAMEBUFFER, None);
        let before = gl.get_parameter_i32(glow::READ_BUFFER) as u32;
        gl.read_buffer(window.buffer);
        blit(shared, at, [0, 0], size);
        gl.read_buffer(before);
    }
}

/// # Safety
/// The context is current, framebuffers without several samples are bound, and no side is negative.
unsafe fn blit(shared: &ContextState, from: [i32; 2], to: [i32; 2], [width, height]: [i32; 2]) {
    let end = |[x, y]: [i32; 2]| [x.saturating_add(width), y.saturating_add(height)];
    let ([x0, y0], [x1, y1], [to_x, to_y], [end_x, end_y]) = (from, end(from), to, end(to));
    // SAFETY: the caller's promise; what lies outside a window is passed over.
    unsafe {
        shared.gl.blit_framebuffer(x0, y0, x1, y1, to_x, to_y, end_x, end_y, glow::COLOR_BUFFER_BIT, glow::NEAREST);
    }
}
