//! A picture of pixelferry in eframe 0.37: `--wgpu` draws with wgpu, otherwise OpenGL does.

use eframe::egui;
use engine_picture::{AT, BACKGROUND, EXTENT, LAST_FRAME, WINDOW, source, tell};
// glue
use pixelferry::{Arg, DrawOptions, Kernel, LinkBuilder, OpenedLink, PixelFormat, Scratch, SurfaceDesc};
use pixelferry_egui::{Picture, Screen};
// end of glue
use std::error::Error;
use std::sync::Arc;

struct App {
    frame: u32,
    // glue
    weave: Arc<dyn Kernel>,
    picture: Picture,
    // end of glue
}

impl App {
    fn new(cc: &eframe::CreationContext<'_>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        // glue
        // SAFETY: the app owns what is made of the screen, and eframe drops it before its context.
        let screen = unsafe { Screen::new(cc) }?;
        let surface = SurfaceDesc::image(EXTENT.width, EXTENT.height, PixelFormat::Rgba8);
        let builder = LinkBuilder::new(surface).launch(&source(), [Scratch::U32(0)]).shown_by(&screen.display());
        let OpenedLink { mut kernels, link, .. } = builder.open()?;
        let (weave, mut picture) = (kernels.remove(0), Picture::new(screen, link));
        // end of glue
        tell(picture.link());
        Ok(Self { frame: 0, weave, picture })
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        self.frame = (self.frame + 1).min(LAST_FRAME);
        // glue
        let computed = self.picture.link().frame(|next| next.launch(self.weave.as_ref(), &[Arg::U32(self.frame)]));
        let image = computed.and_then(|()| self.picture.image(frame, DrawOptions::default()));
        // end of glue
        let corner = egui::pos2(AT[0] as f32, AT[1] as f32);
        let place = egui::Rect::from_min_size(corner, egui::vec2(EXTENT.width as f32, EXTENT.height as f32));
        match image {
            Ok(image) => drop(ui.put(place, image)),
            Err(error) => {
                eprintln!("{error}");
                ui.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
        ui.request_repaint();
    }

    fn clear_color(&self, _: &egui::Visuals) -> [f32; 4] {
        let [red, green, blue] = BACKGROUND.map(|c| f32::from(c) / 255.0);
        [red, green, blue, 1.0]
    }
}

fn main() -> eframe::Result {
    let by_wgpu = std::env::args().any(|argument| argument == "--wgpu");
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size([WINDOW.width as f32, WINDOW.height as f32]),
        renderer: if by_wgpu { eframe::Renderer::Wgpu } else { eframe::Renderer::Glow },
        // Numbers reach the screen unchanged.
        dithering: false,
        ..Default::default()
    };
    eframe::run_native("pixelferry", options, Box::new(|cc| Ok(Box::new(App::new(cc)?))))
}
