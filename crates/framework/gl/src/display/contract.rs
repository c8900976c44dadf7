//! The OpenGL display.

use crate::api::gl_objects::{GlBuffer, GlTexture};
use crate::api::host_state::{CLEARS, DRAWS, STORES};
use crate::context::GlFunctions;
use crate::context::context_state::ContextState;
use crate::context::names::{DeferredDelete, GlName, ObjectCounts};
use crate::context::owned_object::OwnedObject;
use crate::display::draw_target::{check_encoding, check_target};
use crate::draw::image_source::ImageSource;
use crate::draw::quad::Draw;
use crate::draw::tools::Tools;
use crate::objects::program::link;
use crate::queue::GlDevice;
use crate::staging::GlStaging;
use crate::staging::semaphore::GlSemaphore;
use crate::surface::buffer::BufferSurface;
use crate::surface::in_place::{InPlaceBuffer, InPlaceImage};
use crate::surface::target::OffscreenTarget;
use crate::surface::texture::TextureSurface;
use glow::HasContext as _;
use interop_core::describe::error::call;
use interop_core::devices::maker_object::{find, foreign};
use interop_core::display::checks::wrong_kind;
use interop_core::display::{DisplayDriver, SemaphoreDriver};
use interop_core::display::{Staging, StagingKind, Surface};
use interop_core::draw::Plan;
use interop_core::{
    DeviceIdentity, DeviceSpan, DisplayCaps, DrawOptions, DrawReport, Error, Extent, FrameTag, GlContext, Manner,
    PixelFormat, Result, SharedHandle, Support, SurfaceDesc, SyncKind, Viewport,
};
use std::any::Any;
use std::sync::Arc;

/// An OpenGL context (3.3 or later), or an engine's OpenGL ES context (3.0 or later), as a display.
///
/// Calls while another context is current, or on another thread, return [`Error::WrongContext`]. Objects dropped then are
/// deleted later, when the display's context is current again.
pub struct GlDisplay {
    /// The backend for audits, opened at the first one. It is dropped first, because a context that a backend still
    /// uses outlives its display.
    #[cfg(feature = "compute")]
    pub(crate) in_queue: interop_core::compute::BackendInQueue,
    tools: Arc<Tools>,
}

interop_core::debug_as!(GlDisplay, |this| device = &this.shared().device);

impl GlDisplay {
    pub(crate) fn from_shared(shared: Arc<ContextState>) -> Arc<Self> {
        Arc::new(Self {
            tools: Tools::new(shared),
            #[cfg(feature = "compute")]
            in_queue: interop_core::compute::BackendInQueue::default(),
        })
    }

    pub(crate) fn shared(&self) -> &Arc<ContextState> {
        self.tools.shared()
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Returns the tools for surfaces, which keep them.
    pub(crate) fn tools_rc(&self) -> &Arc<Tools> {
        &self.tools
    }

    /// Returns the GL functions of the context, for the user's own drawing.
    ///
    /// In a context created by this crate, uploads expect `UNPACK_SKIP_*`, `UNPACK_SWAP_BYTES` and `UNPACK_LSB_FIRST`
    /// at their defaults. Reset them after you change them.
    pub fn gl(&self) -> &GlFunctions {
        &self.shared().gl
    }

    /// Returns the version that the display uses: that of the context, or the limit in the options. It is a version of
    /// OpenGL ES where [`GlDisplay::is_es`] is true.
    pub fn version(&self) -> (u32, u32) {
        self.shared().features.version
    }

    /// True where the context is an OpenGL ES context.
    pub fn is_es(&self) -> bool {
        self.shared().features.es
    }

    /// True where GL calls on this thread reach this context.
    pub fn is_current(&self) -> bool {
        self.shared().is_current()
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an engine's context, which only the engine can make current.
    pub fn make_current(&self) -> Result<()> {
        let shared = self.shared();
        match shared.own() {
            Some(own) => own.make_current(&shared.device.name),
            None => Err(shared.unsupported("the context belongs to the engine".into())),
        }
    }

    /// Tells the display that its context is gone. Call it before this display and its links are dropped, after the
    /// engine destroyed the context (because of a driver reset, or to create another one).
    ///
    /// From then on every call returns an error, and the display makes no GL calls. Host resources of its links and
    /// surfaces are freed. Create a new display in the new context, and new links.
    ///
    /// # Safety
    /// The context is gone, and nothing reads or writes memory for it any more: pages that it read in place
    /// ([`StagingKind::Imported`]) are freed.
    ///
    /// Memory that the context had mapped ([`Staging::host_block`]) is gone as well and must not be accessed from now
    /// on. Code that destroys a context must therefore
    ///
    /// - let the compute device finish first ([`interop_core::ComputeBackend::finish`]),
    /// - have no open frame,
    /// - not use any [`interop_core::ComputeMemory`] over such a block afterwards. Links return an error automatically.
    ///
    /// ```
    /// # fn destroyed(display: &pixelferry_gl::GlDisplay) {
    /// // SAFETY: the backend has finished, the context was destroyed, and only links held its memory.
    /// unsafe { display.context_lost() };
    /// # }
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # fn alive(display: &pixelferry_gl::GlDisplay) {
    /// display.context_lost();
    /// # }
    /// ```
    pub unsafe fn context_lost(&self) {
        self.shared().lose();
    }

    /// Returns the display's context, for a backend that computes in it. Kernels and draws then use one queue, without
    /// a switch between contexts, a fence or a copy.
    ///
    /// # Errors
    /// [`Error::WrongContext`] where another context is current. [`Error::Unsupported`] below OpenGL 4.3 and OpenGL ES
    /// 3.1, and where no window system (EGL, GLX, WGL, CGL) knows the context.
    pub fn shared_device(&self) -> Result<GlDevice> {
        self.shared().enter()?;
        GlDevice::new(self.shared())
    }

    /// Deletes objects that were dropped while the context was not current, as the start of every other call does.
    ///
    /// # Errors
    /// [`Error::WrongContext`] where the context is not current now; [`Error::Driver`] where it is gone.
    pub fn delete_dropped(&self) -> Result<()> {
        self.shared().enter()
    }

    /// Returns the counts of existing GL objects of this display.
    pub fn object_counts(&self) -> ObjectCounts {
        self.shared().object_counts()
    }

    /// Fills the framebuffer that is bound for drawing (its first colour buffer) with one colour.
    pub fn clear(&self, color: [f32; 4]) -> Result<()> {
        call("GlDisplay::clear", || {
            self.shared().enter()?;
            self.shared().check_host(CLEARS)?;
            check_target(&self.tools)?;
            check_encoding(self.shared(), false)?;
            self.tools.timed("clear", || self.tools.clear(color));
            Ok(())
        })
    }

    /// Draws an image surface into the framebuffer that is bound for drawing (its first colour buffer), as the
    /// surface's [`ImageDesc`](interop_core::ImageDesc) and `options` say. By default every number is copied unchanged.
    ///
    /// A triangle or a compute shader writes the same pixels; the first draws measure which is faster. The compute
    /// shader is an option where shaders can store into the framebuffer's texture, such as that of [`OffscreenTarget`].
    /// Other draw buffers, depth and stencil keep their content. For a window the shader stores into another texture,
    /// which is then copied. [`DrawOptions::manner`] requests one of the two; [`interop_core::Display::drawn`] returns
    /// which was used and why.
    ///
    /// In a context created by this crate, viewport 0 and the fragment tests stay as the draw set them (tests off).
    ///
    /// # Errors
    /// - [`Error::Foreign`] for a surface of another display.
    /// - [`Error::InvalidInput`] for a buffer, an empty viewport, or invalid options ([`Plan::new`]).
    /// - [`Error::InvalidInput`] for a framebuffer object that does not encode, with
    ///   [`interop_core::TargetEncoding::SrgbFormat`]. Windows are assumed to encode, because drivers report this
    ///   unreliably.
    /// - [`Error::InvalidInput`] for a framebuffer without a usable colour buffer (incomplete, without a first colour
    ///   buffer, or of integers), and for engine state that would change the pixels and cannot be set here (a display
    ///   list being compiled, window rectangles).
    /// - [`Error::Unsupported`] in OpenGL ES without `GL_EXT_sRGB_write_control`, for a framebuffer object that encodes
    ///   although the options do not request it, because it cannot be switched off.
    /// - [`Error::NothingShown`] for an in-place surface without a frame.
    pub fn draw(&self, surface: &Surface, viewport: Viewport, options: DrawOptions) -> Result<()> {
        call("GlDisplay::draw", || {
            self.shared().enter()?;
            self.draw_bound(surface, viewport, options)
        })
    }

    /// Implements [`GlDisplay::draw`] as a part of another call. The context must be current.
    pub(crate) fn draw_bound(&self, surface: &Surface, viewport: Viewport, options: DrawOptions) -> Result<()> {
        let step = drawing("draw");
        let shared = self.shared();
        let source = self.image_source(surface)?;
        let area = Extent::new(viewport.width, viewport.height);
        let plan = Plan::of(surface.desc(), area, &shared.caps, &options)?;
        shared.check_host(DRAWS | STORES)?;
        let has_others = check_target(&self.tools)?;
        check_encoding(shared, plan.format_encodes)?;
        let quad = self.tools.quad()?;
        let region = surface.desc().pixels()?.extent.full();
        let draw = Draw { image: &source, region, viewport, plan: &plan, keep: false, has_others };
        let drawn = self.tools.timed("draw", || {
            shared.checked_if(cfg!(debug_assertions), "glDrawArrays", || {
                self.tools.drawing.draw(shared, quad, &draw, options.manner)
            })
        })??;
        step.record("manner", drawn.manner.name());
        Ok(())
    }

    /// Runs `f`, for the user's own drawing. Its OpenGL commands are recorded as one piece of work in the timeline,
    /// under `name` ([`interop_core::Display::set_timeline`]). The display's context must be current.
    pub fn timed<R>(&self, name: &'static str, f: impl FnOnce() -> R) -> Result<R> {
        self.shared().enter()?;
        let _step = drawing(name);
        Ok(self.tools.timed(name, f))
    }

    /// Like [`GlDisplay::timed`], and returns the OpenGL error that `f` causes. Removes earlier errors.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Driver`] of this operation.
    pub fn checked<R>(&self, operation: &'static str, f: impl FnOnce() -> R) -> Result<R> {
        self.timed(operation, || self.shared().checked(operation, f))?
    }

    /// Compiles and links a program for the user's own drawing or computing. Each stage has its type and its whole text,
    /// with the version.
    ///
    /// # Errors
    /// [`Error::WrongContext`]. [`Error::Driver`] of `glCompileShader`, whose code is the shader's type, or of
    /// `glLinkProgram`; the hint is the driver's log.
    ///
    /// ```
    /// use interop_core::Error;
    /// use pixelferry_gl::{GlDisplay, HeadlessOptions, glow};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// let vertex = (glow::VERTEX_SHADER, "#version 330\nvoid main() { gl_Position = vec4(0.0); }");
    /// let fragment = |text| (glow::FRAGMENT_SHADER, text);
    /// let before = display.object_counts().programs;
    /// let program = display.link_program(&[vertex, fragment("#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }")])?;
    /// assert_eq!(display.object_counts().programs, before + 1);
    /// drop(program);
    /// assert_eq!(display.object_counts().programs, before);
    /// let wrong = display.link_program(&[vertex, fragment("#version 330\nvoid main() { nothing = 1; }")]);
    /// assert!(matches!(wrong, Err(Error::Driver(error))
    ///     if error.code == i64::from(glow::FRAGMENT_SHADER) && error.hint.contains("nothing")));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn link_program(&self, stages: &[(u32, &str)]) -> Result<OwnedObject<glow::Program>> {
        self.shared().enter()?;
        link(self.shared(), stages)
    }

    /// Takes ownership of an object that the user's own drawing created.
    ///
    /// # Safety
    /// The name was created in this context, and nothing else deletes it.
    pub unsafe fn own<T: GlName>(&self, name: T) -> OwnedObject<T> {
        OwnedObject::new(self.shared(), name)
    }

    /// Returns the texture of an image surface.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a surface of another display; [`Error::InvalidInput`] for a buffer;
    /// [`Error::NothingShown`] for an in-place surface without a frame.
    pub fn surface_texture(&self, surface: &Surface) -> Result<GlTexture> {
        call("GlDisplay::surface_texture", || {
            self.shared().enter()?;
            let source = self.image_source(surface)?;
            let unsigned = |v: i32| u32::try_from(v).unwrap_or(0);
            Ok(GlTexture {
                name: source.texture,
                target: source.target,
                first_texel: unsigned(source.base),
                row_texels: unsigned(source.pitch),
            })
        })
    }

    /// Returns the buffer of a buffer surface.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a surface of another display; [`Error::InvalidInput`] for an image;
    /// [`Error::NothingShown`] for an in-place surface without a frame.
    pub fn surface_buffer(&self, surface: &Surface) -> Result<GlBuffer> {
        call("GlDisplay::surface_buffer", || {
            let shared = self.shared();
            shared.enter()?;
            let any = surface.driver();
            if let Some(s) = find::<BufferSurface>(any, shared) {
                let len = surface.desc().byte_len()?;
                return Ok(GlBuffer { name: s.buffer(), offset: 0, len });
            }
            if let Some(s) = find::<InPlaceBuffer>(any, shared) {
                let (name, view) = s.buffer()?;
                return Ok(GlBuffer { name, offset: view.offset, len: view.len });
            }
            Err(self.not_found(surface, matches!(surface.desc(), SurfaceDesc::Buffer(_))))
        })
    }

    /// Creates an offscreen RGBA8 framebuffer for draws; it is black and transparent at first.
    pub fn create_offscreen_target(&self, width: u32, height: u32) -> Result<OffscreenTarget> {
        self.create_offscreen_target_of(width, height, PixelFormat::Rgba8)
    }

    /// Creates an offscreen framebuffer of `format` for draws; [`PixelFormat::Rgba16F`] keeps light brighter than 1.
    pub fn create_offscreen_target_of(&self, width: u32, height: u32, format: PixelFormat) -> Result<OffscreenTarget> {
        call("GlDisplay::create_offscreen_target", || OffscreenTarget::new(&self.tools, width, height, format))
    }

    pub(crate) fn image_source(&self, surface: &Surface) -> Result<ImageSource> {
        let (shared, any) = (self.shared(), surface.driver());
        if let Some(s) = find::<TextureSurface>(any, shared) {
            return Ok(s.source());
        }
        if let Some(s) = find::<InPlaceImage>(any, shared) {
            return s.source();
        }
        Err(self.not_found(surface, matches!(surface.desc(), SurfaceDesc::Image(_))))
    }

    /// Returns the error for a foreign surface of the right kind, or for a surface of the wrong kind.
    fn not_found(&self, surface: &Surface, right_kind: bool) -> Error {
        if right_kind {
            return foreign::<TextureSurface>(self.shared());
        }
        wrong_kind(surface.desc())
    }
}

/// Traces the draw of a frame.
fn drawing(name: &'static str) -> tracing::span::EnteredSpan {
    let frame = FrameTag::current().map(|tag| tag.frame);
    let manner = tracing::field::Empty;
    tracing::trace_span!(target: "pixelferry::frame", "draw", frame, name, manner).entered()
}

impl DisplayDriver for GlDisplay {
    fn device(&self) -> &DeviceIdentity {
        &self.shared().device
    }

    fn caps(&self) -> &DisplayCaps {
        &self.shared().caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let enter = || self.shared().enter();
        Surface::stored(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |image, _| enter().and_then(|()| TextureSurface::new(&self.tools, image)),
            |bytes| enter().and_then(|()| BufferSurface::new(&self.tools, bytes)),
        )
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.shared().enter()?;
        // The limit of buffer textures applies only when the surface shows linear memory.
        Surface::in_place(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |image| Ok(InPlaceImage::new(&self.tools, *image)),
            || Ok(InPlaceBuffer::new(&self.tools)),
        )
    }

    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        self.shared().hold()
    }

    #[cfg(feature = "compute")]
    fn backend_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        self.opened_in_queue()
    }

    fn drop_in_context(&self, object: Box<dyn Any + Send + Sync>) {
        let shared = self.shared();
        if shared.is_current() { drop(object) } else { shared.defer_delete(DeferredDelete::Other(object)) }
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            GlStaging::new(self.shared(), kind, bytes)
        })
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        let (semaphore, handle) = GlSemaphore::new(self.shared(), kind)?;
        Ok((Box::new(semaphore), handle))
    }

    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()> {
        self.shared().enter()?;
        self.shared().check_host(DRAWS | STORES)?;
        let _step = drawing("draw_offscreen");
        self.tools.timed("draw_offscreen", || match surface.desc() {
            SurfaceDesc::Image(image) => {
                let source = self.image_source(surface)?;
                self.tools.draw_offscreen(&source, image.extent, image.format, manner)
            }
            SurfaceDesc::Buffer(_) => self.tools.copy_offscreen(&self.surface_buffer(surface)?),
        })
    }

    fn unusual_states(&self) -> Vec<String> {
        let shared = self.shared();
        // In a context of this crate, some state stays set.
        if shared.is_engine() && shared.enter().is_ok() { shared.unusual_states() } else { Vec::new() }
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.shared().enter()?;
        self.tools.timeline.switch(self.shared(), on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.shared().enter()?;
        self.tools.timeline.drain(self.shared(), into)
    }

    fn drawn(&self) -> Option<DrawReport> {
        self.tools.drawing.last()
    }

    fn finish(&self) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        shared.checked("glFinish", || {
            // SAFETY: the context is current.
            unsafe { shared.gl.finish() }
        })
    }
}
