//! Writing a shown texture by GL itself, as an engine would.

use glow::HasContext as _;
use interop_core::SurfaceDesc;
use interop_core::display::Surface;
use pixelferry_gl::GlDisplay;

/// Writes tight rows into the texture that the surface shows. Does not wait.
pub fn pixels(display: &GlDisplay, surface: &Surface, bytes: &[u8]) {
    let SurfaceDesc::Image(image) = *surface.desc() else { panic!("{}", surface.desc()) };
    let (format, ty) = crate::suite::common::stored(image.format);
    let texture = display.surface_texture(surface).unwrap();
    let (gl, target) = (display.gl(), texture.target);
    let (width, height) = (image.extent.width as i32, image.extent.height as i32);
    let data = glow::PixelUnpackData::Slice(Some(bytes));
    // SAFETY: the display's context is current and the bytes are tight rows of the whole texture.
    unsafe {
        gl.bind_texture(target, Some(texture.name));
        gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
        gl.tex_sub_image_2d(target, 0, 0, 0, width, height, format, ty, data);
        gl.bind_texture(target, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

/// Fills the texture that the surface shows through a framebuffer. Does not wait.
pub fn clear(display: &GlDisplay, surface: &Surface, color: [f32; 4]) {
    let texture = display.surface_texture(surface).unwrap();
    let (gl, target) = (display.gl(), glow::FRAMEBUFFER);
    // SAFETY: the display's context is current and all names are of it.
    unsafe {
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(target, Some(framebuffer));
        gl.framebuffer_texture_2d(target, glow::COLOR_ATTACHMENT0, texture.target, Some(texture.name), 0);
        assert_eq!(gl.check_framebuffer_status(target), glow::FRAMEBUFFER_COMPLETE);
        gl.clear_buffer_f32_slice(glow::COLOR, 0, &color);
        gl.bind_framebuffer(target, None);
        gl.delete_framebuffer(framebuffer);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}
