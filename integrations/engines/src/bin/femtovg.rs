//! A picture of pixelferry as an image of femtovg 0.28, whose glow is another than pixelferry's.

use engine_picture::{AT, BACKGROUND, EXTENT, LAST_FRAME, WINDOW, source, tell};
use engine_programs::GlWindow;
use femtovg::{Canvas, Color, ImageFlags, Paint, Path, renderer::OpenGl};
// glue
use pixelferry::api::gl::{EngineOptions, EngineTexture, GlDisplay};
use pixelferry::{Arg, Display, DrawOptions, LinkBuilder, OpenedLink, PixelFormat, Scratch, SurfaceDesc};
use std::sync::Arc;
// end of glue
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    engine_programs::run(|window: &GlWindow| {
        let (w, h) = (EXTENT.width, EXTENT.height);
        let mut canvas = Canvas::new(OpenGl::new_from_glutin_display(&window.display())?)?;
        canvas.set_size(WINDOW.width, WINDOW.height, 1.0);
        // Its rows begin at the bottom.
        let flags = ImageFlags::NEAREST | ImageFlags::FLIP_Y;
        let image = canvas.create_image_empty(w as usize, h as usize, femtovg::PixelFormat::Rgba8, flags)?;

        // glue
        // SAFETY: the window's context stays current on this thread until the program ends.
        let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }?;
        let (surface, shown_by) = (SurfaceDesc::image(w, h, PixelFormat::Rgba8), display.clone() as Arc<dyn Display>);
        let builder = LinkBuilder::new(surface).launch(&source(), [Scratch::U32(0)]).shown_by(&shown_by);
        let OpenedLink { kernels, mut link, .. } = builder.open()?;
        let target = EngineTexture::new(canvas.get_native_texture(image)?.0.get(), EXTENT);
        // end of glue
        tell(&link);

        let [red, green, blue] = BACKGROUND;
        let [x, y] = AT.map(|side| side as f32);
        let (mut path, paint) =
            (Path::new(), Paint::image(image, x, y, w as f32, h as f32, 0.0, 1.0).with_anti_alias(false));
        path.rect(x, y, w as f32, h as f32);
        let mut frame = 0;
        Ok(move || {
            frame = (frame + 1).min(LAST_FRAME);
            // glue
            link.frame(|next| next.launch(kernels[0].as_ref(), &[Arg::U32(frame)]))?;
            let shown = link.shown()?;
            // SAFETY: the image is this program's, and femtovg draws nothing meanwhile.
            unsafe { display.draw_to_texture(shown.surface(), target, target.viewport(), DrawOptions::default()) }?;
            // end of glue
            canvas.clear_rect(0, 0, WINDOW.width, WINDOW.height, Color::rgb(red, green, blue));
            canvas.fill_path(&path, &paint);
            canvas.flush();
            Ok(())
        })
    })
}
