//! Images and buffers of an engine's: what it rendered is taken, and frames go into them.

use crate::engine::{Engine, change, range};
use crate::engine_objects::{
    Object, intake, objects_are_made_anew, on_every_path, outlet, overwriting, refused, round,
};
use ash::vk;
use interop_core::{Display, Extent, PixelFormat, Surface};
use pixelferry_testing::by_level;
use pixelferry_vulkan::sharing::vk_format;
use pixelferry_vulkan::{EngineBuffer, EngineImage, VulkanDisplay};
use std::sync::Arc;

const BOTH: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// An engine's image, kept in one layout.
pub struct Canvas<'e> {
    engine: &'e Engine,
    display: &'e Arc<VulkanDisplay>,
    memory: vk::DeviceMemory,
    pub about: EngineImage,
}

impl<'e> Canvas<'e> {
    fn new(
        engine: &'e Engine,
        display: &'e Arc<VulkanDisplay>,
        format: vk::Format,
        extent: Extent,
        layout: vk::ImageLayout,
    ) -> Self {
        Self::of_usage(engine, display, format, extent, (BOTH | vk::ImageUsageFlags::SAMPLED, layout))
    }

    /// All zero.
    pub fn of_usage(
        engine: &'e Engine,
        display: &'e Arc<VulkanDisplay>,
        format: vk::Format,
        extent: Extent,
        (usage, layout): (vk::ImageUsageFlags, vk::ImageLayout),
    ) -> Self {
        let (image, memory) = engine.image(format, extent, usage);
        let about = EngineImage { image, format, extent, usage, layout };
        let made = Self { engine, display, memory, about };
        made.clear(vk::ImageLayout::UNDEFINED, [0.0; 4]);
        made
    }

    /// The engine draws one colour all over, in a submission of its own.
    pub fn clear(&self, from: vk::ImageLayout, colour: [f32; 4]) {
        let EngineImage { image, layout, .. } = self.about;
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: the image is the engine's own; the display's work with it was submitted before to the same queue.
        self.engine.copied(4, |device, commands, _| unsafe {
            change(device, commands, image, (from, target));
            let colour = vk::ClearColorValue { float32: colour };
            device.cmd_clear_color_image(commands, image, target, &colour, &[range()]);
            change(device, commands, image, (target, layout));
            None
        });
    }
}

impl Object for Canvas<'_> {
    fn surface(&self) -> Surface {
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        unsafe { self.display.engine_image(&self.about) }.unwrap()
    }

    fn got(&self) -> Vec<u8> {
        self.engine.read(&self.display.surface_frame(&self.surface()).unwrap())
    }

    fn whiten(&self) -> bool {
        let bytes = self.surface().desc().to_string().contains("A8");
        if bytes {
            self.clear(self.about.layout, [1.0; 4]);
        }
        bytes
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        self.display.finish().unwrap();
        let device = &self.engine.vulkan.device;
        // SAFETY: the display is done with it, and the surfaces over it are gone.
        unsafe {
            device.destroy_image(self.about.image, None);
            device.free_memory(self.memory, None);
        }
    }
}

#[test]
fn every_format_goes_into_an_engines_image_and_back() {
    for bare in [false, true] {
        let Some(engine) = Engine::make(bare) else { return };
        let (display, general) = (engine.display(), vk::ImageLayout::GENERAL);
        let shown: Arc<dyn Display> = display.clone();
        for format in display.caps().image_formats.clone() {
            for extent in [Extent::new(33, 7), Extent::new(1, 3), Extent::new(64, 2)] {
                round(&shown, &Canvas::new(&engine, &display, vk_format(format), extent, general), None, 4).unwrap();
            }
        }
        let (srgb, sampled) = (vk::Format::R8G8B8A8_SRGB, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let canvas = Canvas::new(&engine, &display, srgb, Extent::new(129, 65), sampled);
        assert!(on_every_path(&shown, &canvas).len() >= 2);
    }
}

/// A buffer of the engine's.
struct Bytes<'e>(&'e Engine, &'e Arc<VulkanDisplay>, EngineBuffer);

impl Object for Bytes<'_> {
    fn surface(&self) -> Surface {
        // SAFETY: the buffer is as it says, and goes when the display is done with it.
        unsafe { self.1.engine_buffer(&self.2) }.unwrap()
    }

    fn got(&self) -> Vec<u8> {
        self.0.read(&self.1.surface_frame(&self.surface()).unwrap())
    }

    fn whiten(&self) -> bool {
        false
    }
}

#[test]
fn bytes_go_into_an_engines_buffer_and_back() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let shown: Arc<dyn Display> = display.clone();
    let device = &engine.vulkan.device;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    for bytes in [1, 5001] {
        let (buffer, memory) = engine.buffer(bytes + 7, usage);
        let object = Bytes(&engine, &display, EngineBuffer { buffer, bytes, usage });
        assert!(on_every_path(&shown, &object).len() >= 2);
        round(&shown, &object, None, 4).unwrap();
        display.finish().unwrap();
        // SAFETY: the display is done with it.
        unsafe {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
    }
}

#[test]
fn images_are_made_anew_for_300_frames() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let shown: Arc<dyn Display> = display.clone();
    let layouts = [vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL];
    objects_are_made_anew(&shown, by_level(5, 20, 20), |width, height, n| {
        Canvas::new(&engine, &display, vk::Format::B8G8R8A8_UNORM, Extent::new(width, height), layouts[n % 2])
    });
}

#[test]
fn what_no_copy_reaches_is_refused_and_says_why() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let shown: Arc<dyn Display> = display.clone();
    let extent = Extent::new(8, 8);
    let canvas = Canvas::new(&engine, &display, vk::Format::R8G8B8A8_UNORM, extent, vk::ImageLayout::GENERAL);
    let good = canvas.about;
    // SAFETY: what is wrong is found out before it is used; what is right is as it says.
    let image = |about: EngineImage| unsafe { display.engine_image(&about) };
    refused(image(EngineImage { image: vk::Image::null(), ..good }), "null");
    refused(image(EngineImage { usage: vk::ImageUsageFlags::SAMPLED, ..good }), "add TRANSFER_SRC");
    refused(image(EngineImage { format: vk::Format::R32_UINT, ..good }), "frames cannot have the format R32_UINT");
    refused(image(EngineImage { layout: vk::ImageLayout::UNDEFINED, ..good }), "UNDEFINED");
    refused(image(EngineImage { extent: Extent::new(0, 8), ..good }), "0x8");
    let only = |usage| image(EngineImage { usage, ..good }).unwrap();
    refused(intake(&shown, only(vk::ImageUsageFlags::TRANSFER_DST), None), "without TRANSFER_SRC");
    refused(outlet(&shown, only(vk::ImageUsageFlags::TRANSFER_SRC), None), "without TRANSFER_DST");
    refused(display.draw_offscreen(&only(vk::ImageUsageFlags::TRANSFER_DST)), "without TRANSFER_SRC");
    assert!(intake(&shown, only(vk::ImageUsageFlags::TRANSFER_SRC), None).is_ok());
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let (raw, memory) = engine.buffer(64, usage);
    let bytes = EngineBuffer { buffer: raw, bytes: 64, usage };
    // SAFETY: as above.
    let buffer = |about: EngineBuffer| unsafe { display.engine_buffer(&about) };
    refused(buffer(EngineBuffer { buffer: vk::Buffer::null(), ..bytes }), "null");
    refused(buffer(EngineBuffer { bytes: 0, ..bytes }), "");
    refused(buffer(EngineBuffer { usage: vk::BufferUsageFlags::VERTEX_BUFFER, ..bytes }), "add TRANSFER_SRC");
    refused(intake(&shown, buffer(bytes).unwrap(), None), "without TRANSFER_SRC");
    // Pixels that a frame does not write are kept by reading them first.
    refused(outlet(&shown, buffer(bytes).unwrap(), None), "do not use Keep");
    assert!(overwriting(&shown, buffer(bytes).unwrap()).is_ok());
    display.finish().unwrap();
    // SAFETY: the display is done with it.
    unsafe {
        engine.vulkan.device.destroy_buffer(raw, None);
        engine.vulkan.device.free_memory(memory, None);
    }
}

/// Formats that encode have the numbers that are stored.
#[test]
fn formats_of_vulkan_are_those_of_frames() {
    for format in PixelFormat::ALL {
        assert_eq!(pixelferry_vulkan::sharing::pixel_format(vk_format(format)), Some(format));
    }
    assert_eq!(pixelferry_vulkan::sharing::pixel_format(vk::Format::B8G8R8A8_SRGB), Some(PixelFormat::Bgra8));
    assert_eq!(pixelferry_vulkan::sharing::pixel_format(vk::Format::D32_SFLOAT), None);
}
