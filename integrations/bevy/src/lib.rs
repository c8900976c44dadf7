//! Frames of pixelferry as images of bevy: [`PixelferryPlugin`], and a [`Picture`] for each link.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use pixelferry::*;
//! use pixelferry_bevy::{Picture, Screen};
//!
//! fn open(world: &mut World, source: &KernelSource) -> pixelferry::Result<Handle<Image>> {
//!     let screen = world.resource::<Screen>().clone();
//!     let surface = SurfaceDesc::image(640, 360, PixelFormat::Rgba8);
//!     let opened = LinkBuilder::new(surface).launch(source, []).shown_by(&screen.display()).open()?;
//!     let mut images = world.resource_mut::<Assets<Image>>();
//!     let picture = Picture::new(&screen, &mut images, opened.link)?;
//!     let image = picture.image();
//!     world.spawn(picture); // Links to bevy's device may be used on any thread.
//!     Ok(image)
//! }
//!
//! // In each frame:
//! fn compute(kernel: &dyn Kernel, picture: &mut Picture, images: &mut Assets<Image>) -> pixelferry::Result<()> {
//!     picture.link().frame(|next| next.launch(kernel, &[]))?;
//!     picture.show(images, DrawOptions::default())?;
//!     Ok(())
//! }
//! ```
//!
//! A frame is drawn into the image's own texture, on the device that bevy made and in its queue. So bevy may extract, resize and
//! delete images as it likes, and its renderer may run on a thread of its own. Frames hold sRGB numbers.

mod hook;

use bevy::asset::{AssetId, Assets, Handle};
use bevy::ecs::prelude::{Component, IntoScheduleConfigs as _, Res, Resource};
use bevy::image::Image;
use bevy::log::{error, warn};
use bevy::prelude::{App, Plugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{Extent3d, TextureFormat, TextureView, TextureViewDescriptor};
use bevy::render::renderer::{RenderAdapter, RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::render::{Render, RenderApp, RenderPlugin, RenderSystems};
use pixelferry::api::wgpu::{Viewport, WgpuDisplay};
use pixelferry::{AnyThread, Display, DrawOptions, Error, Link, LinkCore, Result, SurfaceDesc};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The renderer's views of the pictures' images, for the main world.
#[derive(Resource, Clone, Default)]
struct Views(Arc<Mutex<HashMap<AssetId<Image>, Option<TextureView>>>>);

impl Views {
    fn lock(&self) -> MutexGuard<'_, HashMap<AssetId<Image>, Option<TextureView>>> {
        // Each change is one call, so nothing is incomplete after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a [`Screen`] on bevy's device, as a resource. Add it before bevy's own plugins: then bevy
/// also enables Vulkan's extensions for semaphores and host memory
/// ([`RawVulkanInitSettings`](bevy::render::renderer::raw_vulkan_init::RawVulkanInitSettings)). If it is added after
/// them, the host waits for each frame of CUDA and OpenCL. Frames of WGSL stay in bevy's queue either way.
///
/// Because of bevy's feature `raw_vulkan_init`, bevy uses only Vulkan if a Vulkan loader exists.
#[derive(Debug, Default)]
pub struct PixelferryPlugin;

impl Plugin for PixelferryPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Views::default());
        if app.is_plugin_added::<RenderPlugin>() {
            warn!("bevy's device lacks extensions for sharing frames; add PixelferryPlugin before bevy's plugins");
        } else {
            hook::share_memory(app);
        }
    }

    fn finish(&self, app: &mut App) {
        let views = app.world().get_resource::<Views>().cloned();
        if let (Some(renderer), Some(views)) = (app.get_sub_app_mut(RenderApp), views) {
            renderer.insert_resource(views).add_systems(Render, tell.after(RenderSystems::PrepareAssets));
        }
    }

    /// Runs after all `finish` calls, when bevy has its device.
    fn cleanup(&self, app: &mut App) {
        let world = app.world();
        let parts = (
            world.get_resource::<RenderAdapter>(),
            world.get_resource::<RenderDevice>(),
            world.get_resource::<RenderQueue>(),
            world.get_resource::<Views>(),
        );
        let (Some(adapter), Some(device), Some(queue), Some(views)) = parts else {
            error!("bevy has no renderer here, so there is no pixelferry_bevy::Screen");
            return;
        };
        let queue: &pixelferry::api::wgpu::wgpu::Queue = queue;
        match WgpuDisplay::from_engine(adapter, device.wgpu_device().clone(), queue.clone()) {
            Ok(display) => {
                let screen = Screen { display, views: views.clone() };
                app.insert_resource(screen);
            }
            Err(reason) => error!("cannot make pixelferry_bevy::Screen: {reason}"),
        }
    }
}

fn tell(views: Res<'_, Views>, images: Res<'_, RenderAssets<GpuImage>>) {
    for (id, view) in views.lock().iter_mut() {
        *view = images.get(*id).map(|image| image.texture_view.clone());
    }
}

/// A display on bevy's device.
#[derive(Resource, Clone)]
pub struct Screen {
    display: Arc<WgpuDisplay>,
    views: Views,
}

impl Screen {
    /// The display, for [`pixelferry::LinkBuilder::shown_by`] and links of other kinds.
    pub fn display(&self) -> Arc<dyn Display> {
        self.display.clone()
    }
}

/// A link whose frames are an image in bevy. Systems and tasks on any thread may use it.
#[derive(Component)]
pub struct Picture {
    link: Link<AnyThread>,
    screen: Screen,
    image: Handle<Image>,
}

impl Picture {
    /// Makes an image of the size of a link to the screen's display.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer, and for a link to another display than the screen's.
    pub fn new(screen: &Screen, images: &mut Assets<Image>, link: Link) -> Result<Self> {
        let other = |_| Error::invalid("Picture::new", "the link is to another display than Screen::display()");
        let link = link.for_any_thread(&screen.display).map_err(other)?;
        let SurfaceDesc::Image(image) = *link.desc() else {
            return Err(Error::invalid("Picture::new", "a buffer is not an image"));
        };
        // Frames are stored unchanged, and bevy's view decodes them: its sprites compute with light.
        let (stored, seen) = (TextureFormat::Rgba8Unorm, Some(TextureFormat::Rgba8UnormSrgb));
        let image = images.add(Image::new_target_texture(image.extent.width, image.extent.height, stored, seen));
        screen.views.lock().insert(image.id(), None);
        Ok(Self { link, screen: screen.clone(), image })
    }

    /// The image, for sprites and materials.
    pub fn image(&self) -> Handle<Image> {
        self.image.clone()
    }

    /// The link, for computing frames and resizing.
    pub fn link(&mut self) -> &mut LinkCore {
        &mut self.link
    }

    /// Draws the shown frame into the image, which is resized with the link. Returns false and draws nothing while bevy
    /// has not made the image's texture yet, for a few frames after it was opened or resized.
    ///
    /// # Errors
    /// [`Error::NothingShown`] before the first frame, and those of [`WgpuDisplay::draw_to`].
    pub fn show(&mut self, images: &mut Assets<Image>, options: DrawOptions) -> Result<bool> {
        let shown = self.link.shown()?;
        let SurfaceDesc::Image(desc) = *shown.desc() else {
            return Err(Error::invalid("Picture::show", "the link was resized to a buffer, which is not an image"));
        };
        let (width, height) = (desc.extent.width, desc.extent.height);
        let wanted = Extent3d { width, height, depth_or_array_layers: 1 };
        if images.get(&self.image).is_some_and(|image| image.texture_descriptor.size != wanted)
            && let Some(mut image) = images.get_mut(&self.image)
        {
            image.resize(wanted);
        }
        let view = self.screen.views.lock().get(&self.image.id()).cloned().flatten();
        let Some(view) = view.filter(|view| view.texture().size() == wanted) else { return Ok(false) };
        let stored = view.texture().create_view(&TextureViewDescriptor::default());
        let (format, all) = (view.texture().format(), Viewport::full(width, height));
        self.screen.display.draw_to(shown.surface(), &stored, format, None, all, options)?;
        Ok(true)
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        self.screen.views.lock().remove(&self.image.id());
    }
}
