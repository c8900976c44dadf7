//! The display that users hold.

use crate::context::adapter::{self, WgpuOptions};
use crate::context::caps::{SharingCaps, caps};
use crate::context::device::WgpuDevice;
use crate::context::device_state::DeviceState;
use crate::context::error::Loss;
use crate::context::gl::Gl;
use crate::context::identity::identify;
use crate::context::vulkan::Vulkan;
use crate::draw::beside::Target;
use crate::draw::painter::{DrawTarget, Frame};
use crate::draw::picture::{Picture, Source};
use crate::draw::target::OffscreenTarget;
use crate::draw::tools::Tools;
use crate::staging::WgpuStaging;
use crate::surface::buffer::BufferSurface;
use crate::surface::engine_surfaces::{EngineBuffer, EngineImage};
use crate::surface::in_place::{InPlaceBuffer, InPlaceImage};
use crate::surface::texture::TextureSurface;
use interop_core::AnyThreadDisplay;
use interop_core::describe::error::call;
use interop_core::describe::process::ForkGuard;
use interop_core::describe::process::enter;
use interop_core::devices::maker_object::{find, foreign};
use interop_core::display::checks::wrong_kind;
use interop_core::display::{DisplayDriver, SemaphoreDriver};
use interop_core::draw::Plan;
use interop_core::{
    DeviceIdentity, DisplayCaps, DrawOptions, DrawReport, Error, Extent, FrameTag, ImageView, Manner, PixelFormat,
    Result, SharedHandle, Staging, StagingKind, Surface, SurfaceDesc, SyncKind, TargetEncoding, Viewport,
};
use std::sync::Arc;

/// An image surface for the user's own drawing, for example on a 3-D object.
///
/// Row 0 is the top row of the picture. Submit the work that reads it before the next frame is finished, and do not
/// destroy it.
#[derive(Debug, Clone)]
pub enum WgpuImage {
    /// A texture of one level and a view of it.
    Texture(wgpu::Texture, wgpu::TextureView),
    /// Rows in a buffer, for images that are shown in place: bind it as storage.
    Rows(wgpu::Buffer, ImageView),
}

/// A buffer surface, for the user's own vertices or storage.
///
/// Submit the work that reads it before the next frame is finished, and do not destroy it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WgpuBuffer {
    /// The buffer; it may be larger than the surface.
    pub buffer: wgpu::Buffer,
    /// Offset of the surface's first byte in the buffer.
    pub offset: u64,
    /// Number of bytes of the surface.
    pub len: u64,
}

/// A wgpu device as a display. Any thread may use it and its objects.
///
/// Errors of wgpu are returned as [`Error::Driver`]; none ends the program.
pub struct WgpuDisplay {
    /// The backend for audits, opened at the first one.
    #[cfg(feature = "compute")]
    pub(crate) in_queue: interop_core::compute::BackendInQueue,
    pub(crate) tools: ForkGuard<Arc<Tools>>,
}

interop_core::debug_as!(WgpuDisplay, |this| device = &this.tools.shared.identity);

impl WgpuDisplay {
    /// Opens a display with a device of its own. The device has every limit of the adapter and, on Vulkan, every
    /// extension for sharing. The display needs no window, and can draw into one: create the window's surface with the
    /// same instance.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where no such adapter exists or its device does not open; [`Error::Unsupported`] where it
    /// lacks a requested feature.
    pub fn headless(options: WgpuOptions) -> Result<Arc<Self>> {
        let (adapter, identity) = adapter::choose(&options)?;
        let (device, queue, loss) = adapter::open(&adapter, &identity)?;
        Self::new(&adapter, identity, device, queue, Some(loss))
    }

    /// Opens a display on an engine's device and queue, which were created from `adapter`. Sharing on Vulkan needs
    /// extensions that the engine enabled, as [`crate::open_device`] does. Where one is missing,
    /// [`interop_core::Display::caps`] gives the reason.
    ///
    /// The engine's handlers for errors and for a lost device stay unchanged.
    ///
    /// # Errors
    /// [`Error::Driver`] where wgpu refuses the display's own objects.
    pub fn from_engine(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Result<Arc<Self>> {
        let _entered = enter("wgpu")?;
        Self::new(adapter, identify(adapter), device, queue, None)
    }

    fn new(
        adapter: &wgpu::Adapter,
        identity: DeviceIdentity,
        device: wgpu::Device,
        queue: wgpu::Queue,
        told: Option<Loss>,
    ) -> Result<Arc<Self>> {
        let (is_engines, loss) = (told.is_none(), told.unwrap_or_default());
        let vulkan = Vulkan::of(&device, &identity);
        let sharing = vulkan.as_ref().map_or_else(|| SharingCaps::none(Vulkan::ABSENT), Vulkan::sharing);
        let (gl, sharing) = match Gl::of(&device, &identity) {
            None => (None, sharing),
            Some(Ok(gl)) => {
                let sharing = gl.sharing();
                (Some(gl), sharing)
            }
            Some(Err(reason)) => (None, SharingCaps::none(&reason.to_string())),
        };
        let identity = match &gl {
            Some(gl) => gl.identify(identity),
            None => identity,
        };
        let downlevel = adapter.get_downlevel_capabilities().flags;
        let base = WgpuDevice::new(adapter, device, queue, identity, loss);
        let caps = caps(adapter, &base.device, base.queue_id(), &base.stores, sharing);
        let tools = Tools::new(DeviceState {
            is_engines,
            limits: base.device.limits(),
            base,
            caps,
            index_buffers: downlevel.contains(wgpu::DownlevelFlags::UNRESTRICTED_INDEX_BUFFER),
            float_targets: {
                let features = adapter.get_texture_format_features(wgpu::TextureFormat::Rgba32Float);
                features.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
            },
            vulkan,
            gl,
        })?;
        Ok(Arc::new(Self {
            #[cfg(feature = "compute")]
            in_queue: interop_core::compute::BackendInQueue::default(),
            tools: ForkGuard::new(tools),
        }))
    }

    /// Returns the device, for the user's own drawing.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.tools.shared.device
    }

    /// Returns the device and its queue, for a compute backend on them (the crate `pixelferry-wgpu`).
    pub fn shared_device(&self) -> WgpuDevice {
        WgpuDevice::clone(&self.tools.shared)
    }

    /// Returns the queue of the display's device. A surface's content has been submitted to it when
    /// [`WgpuDisplay::surface_image`] or a similar function has returned.
    pub fn wgpu_queue(&self) -> &wgpu::Queue {
        &self.tools.shared.queue
    }

    /// Runs wgpu's pending callbacks, including that of a lost device, by [`wgpu::Device::poll`]. If the device is
    /// lost, wgpu's default ends the program there.
    ///
    /// wgpu reports a lost device only when it is polled and submitted work has ended. Until then, objects made from
    /// the device return no error. An engine that needs to know polls before it draws. After its callback
    /// ([`wgpu::Device::set_device_lost_callback`]) was called, it creates device, display and links again.
    ///
    /// # Errors
    /// [`Error::Driver`] where waiting for the device fails.
    pub fn poll(&self) -> Result<()> {
        call("WgpuDisplay::poll", || {
            self.tools.shared.poll(wgpu::PollType::Poll)?;
            self.tools.shared.collect()
        })
    }

    /// Records a draw of an image surface into a render pass of the user, as the surface's
    /// [`ImageDesc`](interop_core::ImageDesc) and `options` say: by default every number is written unchanged. The draw
    /// sets the pipeline, bind group 0 and the viewport, which the user must set again afterwards. Other state of the
    /// pass stays unchanged.
    ///
    /// Submit the pass before the next frame is finished.
    ///
    /// # Errors
    /// - [`Error::Foreign`] for a surface of another display.
    /// - [`Error::InvalidInput`] for a buffer, an empty viewport, invalid options ([`Plan::new`]), and options that
    ///   require an encoding format if the target's format does not encode.
    /// - [`Error::NothingShown`] for an in-place surface with no frame yet.
    /// - [`Error::Driver`] where wgpu refuses `target`: blending into 32-bit floats needs a feature of the device.
    pub fn draw(
        &self,
        surface: &Surface,
        pass: &mut wgpu::RenderPass<'_>,
        target: DrawTarget,
        viewport: Viewport,
        options: DrawOptions,
    ) -> Result<()> {
        let (picture, frame) = self.frame(surface, target.format, viewport, options)?;
        // The pass is submitted by its owner.
        self.tools.shared.submit_recorded()?;
        self.tools.drawing.in_pass();
        self.tools.shared.scoped(|| self.tools.painter.paint(&self.tools.shared, pass, picture, target, frame))
    }

    /// Returns the usages for the configuration of a window's surface, so that [`WgpuDisplay::draw_to`] can choose its
    /// method there. `offered` is [`wgpu::SurfaceCapabilities::usages`]. The result allows stores where the surface
    /// supports them, otherwise copies.
    ///
    /// ```
    /// # fn configure(display: &pixelferry_wgpu::WgpuDisplay, adapter: &pixelferry_wgpu::wgpu::Adapter,
    /// #     surface: &pixelferry_wgpu::wgpu::Surface<'_>, config: &mut pixelferry_wgpu::wgpu::SurfaceConfiguration) {
    /// config.usage = display.window_usage(surface.get_capabilities(adapter).usages, config.format);
    /// surface.configure(display.wgpu_device(), config);
    /// # }
    /// ```
    pub fn window_usage(&self, offered: wgpu::TextureUsages, format: wgpu::TextureFormat) -> wgpu::TextureUsages {
        let stores = &self.tools.shared.stores;
        let direct = stores.usage(format) & offered;
        let copies = match stores.get(format.remove_srgb_suffix()) {
            Ok(_) if direct.is_empty() => wgpu::TextureUsages::COPY_DST.union(wgpu::TextureUsages::COPY_SRC) & offered,
            // Stores are verified by reading them back.
            Ok(_) => wgpu::TextureUsages::COPY_SRC & offered,
            _ => wgpu::TextureUsages::empty(),
        };
        wgpu::TextureUsages::RENDER_ATTACHMENT | direct | copies
    }

    /// Draws an image surface into a view of a texture with one sample, over its content or over `clear`, and submits.
    ///
    /// A render pass or a compute shader writes the same pixels, whichever is faster: the first draws measure that, and
    /// wait for the device. The compute shader takes part where the texture's usage has
    /// [`wgpu::TextureUsages::STORAGE_BINDING`], as that of [`OffscreenTarget`] has where its format supports it. With
    /// [`wgpu::TextureUsages::COPY_DST`], it stores into an auxiliary texture, and a copy follows.
    /// [`DrawOptions::manner`] requests one of the two; [`interop_core::Display::drawn`] reports which was used and
    /// why.
    ///
    /// # Errors
    /// The errors of [`WgpuDisplay::draw`].
    pub fn draw_to(
        &self,
        surface: &Surface,
        view: &wgpu::TextureView,
        format: wgpu::TextureFormat,
        clear: Option<wgpu::Color>,
        viewport: Viewport,
        options: DrawOptions,
    ) -> Result<()> {
        let (picture, frame) = self.frame(surface, format, viewport, options)?;
        let (tools, target) = (&self.tools, Target { view, format, clear });
        let step = tracing::trace_span!(
            target: "pixelferry::frame",
            "draw",
            frame = FrameTag::current().map(|tag| tag.frame),
            manner = tracing::field::Empty
        )
        .entered();
        let drawn = tools.drawing.draw_to(&tools.shared, &tools.painter, picture, target, frame, options.manner)?;
        step.record("manner", drawn.manner.name());
        Ok(())
    }

    fn frame<'s>(
        &self,
        surface: &'s Surface,
        format: wgpu::TextureFormat,
        viewport: Viewport,
        options: DrawOptions,
    ) -> Result<(&'s Picture, Frame)> {
        call("WgpuDisplay::draw", || {
            let picture = self.picture(surface)?;
            let target = match (format.is_srgb(), options.target) {
                (true, _) => TargetEncoding::SrgbFormat,
                (false, TargetEncoding::SrgbFormat) => {
                    let problem = format!("{format:?} does not encode; draw with TargetEncoding::Srgb or Linear");
                    return Err(Error::refused(problem));
                }
                (false, target) => target,
            };
            let area = Extent::new(viewport.width, viewport.height);
            let options = options.with_target(target);
            let plan = Plan::of(surface.desc(), area, &self.tools.shared.caps, &options)?;
            Ok((picture, Frame { region: picture.extent().full(), at: (viewport.x, viewport.y), plan, bits: false }))
        })
    }

    /// Returns the texture or the rows of an image surface.
    ///
    /// # Errors
    /// The errors of [`WgpuDisplay::draw`].
    pub fn surface_image(&self, surface: &Surface) -> Result<WgpuImage> {
        call("WgpuDisplay::surface_image", || {
            self.tools.shared.submit_recorded()?;
            Ok(match self.picture(surface)?.source() {
                Source::Texture(texture, view) => WgpuImage::Texture(texture.clone(), view.clone()),
                Source::Memory(buffer, view) => WgpuImage::Rows(buffer.clone(), *view),
            })
        })
    }

    /// Returns the texture of an image surface, as a view of all of it for binding. Row 0 is the picture's top row.
    /// Surfaces with [`interop_core::ImageAccess::Texture`], the default access, have one.
    ///
    /// The texture may change from frame to frame: call this for each frame. Submit the work that reads the texture
    /// before the next frame is finished.
    ///
    /// # Errors
    /// The errors of [`WgpuDisplay::draw`], and [`Error::Unsupported`] where the image is rows in a buffer.
    pub fn surface_texture<'s>(&self, surface: &'s Surface) -> Result<&'s wgpu::TextureView> {
        call("WgpuDisplay::surface_texture", || {
            self.tools.shared.submit_recorded()?;
            match self.picture(surface)?.source() {
                Source::Texture(_, view) => Ok(view),
                Source::Memory(..) => {
                    let reason = "the image is rows in a buffer; open its link with ImageAccess::Texture";
                    Err(self.tools.shared.unsupported(reason))
                }
            }
        })
    }

    /// Returns the buffer of a buffer surface.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a surface of another display, [`Error::InvalidInput`] for an image,
    /// [`Error::NothingShown`] for an in-place surface with no frame yet.
    pub fn surface_buffer(&self, surface: &Surface) -> Result<WgpuBuffer> {
        call("WgpuDisplay::surface_buffer", || {
            self.tools.shared.submit_recorded()?;
            let any = surface.driver();
            if let Some(s) = find::<BufferSurface>(any, &self.tools.shared) {
                return Ok(WgpuBuffer {
                    buffer: s.buffer().clone(),
                    offset: 0,
                    len: surface.desc().byte_len()? as u64,
                });
            }
            if let Some(s) = find::<InPlaceBuffer>(any, &self.tools.shared) {
                let (buffer, view) = s.buffer()?;
                return Ok(WgpuBuffer { buffer: buffer.clone(), offset: view.offset as u64, len: view.len as u64 });
            }
            Err(self.not_found(surface, matches!(surface.desc(), SurfaceDesc::Buffer(_))))
        })
    }

    /// Creates an RGBA8 texture for drawing without a window; initially black and transparent.
    pub fn create_offscreen_target(&self, width: u32, height: u32) -> Result<OffscreenTarget> {
        self.create_offscreen_target_of(width, height, PixelFormat::Rgba8)
    }

    /// Creates a texture of `format` for drawing; [`PixelFormat::Rgba16F`] keeps values above 1.
    pub fn create_offscreen_target_of(&self, width: u32, height: u32, format: PixelFormat) -> Result<OffscreenTarget> {
        OffscreenTarget::new(&self.tools.shared, width, height, format)
    }

    fn picture<'s>(&self, surface: &'s Surface) -> Result<&'s Picture> {
        let any = surface.driver();
        if let Some(s) = find::<TextureSurface>(any, &self.tools.shared) {
            return Ok(s.picture());
        }
        if let Some(s) = find::<InPlaceImage>(any, &self.tools.shared) {
            return s.picture();
        }
        Err(self.not_found(surface, matches!(surface.desc(), SurfaceDesc::Image(_))))
    }

    /// Returns the error for a surface of another display, or for one of the wrong kind.
    fn not_found(&self, surface: &Surface, right_kind: bool) -> Error {
        let any = surface.driver();
        if find::<EngineImage>(any, &self.tools.shared).is_some()
            || find::<EngineBuffer>(any, &self.tools.shared).is_some()
        {
            return Error::refused("the texture or buffer is the engine's own; use the engine's object");
        }
        if right_kind {
            return foreign::<TextureSurface>(&self.tools.shared);
        }
        wrong_kind(surface.desc())
    }
}

impl AnyThreadDisplay for WgpuDisplay {}

impl DisplayDriver for WgpuDisplay {
    fn device(&self) -> &DeviceIdentity {
        &self.tools.shared.identity
    }

    fn caps(&self) -> &DisplayCaps {
        &self.tools.shared.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.tools.shared.check_alive()?;
        Surface::stored(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |image, _| TextureSurface::new(&self.tools, image),
            |bytes| BufferSurface::new(&self.tools, bytes),
        )
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.tools.shared.check_alive()?;
        let tools = &self.tools;
        Surface::in_place(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |_| Ok(InPlaceImage::new(tools)),
            || Ok(InPlaceBuffer::new(&tools.shared)),
        )
    }

    #[cfg(feature = "compute")]
    fn backend_in_queue(&self) -> Result<Option<Box<dyn std::any::Any + Send + Sync>>> {
        self.opened_in_queue()
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        self.tools.shared.check_alive()?;
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            WgpuStaging::new(&self.tools.shared, kind, bytes)
        })
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        let vulkan = self.tools.shared.vulkan.as_ref().ok_or_else(|| self.tools.shared.unsupported(Vulkan::ABSENT))?;
        #[cfg(any(target_os = "linux", windows))]
        return crate::staging::semaphore::create(&self.tools.shared, vulkan, kind);
        #[cfg(not(any(target_os = "linux", windows)))]
        match *vulkan {}
    }

    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()> {
        match surface.desc() {
            SurfaceDesc::Image(_) => {
                let (tools, picture) = (&self.tools, self.picture(surface)?);
                tools.drawing.draw_offscreen(&tools.shared, &tools.painter, picture, manner)
            }
            SurfaceDesc::Buffer(_) => {
                let WgpuBuffer { buffer, offset, len } = self.surface_buffer(surface)?;
                self.tools.painter.copy_offscreen(&self.tools.shared, &buffer, offset, len)
            }
        }
    }

    fn drawn(&self) -> Option<DrawReport> {
        self.tools.drawing.last()
    }

    fn finish(&self) -> Result<()> {
        let shared = &self.tools.shared;
        // The display submits its own queue writes itself. The loss of an engine's device is reported only by a
        // submission.
        let index = if shared.is_engines { Some(shared.flush()?) } else { None };
        shared.wait(index)?;
        self.tools.shared.collect()
    }
}
