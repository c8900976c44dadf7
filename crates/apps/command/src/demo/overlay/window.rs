//! Shows the scene and its controls in a window.

use super::Show;
use super::player::{Action, Player};
use super::ui::{BEHIND, Ui};
use egui_winit::winit::event::WindowEvent;
use pixelferry::api::gl::{Flow, GlWindow, WindowApp, WindowOptions, run_window};
use pixelferry::{Display, LinkBuilder};
use pixelferry_demo::runner::introduce;
use pixelferry_demo::{SceneError, SceneOptions, complain, say};
use pixelferry_view::paint::gl::GlPainter;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;
use tracing::Level;

pub fn run(show: Show, common: &SceneOptions) -> Result<(), Box<dyn Error>> {
    let window = WindowOptions::default()
        .with_title("pixelferry")
        .with_size(pixelferry::Extent::new(show.size.0, show.size.1))
        .with_max_frames(common.frames.map(u64::from));
    let mut app = App { show, wanted: common.wanted(), running: None };
    let frames = run_window(&window, &mut app).map_err(SceneError::or_headless)?;
    Ok(say!("frames: {frames}")?)
}

struct App {
    show: Show,
    wanted: LinkBuilder,
    running: Option<DemoWindow>,
}

struct DemoWindow {
    player: Player,
    ui: Ui,
    /// `None` after painting has failed: the scene then runs without controls.
    painter: Option<GlPainter>,
    input: egui_winit::State,
    start: Instant,
    /// Actions that the previous frame's controls requested.
    actions: Vec<Action>,
}

impl WindowApp for App {
    type Error = SceneError;

    fn init(&mut self, window: &GlWindow) -> Result<(), SceneError> {
        let gl = Arc::clone(window.display());
        let display = Arc::clone(&gl) as Arc<dyn Display>;
        let mut player = self.show.player(self.wanted.clone().shown_by(&display))?;
        introduce(player.scene())?;
        let painter = GlPainter::new(&gl).inspect_err(|error| no_controls(&player, error)).ok();
        let ui = Ui::default();
        let scale = window.window().scale_factor() as f32;
        let most = gl.caps().max_image_side as usize;
        let (context, screen) = (ui.context().clone(), window.window().as_ref());
        let input = egui_winit::State::new(context, egui::ViewportId::ROOT, screen, Some(scale), None, Some(most));
        let (start, actions) = (Instant::now(), Vec::new());
        self.running = Some(DemoWindow { player, ui, painter, input, start, actions });
        Ok(())
    }

    fn event(&mut self, window: &GlWindow, event: &WindowEvent) {
        if let Some(running) = &mut self.running {
            // Frames follow each other anyway, so no extra redraw is needed.
            let _ = running.input.on_window_event(window.window(), event);
        }
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, SceneError> {
        let Some(DemoWindow { player, ui, painter, input, start, actions }) = &mut self.running else {
            return Ok(Flow::Exit);
        };
        actions.drain(..).for_each(|action| player.act(action));
        player.frame(start.elapsed().as_secs_f32());
        let ran = ui.run(input.take_egui_input(window.window()), player);
        input.handle_platform_output(window.window(), ran.platform);
        *actions = ran.actions;
        let size = window.size();
        window.display().clear(BEHIND)?;
        player.draw(ran.painted.area(size.height));
        if let Some(p) = painter
            && let Err(error) = p.paint(&ran.painted, (size.width, size.height))
        {
            no_controls(player, &error);
            *painter = None;
        }
        Ok(Flow::Continue)
    }

    fn closing(&mut self, _: &GlWindow) {
        self.running = None;
    }
}

/// Reports that the scene continues without controls.
fn no_controls(player: &Player, error: &pixelferry_view::paint::PaintError) {
    complain!("the controls cannot be drawn: {error}");
    player.log().add(Level::ERROR, format!("the controls cannot be drawn: {error}"));
}
