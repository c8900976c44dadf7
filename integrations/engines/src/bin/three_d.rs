//! A picture of pixelferry as a texture of three-d 0.19.

use engine_picture::{AT, BACKGROUND, EXTENT, LAST_FRAME, WINDOW, source, tell};
// glue
use pixelferry::api::gl::{EngineOptions, GlDisplay, Viewport};
use pixelferry::{Arg, Display, DrawOptions, LinkBuilder, OpenedLink, PixelFormat, Scratch, SurfaceDesc};
use std::sync::Arc;
// end of glue
use std::error::Error;
use three_d::{
    Camera, ClearState, ColorMaterial, FrameOutput, Gm, Interpolation, Rectangle, SurfaceSettings, Texture2D,
    Texture2DRef, Window, WindowSettings, Wrapping, degrees,
};

fn main() -> Result<(), Box<dyn Error>> {
    let size = (WINDOW.width, WINDOW.height);
    let surface_settings = SurfaceSettings { multisamples: 0, ..SurfaceSettings::default() };
    let window =
        Window::new(WindowSettings { max_size: Some(size), min_size: size, surface_settings, ..Default::default() })?;
    let context = window.gl();
    let (filter, wrap) = (Interpolation::Nearest, Wrapping::ClampToEdge);
    let (w, h) = (EXTENT.width, EXTENT.height);
    let texture =
        Texture2DRef::from_texture(Texture2D::new_empty::<[u8; 4]>(&context, w, h, filter, filter, None, wrap, wrap));

    // glue
    // SAFETY: the window's context stays current on this thread until the program ends.
    let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }?;
    let (surface, shown_by) = (SurfaceDesc::image(w, h, PixelFormat::Rgba8), display.clone() as Arc<dyn Display>);
    let builder = LinkBuilder::new(surface).launch(&source(), [Scratch::U32(0)]).shown_by(&shown_by);
    let OpenedLink { kernels, mut link, .. } = builder.open()?;
    // end of glue
    tell(&link);

    let centre = ((AT[0] + w / 2) as f32, (WINDOW.height - AT[1] - h / 2) as f32);
    let sprite = Gm::new(
        Rectangle::new(&context, centre, degrees(0.0), w as f32, h as f32),
        ColorMaterial { texture: Some(texture.clone()), ..Default::default() },
    );
    let [red, green, blue] = BACKGROUND.map(|c| f32::from(c) / 255.0);
    let mut frame = 0;
    window.render_loop(move |input| {
        frame = (frame + 1).min(LAST_FRAME);
        // glue
        let drawn = link.frame(|next| next.launch(kernels[0].as_ref(), &[Arg::U32(frame)])).and_then(|()| {
            let target = texture.as_color_target(None);
            target.write(|| display.draw(link.shown()?.surface(), Viewport::full(w, h), DrawOptions::default()))?;
            Ok(())
        });
        // end of glue
        if let Err(error) = drawn {
            eprintln!("{error}");
            return FrameOutput { exit: true, ..Default::default() };
        }
        let mut camera = Camera::new_2d(input.viewport);
        camera.disable_tone_and_color_mapping();
        input.screen().clear(ClearState::color_and_depth(red, green, blue, 1.0, 1.0)).render(&camera, &sprite, &[]);
        FrameOutput::default()
    });
    Ok(())
}
