//! Runs without a window and saves the last frame, with its controls, to a file.

use super::Show;
use super::player::Player;
use super::ui::Ui;
use image::RgbaImage;
use pixelferry::driver::describe::words::counted;
use pixelferry::save_rgba8;
use pixelferry_demo::runner::{check_saves, gl_of, introduce, without_window};
use pixelferry_demo::{SceneOptions, say};
use pixelferry_view::paint::PanelMesh;
use pixelferry_view::paint::gl::GlPainter;
use std::error::Error;

/// Default number of frames: enough for a graph of their times.
const FRAMES: u32 = 60;
/// Time advances by this much per frame, so that equal calls give equal scenes.
const SECONDS_PER_FRAME: f32 = 1.0 / 30.0;

pub fn run(show: Show, common: &SceneOptions) -> Result<(), Box<dyn Error>> {
    common.check_out()?;
    let mut player = show.player(without_window(common.wanted(), common.display))?;
    introduce(player.scene())?;
    check_saves(common, player.scene())?;
    let frames = u64::from(common.frames.unwrap_or(FRAMES));
    let picture = picture_after(&show, &mut player, frames)?;
    if let Some(out) = &common.out {
        save_rgba8(picture, out)?;
    }
    let times = player.times();
    if times.frames().len() > 0 {
        let [p50, p99] = times.p50_p99(|frame| frame.interval_ms);
        say!("{}, p50 {p50:.2} ms, p99 {p99:.2} ms", counted(frames, "frame"))?;
    } else {
        // Intervals need two frames.
        say!("{} in {:.2} ms", counted(frames, "frame"), times.newest_work_ms)?;
    }
    for line in show.log.all().iter().filter(|line| line.level <= tracing::Level::WARN) {
        say!("  {}", line.text)?;
    }
    Ok(common.out.as_ref().map_or(Ok(()), |out| say!("saved {}", out.display()))?)
}

/// Runs so many frames and returns what a window would show at the last.
pub fn picture_after(show: &Show, player: &mut Player, frames: u64) -> Result<RgbaImage, Box<dyn Error>> {
    let (width, height) = show.size;
    let mut ui = Ui::default();
    let gl = gl_of(player.scene()).ok_or("the controls are drawn with OpenGL; use --plain")?;
    let target = gl.create_offscreen_target(width, height)?;
    let mut painted = ui.run(ui.input_without_window(show.size, 0), player).painted;
    let draw = |player: &mut Player, painted: &PanelMesh| -> pixelferry::Result<()> {
        target.bind()?;
        gl.clear(super::ui::BEHIND)?;
        player.draw(painted.area(height));
        Ok(())
    };
    for frame in 1..=frames.max(1) {
        player.frame(frame as f32 * SECONDS_PER_FRAME);
        draw(player, &painted)?;
        let ran = ui.run(ui.input_without_window(show.size, frame), player);
        painted.follow(ran.painted);
        ran.actions.into_iter().for_each(|action| player.act(action));
    }
    // Frames that are shown late are saved, too.
    player.scene().link().flush()?;
    draw(player, &painted)?;
    GlPainter::new(&gl)?.paint(&painted, (width, height))?;
    Ok(RgbaImage::from_raw(width, height, target.read_pixels()?).ok_or("a short picture")?)
}
