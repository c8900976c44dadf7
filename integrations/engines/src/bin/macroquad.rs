//! A picture of pixelferry as a texture of macroquad 0.4.

use engine_picture::{AT, BACKGROUND, EXTENT, LAST_FRAME, WINDOW, source, tell};
use macroquad::miniquad::RawId;
use macroquad::prelude::*;
// glue
use pixelferry::api::gl::{EngineOptions, EngineTexture, GlDisplay};
use pixelferry::{Arg, Display, DrawOptions, LinkBuilder, OpenedLink, PixelFormat, Scratch, SurfaceDesc};
use std::sync::Arc;
// end of glue

fn settings() -> Conf {
    let [window_width, window_height] = [WINDOW.width, WINDOW.height].map(|side| side as i32);
    Conf { window_width, window_height, ..Conf::default() }
}

#[macroquad::main(settings)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (w, h) = (EXTENT.width, EXTENT.height);
    let texture = Texture2D::from_rgba8(w as u16, h as u16, &vec![0; 4 * EXTENT.pixels() as usize]);

    // glue
    // SAFETY: macroquad's context stays current on this thread until the program ends.
    let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }?;
    let (surface, shown_by) = (SurfaceDesc::image(w, h, PixelFormat::Rgba8), display.clone() as Arc<dyn Display>);
    let builder = LinkBuilder::new(surface).launch(&source(), [Scratch::U32(0)]).shown_by(&shown_by);
    let OpenedLink { kernels, mut link, .. } = builder.open()?;
    // SAFETY: macroquad's context is borrowed for this call only.
    let RawId::OpenGl(id) = unsafe { get_internal_gl().quad_context.texture_raw_id(texture.raw_miniquad_id()) };
    let target = EngineTexture::new(id, EXTENT);
    // end of glue
    tell(&link);

    let [red, green, blue] = BACKGROUND;
    let mut frame = 0;
    loop {
        frame = (frame + 1).min(LAST_FRAME);
        // glue
        link.frame(|next| next.launch(kernels[0].as_ref(), &[Arg::U32(frame)]))?;
        // SAFETY: the texture is this program's, and macroquad draws nothing meanwhile.
        unsafe { display.draw_to_texture(link.shown()?.surface(), target, target.viewport(), DrawOptions::default()) }?;
        // OpenGL's row 0 is the lowest; macroquad's is the topmost.
        let upright = DrawTextureParams { flip_y: true, ..Default::default() };
        // end of glue
        clear_background(Color::from_rgba(red, green, blue, 255));
        draw_texture_ex(&texture, AT[0] as f32, AT[1] as f32, WHITE, upright);
        next_frame().await;
    }
}
