//! Plays a file in a window, with a panel over the picture: sliders, time, and errors in the shader.

use crate::error::{Fault, PlayError, lines};
use crate::input::{Slider, SliderKind};
use crate::pass::TextVoucher;
use crate::player::{Player, PlayerOptions};
use egui::{Align2, Area, ComboBox, Context, Frame, Id, Label, RawInput, Rect, RichText, TextWrapMode, Ui, vec2};
use egui_winit::winit::event::{MouseButton, WindowEvent};
use pixelferry::api::gl::{Flow, GlWindow, Viewport, WindowApp, WindowOptions, run_window};
use pixelferry::{Display, DrawOptions, Extent, save_rgba8};
use pixelferry_media::record::Recorder;
use pixelferry_view::paint::PanelMesh;
use pixelferry_view::paint::gl::GlPainter;
use pixelferry_view::paint::theme::{BAD, BEHIND, DIM, NAMES, PANEL, TEXT, apply, cell};
use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Polling interval for files during a pause.
const REST: Duration = Duration::from_millis(10);

/// Plays a file in a window until the user closes it. Errors in the shader appear over the picture and on standard
/// error. The recorder gets the picture without the panel; it is returned, because its film continues.
///
/// Call it once in a process, and from the main thread on platforms that require it.
///
/// # Errors
/// [`PlayError::Driver`] if no window can be opened, and those of [`Player::open`].
pub fn play(
    options: PlayerOptions,
    recorder: Option<Recorder>,
    command: impl FnMut() -> Command + 'static,
    vouched: TextVoucher,
) -> Result<Option<Recorder>, PlayError> {
    let title = options.file.file_name().unwrap_or(options.file.as_os_str()).to_string_lossy().into_owned();
    let window = WindowOptions::default().with_title(format!("{title} - pixelferry play")).with_size(options.size);
    let mut app = App { opens: Some((options, Box::new(command))), vouched, shown: None, recorder };
    run_window(&window, &mut app)?;
    Ok(app.recorder)
}

struct App {
    /// Options until the window is open.
    opens: Option<(PlayerOptions, Box<dyn FnMut() -> Command>)>,
    vouched: TextVoucher,
    shown: Option<PlayWindow>,
    recorder: Option<Recorder>,
}

struct PlayWindow {
    player: Player,
    is_panel_shown: bool,
    /// `None` after painting has failed: there is no panel then.
    painter: Option<GlPainter>,
    /// Input of the panel, with its context.
    input: egui_winit::State,
    /// Pointer position, and whether its button is down for the shader.
    pointer: [f32; 2],
    is_down: bool,
    /// Number of frames to compute during a pause, and whether to recompute the current one.
    steps: u32,
    comes_again: bool,
    /// Frame rate over the last half second, and the frames since.
    rate: f32,
    frames: u32,
    since: Instant,
    /// Streams with the last message of each.
    streams: Vec<(String, String)>,
}

/// A key by what it types or by name, with help text and action.
type KeyRow = (&'static str, &'static str, fn(&mut PlayWindow));

const KEYS: [KeyRow; 6] = [
    ("Space", "pause; again to continue", |window| window.player.clock.toggle()),
    (".", "next frame, during a pause", |window| window.steps += u32::from(window.player.clock.is_halted())),
    ("r", "restart: time, frames and buffers", PlayWindow::rewind),
    ("0", "reset the sliders", PlayWindow::reset),
    ("s", "save the picture beside the shader", PlayWindow::save),
    ("F1", "show or hide the panel", |window| window.is_panel_shown = !window.is_panel_shown),
];

/// Formats the keys as lines of text.
pub fn keys() -> String {
    let name = |key: &str| if key.len() == 1 { key.to_uppercase() } else { key.to_owned() };
    KEYS.iter().map(|(key, about, _)| format!("  {:5}  {about}\n", name(key))).collect::<String>()
        + "  Escape closes; dragging with a mouse button moves iMouse;\n  \
         with Ctrl if the shader reads the keyboard"
}

/// Returns the action of a key.
fn action(key: &str) -> Option<fn(&mut PlayWindow)> {
    let key = if key == " " { "Space" } else { key };
    KEYS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key)).map(|(.., action)| *action)
}

/// Prints to standard error, and ignores failures.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

impl PlayWindow {
    fn rewind(&mut self) {
        self.player.rewind();
        self.comes_again = true;
    }

    fn reset(&mut self) {
        let (sliders, values) = self.player.sliders();
        values.iter_mut().zip(sliders).for_each(|(value, slider)| *value = slider.value);
        self.comes_again = true;
    }

    fn save(&mut self) {
        let file = self.player.options.file.with_extension("png");
        let saved = self.player.picture().and_then(|picture| Ok(save_rgba8(picture, &file)?));
        tell(&saved.map_or_else(|error| error.to_string(), |()| format!("saved {}", file.display())));
    }

    /// Counts a frame, and describes time and frame rate.
    fn line(&mut self) -> String {
        self.frames += 1;
        let passed = self.since.elapsed().as_secs_f32();
        if passed > 0.5 {
            (self.rate, self.frames, self.since) = (self.frames as f32 / passed, 0, Instant::now());
        }
        let now = self.player.clock.now();
        let state = match (self.player.clock.is_halted(), self.player.is_busy()) {
            (_, true) => "trying".to_owned(),
            (true, _) => "halted".to_owned(),
            _ => format!("{:.0} a second", self.rate),
        };
        format!("{:.2} s, frame {}, {state}", now.time, now.frame)
    }

    /// Prints new messages of streams once, and returns the current ones.
    fn listen(&mut self) -> Vec<String> {
        let line = |(name, said): &(String, String)| {
            format!("stream {name:?}: {}", if said.is_empty() { "receiving frames" } else { said })
        };
        let now = self.player.streams();
        for stream in now.iter().filter(|stream| !self.streams.contains(stream)) {
            if !stream.1.is_empty() || self.streams.iter().any(|(name, _)| *name == stream.0) {
                tell(&line(stream));
            }
        }
        self.streams = now;
        self.streams.iter().filter(|(_, said)| !said.is_empty()).map(line).collect()
    }

    /// Computes the pointer's position in pixels from the bottom left, as Shadertoy counts.
    fn point(&mut self, size: Extent) {
        if self.is_down {
            let [x, y] = self.pointer;
            self.player.mouse[..2].copy_from_slice(&[x, size.height as f32 - y]);
            self.comes_again = true;
        }
    }
}

impl WindowApp for App {
    type Error = PlayError;

    fn init(&mut self, window: &GlWindow) -> Result<(), PlayError> {
        let Some((options, command)) = self.opens.take() else { return Ok(()) };
        let display: Arc<dyn Display> = window.display().clone();
        let options = PlayerOptions { size: window.size(), ..options };
        let player = Player::open(options, Some(&display), command, self.vouched)?;
        player.faults().iter().for_each(|fault| tell(&fault.to_string()));
        let context = Context::default();
        apply(&context);
        let painter =
            GlPainter::new(window.display()).inspect_err(|error| tell(&format!("cannot draw the panel: {error}"))).ok();
        let scale = window.window().scale_factor() as f32;
        let most = window.display().caps().max_image_side as usize;
        let screen = window.window().as_ref();
        let input = egui_winit::State::new(context, egui::ViewportId::ROOT, screen, Some(scale), None, Some(most));
        tell(&format!("computed by {}", player.device()));
        self.shown = Some(PlayWindow {
            player,
            is_panel_shown: true,
            painter,
            input,
            pointer: [0.0; 2],
            is_down: false,
            steps: 0,
            comes_again: false,
            rate: 0.0,
            frames: 0,
            since: Instant::now(),
            streams: Vec::new(),
        });
        Ok(())
    }

    fn resized(&mut self, _: &GlWindow, size: Extent) -> Result<(), PlayError> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        if shown.player.size() == size { Ok(()) } else { shown.player.resize(size) }
    }

    fn event(&mut self, window: &GlWindow, event: &WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        // Frames follow each other anyway, so no extra redraw is needed.
        let _ = shown.input.on_window_event(window.window(), event);
        let context = shown.input.egui_ctx().clone();
        match event {
            WindowEvent::CursorMoved { position, .. } => {
                shown.pointer = [position.x as f32, position.y as f32];
                shown.point(window.size());
            }
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => match state.is_pressed() {
                true if !context.wants_pointer_input() && !context.is_pointer_over_area() => {
                    shown.is_down = true;
                    shown.point(window.size());
                    shown.player.mouse.copy_within(..2, 2);
                }
                false if shown.is_down => {
                    shown.is_down = false;
                    shown.player.mouse[2..].iter_mut().for_each(|from| *from = -from.abs());
                }
                _ => {}
            },
            WindowEvent::KeyboardInput { event, .. } if !context.wants_keyboard_input() => {
                let (key, is_down) = (pixelferry_view::name_of(&event.logical_key), event.state.is_pressed());
                let has_ctrl = context.input(|input| input.modifiers.ctrl);
                if shown.player.reads_keyboard() && !(is_down && has_ctrl) {
                    shown.player.keyboard.press(&key, is_down);
                } else if let (Some(action), true) = (action(&key), is_down) {
                    action(shown);
                }
            }
            _ => {}
        }
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, PlayError> {
        let Some(shown) = &mut self.shown else { return Ok(Flow::Exit) };
        let before = shown.player.faults().to_vec();
        if shown.player.look() {
            let faults = shown.player.faults();
            if !faults.is_empty() && faults != before {
                tell(&lines(faults));
            } else if let Some(last) = shown.player.last.filter(|_| faults.is_empty()) {
                tell(&format!("shown after {:.0} ms", last.as_secs_f64() * 1e3));
            }
        }
        let halted = shown.player.clock.is_halted();
        let comes_again = std::mem::take(&mut shown.comes_again) && halted && shown.steps == 0;
        let moment = shown.player.clock.now().frame;
        // Each key press is one frame, however fast the presses are.
        shown.player.frame(shown.steps > 0);
        shown.steps = if halted { shown.steps.saturating_sub(1) } else { 0 };
        let is_another = shown.player.clock.now().frame != moment;
        if comes_again {
            shown.player.again();
        }
        // As in Shadertoy, this is positive only in the first frame of a press.
        shown.player.mouse[3] = -shown.player.mouse[3].abs();
        let (line, said, size) = (shown.line(), shown.listen(), window.size());
        let faults = shown.player.faults().to_vec();
        let before: Vec<f32> = shown.player.sliders().1.to_vec();
        let (input, is_shown) = (shown.input.take_egui_input(window.window()), shown.is_panel_shown);
        let context = shown.input.egui_ctx();
        let (painted, platform) = panel(context, input, is_shown, (&line, &said), shown.player.sliders(), &faults);
        shown.input.handle_platform_output(window.window(), platform);
        // A moved slider must take effect during a pause, too.
        shown.comes_again |= halted && shown.player.sliders().1 != before;
        if shown.player.is_drawn {
            let surface = shown.player.shown()?;
            window.display().draw(surface, Viewport::full(size.width, size.height), DrawOptions::default())?;
            if let Some(recorder) = self.recorder.as_mut().filter(|own| is_another || own.step().is_none()) {
                recorder.frame(window.display(), size)?;
            }
        } else {
            window.display().clear(BEHIND)?;
        }
        if let Some(painter) = &mut shown.painter
            && let Err(error) = painter.paint(&painted, (size.width, size.height))
        {
            tell(&format!("the panel cannot be drawn any more: {error}"));
            shown.painter = None;
        }
        if halted {
            thread::sleep(REST);
        }
        Ok(Flow::Continue)
    }

    fn closing(&mut self, _: &GlWindow) {
        if let Some(Err(error)) = self.recorder.as_mut().map(Recorder::flush) {
            tell(&format!("the last frames are missing in the film: {error}"));
        }
        self.shown = None;
    }
}

/// Width of a slider, points.
const RAIL: f32 = 150.0;
/// Distance from the edges, points.
const EDGE: f32 = 10.0;

/// Lays out the panel unless it is hidden, and faults, and tessellates them. `line` describes time and frame, and `said`
/// are messages about streams.
fn panel(
    context: &Context,
    input: RawInput,
    is_shown: bool,
    (line, said): (&str, &[String]),
    (sliders, values): (&[Slider], &mut [f32]),
    faults: &[Fault],
) -> (PanelMesh, egui::PlatformOutput) {
    let mut output = context.run(input, |context| {
        if is_shown {
            show_sliders(context, (line, said), (sliders, values));
        }
        if !faults.is_empty() {
            show_faults(context, faults);
        }
    });
    let platform = std::mem::take(&mut output.platform_output);
    (PanelMesh::of(context, output, Rect::NOTHING), platform)
}

/// Shows a box in a corner.
fn show_box(context: &Context, corner: Area, contents: impl FnOnce(&mut Ui)) {
    let frame = Frame::new().fill(PANEL.gamma_multiply(0.85)).inner_margin(EDGE).corner_radius(4.0);
    corner.show(context, |ui| frame.show(ui, contents));
}

fn show_sliders(context: &Context, (line, said): (&str, &[String]), (sliders, values): (&[Slider], &mut [f32])) {
    let corner = Area::new(Id::new("sliders")).anchor(Align2::RIGHT_TOP, vec2(-EDGE, EDGE));
    show_box(context, corner, |ui| {
        ui.spacing_mut().slider_width = RAIL;
        let line = RichText::new(line).color(DIM).monospace();
        ui.add(Label::new(line).wrap_mode(TextWrapMode::Extend));
        for said in said {
            ui.label(RichText::new(said).color(DIM));
        }
        for (slider, value) in sliders.iter().zip(values.iter_mut()) {
            ui.horizontal(|ui| {
                cell(ui, NAMES, RichText::new(&slider.name).color(TEXT));
                let [least, most] = slider.limits;
                match slider.kind {
                    _ if !slider.menu.is_empty() => menu(ui, slider, value),
                    SliderKind::Float => _ = ui.add(egui::Slider::new(value, least..=most)),
                    SliderKind::Int => _ = ui.add(egui::Slider::new(value, least..=most).step_by(1.0)),
                    // The shader sees it for one frame.
                    SliderKind::Event => *value = f32::from(ui.button("now").clicked()).max(*value),
                    SliderKind::Bool => {
                        let mut is_on = *value != 0.0;
                        if ui.checkbox(&mut is_on, "").changed() {
                            *value = f32::from(is_on);
                        }
                    }
                }
            });
        }
    });
}

fn menu(ui: &mut Ui, slider: &Slider, value: &mut f32) {
    let mut at = slider.menu.iter().position(|(own, _)| own == value).unwrap_or_default();
    ComboBox::from_id_salt(&slider.name).show_index(ui, &mut at, slider.menu.len(), |at| &slider.menu[at].1);
    *value = slider.menu[at].0;
}

fn show_faults(context: &Context, faults: &[Fault]) {
    let width = (context.content_rect().width() - 4.0 * EDGE).max(100.0);
    let corner = Area::new(Id::new("faults")).anchor(Align2::LEFT_BOTTOM, vec2(EDGE, -EDGE)).interactable(false);
    show_box(context, corner, |ui| {
        ui.set_max_width(width);
        for fault in faults {
            ui.label(RichText::new(fault.to_string()).color(BAD).monospace());
        }
        ui.label(RichText::new("the picture is from the previous version").color(DIM));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::Primitive;

    /// Without a slider nothing else makes the panel wide.
    #[test]
    fn the_line_of_time_stays_one_line_without_sliders() {
        let context = Context::default();
        let height = |line: &str| {
            let screen = Rect::from_min_size(egui::Pos2::ZERO, vec2(800.0, 450.0));
            let input = || RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let run = || panel(&context, input(), true, (line, &[]), (&[], &mut []), &[]).0;
            // The first run finds out the size.
            run();
            let painted = run();
            let tops = painted.primitives.iter().filter_map(|clipped| match &clipped.primitive {
                Primitive::Mesh(mesh) => Some(mesh.calc_bounds()),
                Primitive::Callback(_) => None,
            });
            tops.reduce(|all, one| all.union(one)).expect("nothing is drawn").height()
        };
        let (short, long) = (height("0.01 s"), height("26.67 s, frame 1600, 562 a second"));
        assert!((short - long).abs() < 1.0, "{short} points for a word, {long} for the line");
    }

    #[test]
    fn keys_are_found_by_what_they_type() {
        let at =
            |key: &str| action(key).map(|action| KEYS.iter().position(|(.., own)| std::ptr::fn_addr_eq(*own, action)));
        assert_eq!([" ", ".", "R", "f1"].map(at), [Some(Some(0)), Some(Some(1)), Some(Some(2)), Some(Some(5))]);
        assert!(at("x").is_none() && KEYS.iter().all(|(_, about, _)| keys().contains(about)));
    }
}
