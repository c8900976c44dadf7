//! A level of an engine's texture, as the driver reports it.

use crate::api::gl_format::gl_format;
use crate::context::context_state::ContextState;
use crate::draw::tools::Tools;
use crate::objects::state_guards::{BoundTexture, Framebuffers};
use glow::HasContext as _;
use interop_core::describe::format::ChannelKind;
use interop_core::{Error, Extent, PixelFormat, Result, Viewport};
use std::num::NonZeroU32;

/// Formats that encode, with the format of the same bits.
const ENCODED: [(u32, PixelFormat); 1] = [(glow::SRGB8_ALPHA8, PixelFormat::Rgba8)];

const INTEGERS: &str = "it holds integers; draws need normalised numbers or floats";

/// Largest possible number of levels: sides are less than 2^31.
const MOST_LEVELS: u32 = 31;

/// One level of an engine's `TEXTURE_2D`, for [`crate::GlDisplay::draw_to_texture`]. It is a plain number, so any
/// version of glow works, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineTexture {
    /// Name of the texture object.
    pub id: u32,
    /// Mipmap level.
    pub level: u32,
    /// Size of that level in pixels.
    pub extent: Extent,
}

impl EngineTexture {
    /// Selects level 0 of a texture of this size.
    pub const fn new(id: u32, extent: Extent) -> Self {
        Self { id, level: 0, extent }
    }

    /// Selects another level of the texture; `extent` is the size of that level.
    #[must_use]
    pub const fn with_level(self, level: u32, extent: Extent) -> Self {
        Self { level, extent, ..self }
    }

    /// Returns the viewport that covers the whole level.
    pub const fn viewport(&self) -> Viewport {
        Viewport::full(self.extent.width, self.extent.height)
    }
}

/// The call that queries a level.
const QUERY: &str = "glGetTexLevelParameteriv";

/// A level that the driver has confirmed.
pub(crate) struct Level {
    pub texture: glow::Texture,
    pub level: i32,
    /// Its internal format.
    pub format: u32,
}

impl Level {
    /// Queries the level. The context must be current. OpenGL ES 3.0 does not report the size, so the caller vouches
    /// for it.
    pub(crate) fn find(tools: &Tools, of: EngineTexture) -> Result<Self> {
        let EngineTexture { id, level, extent } = of;
        let shared: &ContextState = tools.shared();
        let gl = &shared.gl;
        let no_texture = || Error::refused(format!("there is no texture {id} in this context"));
        let texture = glow::NativeTexture(NonZeroU32::new(id).ok_or_else(no_texture)?);
        // SAFETY: the context is current, and any number may be asked for.
        if !unsafe { gl.is_texture(texture) } {
            return Err(no_texture());
        }
        if extent.width == 0 || extent.height == 0 {
            return Err(Error::refused(format!("invalid size {extent} for a level of texture {id}")));
        }
        let no_level = || Error::refused(format!("texture {id} has no level {level}"));
        if level >= MOST_LEVELS {
            return Err(no_level());
        }
        let level = level as i32;
        // Other targets reject the call, and the binding stays.
        shared.drain_errors(QUERY);
        let _bound = BoundTexture::bind(shared, glow::TEXTURE_2D, texture);
        let other_target = || Error::refused(format!("texture {id} is not a TEXTURE_2D"));
        check_unless(shared, glow::INVALID_OPERATION, other_target)?;
        // SAFETY: the context is current, the texture is bound, and the parameters are of GL 3.0 and ES 3.1.
        let get = |parameter| unsafe { gl.get_tex_level_parameter_i32(glow::TEXTURE_2D, level, parameter) as u32 };
        let asked = |parameter| if shared.features.level_queries { get(parameter) } else { 0 };
        let found = Extent::new(asked(glow::TEXTURE_WIDTH), asked(glow::TEXTURE_HEIGHT));
        let (numbers, format) = (asked(glow::TEXTURE_RED_TYPE), asked(glow::TEXTURE_INTERNAL_FORMAT));
        // INVALID_VALUE means a level beyond the last possible one.
        check_unless(shared, glow::INVALID_VALUE, no_level)?;
        if shared.features.level_queries && found.pixels() == 0 {
            return Err(no_level());
        }
        let mut this = Self { texture, level, format };
        if shared.features.level_queries && found != extent {
            return Err(this.refuse(&format!("it has {found} pixels, not {extent}")));
        }
        if [glow::INT, glow::UNSIGNED_INT].contains(&numbers) {
            return Err(this.refuse(INTEGERS));
        }
        if shared.features.es {
            // For unsized formats (`RGBA` of bytes), the framebuffer reports the sized one.
            let attached = AttachedLevel::new(shared, tools.lent_framebuffer()?, &this)?;
            let bits = attached.bits();
            shared.check(QUERY)?;
            if [glow::INT, glow::UNSIGNED_INT].contains(&bits.numbers) {
                return Err(this.refuse(INTEGERS));
            }
            this.format = bits.format().unwrap_or(format);
        }
        Ok(this)
    }

    /// Returns level 0 of a texture that stores pixels of this format. The context must be current.
    pub(crate) fn of_pixels(tools: &Tools, of: EngineTexture, format: PixelFormat) -> Result<Self> {
        let level = Self::find(tools, of)?;
        if of.level != 0 {
            return Err(level.refuse("only level 0 is supported"));
        }
        let same_bits = ENCODED.contains(&(level.format, format)) || level.format == gl_format(format).internal;
        if !same_bits || format == PixelFormat::Bgra8 {
            return Err(level.refuse(&format!("it does not have the format {format}")));
        }
        Ok(level)
    }

    /// True where an image unit certainly supports it: others lose stores without an error (OpenGL 4.6 core, section
    /// 8.26). For contexts with image units; the texture's context must be current.
    pub(crate) fn takes_stores(&self, shared: &ContextState) -> bool {
        let _bound = BoundTexture::bind(shared, glow::TEXTURE_2D, self.texture);
        // SAFETY: the context is current and the texture bound; the parameter is older than image units are.
        let immutable = unsafe { shared.gl.get_tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_IMMUTABLE_FORMAT) };
        immutable != 0 && ENCODED.iter().all(|(format, _)| *format != self.format)
    }

    pub(crate) fn refuse(&self, why: &str) -> Error {
        let Self { texture, level, format } = self;
        Error::refused(format!("texture {}, level {level}, internal format {format:#x}: {why}", texture.0))
    }
}

/// Returns the queued error, or `refusal` where the driver rejected a value with this code.
fn check_unless(shared: &ContextState, code: u32, refusal: impl FnOnce() -> Error) -> Result<()> {
    shared.check(QUERY).map_err(|error| match &error {
        Error::Driver(driver) if driver.code == i64::from(code) => refusal(),
        _ => error,
    })
}

/// A level attached as the first colour buffer of the bound framebuffer. Dropping this detaches it and restores the
/// binding.
pub(crate) struct AttachedLevel<'a> {
    shared: &'a ContextState,
    _bound: Framebuffers<'a>,
}

impl<'a> AttachedLevel<'a> {
    /// Attaches the level. The context must be current, and the framebuffer have no attachments.
    pub(crate) fn new(shared: &'a ContextState, framebuffer: glow::Framebuffer, level: &Level) -> Result<Self> {
        let attached = Self { shared, _bound: Framebuffers::bind(shared, framebuffer) };
        attached.attach(Some(level.texture), level.level);
        // SAFETY: the context is current.
        let status = unsafe { shared.gl.check_framebuffer_status(glow::DRAW_FRAMEBUFFER) };
        let error = shared.check("glFramebufferTexture2D");
        match status {
            glow::FRAMEBUFFER_COMPLETE => return error.map(|()| attached),
            // The driver could not determine the status.
            0 => error?,
            // The status gives the driver's reason against the level as well.
            _ => {}
        }
        Err(level.refuse(&format!(
            "the driver cannot draw into it (glCheckFramebufferStatus: {status:#x}); use a colour-renderable format \
             such as RGBA8 or RGBA16F, and all levels, ideally with glTexStorage2D"
        )))
    }

    fn attach(&self, texture: Option<glow::Texture>, level: i32) {
        let (target, at) = (glow::DRAW_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        // SAFETY: the context is current with our framebuffer bound; a texture was found to be a TEXTURE_2D of it.
        unsafe { self.shared.gl.framebuffer_texture_2d(target, at, glow::TEXTURE_2D, texture, level) }
    }
}

/// Properties of a framebuffer's first colour buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits {
    /// Bits of red, green, blue and alpha.
    channels: [u32; 4],
    /// `UNSIGNED_NORMALIZED`, `FLOAT` or an integer type.
    numbers: u32,
    encodes: bool,
}

impl Bits {
    const fn of(format: PixelFormat) -> Self {
        let (each, numbers) = match format.channel_kind() {
            ChannelKind::Unorm10A2 => {
                return Self { channels: [10, 10, 10, 2], numbers: glow::UNSIGNED_NORMALIZED, encodes: false };
            }
            kind if kind.is_float() => (kind.bytes() as u32 * 8, glow::FLOAT),
            kind => (kind.bytes() as u32 * 8, glow::UNSIGNED_NORMALIZED),
        };
        let channels = match format.channels() {
            1 => [each, 0, 0, 0],
            2 => [each, each, 0, 0],
            _ => [each; 4],
        };
        Self { channels, numbers, encodes: false }
    }

    /// Returns the sized internal format, if a pixel format has it.
    fn format(self) -> Option<u32> {
        let plain = Self { encodes: false, ..self };
        let format = PixelFormat::ALL.into_iter().find(|format| Self::of(*format) == plain)?;
        let encoded = ENCODED.iter().find(|(_, same_bits)| self.encodes && *same_bits == format);
        Some(encoded.map_or(gl_format(format).internal, |(encoded, _)| *encoded))
            .filter(|_| encoded.is_some() == self.encodes)
    }
}

impl AttachedLevel<'_> {
    /// Queries the colour buffer. The context must be current.
    fn bits(&self) -> Bits {
        // SAFETY: the context is current, and the framebuffer has this colour buffer; each is a single integer of ES 3.0.
        let get = |name| unsafe {
            let (target, at) = (glow::DRAW_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            self.shared.gl.get_framebuffer_attachment_parameter_i32(target, at, name) as u32
        };
        let channels = [
            glow::FRAMEBUFFER_ATTACHMENT_RED_SIZE,
            glow::FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
            glow::FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
            glow::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
        ]
        .map(get);
        let encodes = get(glow::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) == glow::SRGB;
        Bits { channels, numbers: get(glow::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE), encodes }
    }
}

impl Drop for AttachedLevel<'_> {
    fn drop(&mut self) {
        // Detached, so that the engine can delete its texture.
        self.attach(None, 0);
    }
}
