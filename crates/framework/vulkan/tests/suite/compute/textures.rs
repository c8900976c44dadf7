//! Kernels that store to the display's images, and to an engine's, beside the same kernels in linear memory.

use super::{Both, both};
use crate::engine::Engine;
use crate::images::{self, MIXED, queue};
use ash::vk;
use interop_core::{
    Arg, ComputeBackend, Display, Error, Extent, ImageDesc, ImageView, KernelSource, MemoryShape, PathId, PixelFormat,
    SurfaceDesc, Target, View,
};
use pixelferry_vulkan::{EngineImage, VulkanBackend, ash};
use std::sync::Arc;

#[test]
fn every_format_holds_what_linear_memory_does() {
    let Some(Both { backend, display }) = both() else { return };
    let display: Arc<dyn Display> = display;
    images::every_format_holds_what_linear_memory_does((&backend, &display), &images::kernels(backend.as_ref()));
}

#[test]
fn bytes_of_an_image_are_read_and_written_where_they_lie() {
    let Some(Both { backend, display }) = both() else { return };
    for format in PixelFormat::ALL {
        let desc = SurfaceDesc::image(7, 5, format);
        let surface = display.create_surface(&desc).unwrap();
        let handle = surface.export(queue(backend.as_ref())).unwrap();
        let mut image = backend.import_surface(&handle, &desc).unwrap();
        let larger = SurfaceDesc::image(7, 6, format);
        assert!(backend.import_surface(&handle, &larger).is_err());
        // The image is kept.
        drop((surface, handle));
        let view = ImageView::packed(Extent::new(7, 5), format, 1, 0, false).unwrap();
        let raw = backend.raw(Target::new(image.as_mut(), View::Image(view)).unwrap());
        assert!(matches!(raw, Err(Error::Unsupported { .. })));
        images::bytes_of_an_image_are_read_and_written_where_they_lie(backend.as_ref(), image.as_mut(), format);
    }
}

/// Those that shaders name without a feature of the device; others go by memory, with the reason.
#[test]
fn an_engine_without_the_feature_has_five_formats() {
    let Some(engine) = Engine::make(true) else { return };
    let display = engine.display();
    let backend: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display).unwrap());
    let handle = queue(backend.as_ref());
    let takes = |format| backend.caps().can_import_surface(handle, &SurfaceDesc::image(4, 4, format));
    let taken = PixelFormat::ALL.into_iter().filter(|format| takes(*format).is_yes()).count();
    assert_eq!(taken, 5);
    let surface = display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::R8)).unwrap();
    assert!(surface.export(handle).is_err());
    let display: Arc<dyn Display> = display;
    let sides = (&backend, &display);
    let link = images::link(sides, ImageDesc::new(4, 4, PixelFormat::Rgba8), PathId::IN_QUEUE_TEXTURE);
    assert_eq!(link.path(), PathId::IN_QUEUE_TEXTURE);
}

/// A kernel stores to an image that the engine made, and the engine reads it.
#[test]
fn an_engines_image_is_stored_to() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let backend = VulkanBackend::on(&display).unwrap();
    assert!(Display::caps(display.as_ref()).can_export(queue(&backend), MemoryShape::Image).is_yes());
    let kernel = backend.build(&KernelSource::new("k").wgsl(MIXED)).unwrap();
    let (format, layout) = (vk::Format::R8G8B8A8_UNORM, vk::ImageLayout::GENERAL);
    let extent = Extent::new(21, 13);
    let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    for usage in [copies, copies | vk::ImageUsageFlags::STORAGE] {
        let (image, memory) = engine.image(format, extent, usage);
        // SAFETY: the image is the engine's own and new.
        engine.copied(4, |device, commands, _| unsafe {
            crate::engine::change(device, commands, image, (vk::ImageLayout::UNDEFINED, layout));
            None
        });
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        let surface = unsafe { display.engine_image(&EngineImage { image, format, extent, usage, layout }) }.unwrap();
        let exported = surface.export(queue(&backend));
        assert_eq!(exported.is_ok(), usage.contains(vk::ImageUsageFlags::STORAGE));
        if let Ok(handle) = exported {
            let desc = *surface.desc();
            let mut target = backend.import_surface(&handle, &desc).unwrap();
            let view = View::Image(ImageView::packed(extent, PixelFormat::Rgba8, 1, 0, false).unwrap());
            let mut linear = backend.allocate(21 * 13 * 4).unwrap();
            for memory in [&mut target, &mut linear] {
                let target = Target::new(memory.as_mut(), view).unwrap();
                backend.launch(kernel.as_ref(), target, &[Arg::F32(1.0)]).unwrap();
            }
            let mut wanted = vec![0; 21 * 13 * 4];
            linear.read(0, &mut wanted).unwrap();
            assert_eq!(engine.read(&display.surface_frame(&surface).unwrap()), wanted);
        }
        drop(surface);
        display.finish().unwrap();
        // SAFETY: nothing uses them any more.
        unsafe {
            engine.vulkan.device.destroy_image(image, None);
            engine.vulkan.device.free_memory(memory, None);
        }
    }
}

#[test]
fn an_image_above_the_limit_of_buffers_is_a_texture() {
    let Some(Both { backend, display }) = both() else { return };
    let display: Arc<dyn Display> = display;
    crate::large_images::an_image_above_the_limit_of_buffers_is_a_texture(&backend, &display, "maxStorageBufferRange");
}
