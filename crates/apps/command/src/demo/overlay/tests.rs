//! The controls on real drivers, where there are any, and in plain memory.

use super::draw_args::{DrawPart, idle};
use super::headless::picture_after;
use super::player::{Action, Player};
use super::setup::{MODES, Setup};
use super::ui::{BEHIND, Ui};
use super::{Log, Show};
use crate::demo::catalog::SceneName;
use egui::{Event, Modifiers, PointerButton, Pos2, Rect, Shape};
use image::RgbaImage;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::{
    BackendChoice, ComputeBackend, Display, DisplayChoice, Fit, HeadlessDisplay, LinkBuilder, PathId, PixelFormat,
    SurfaceDesc, ToneMap, open_backend, open_headless, report::PathState,
};
use pixelferry_demo::DrawArgs;
use pixelferry_demo::pixels::{Alpha, Pixels, Tone};
use pixelferry_demo::scenes::filter::Filter;
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, Fault, FaultKind, FaultStep, Faults};
use pixelferry_tests::{Need, need, need_display};
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt as _;

const SIZE: (u32, u32) = (1000, 600);

fn gl() -> Option<HeadlessDisplay> {
    need(Need::Egl, open_headless(DisplayChoice::Gl))
}

fn show(setup: Setup) -> Show {
    Show { setup, draw_args: DrawArgs::default(), input: None, size: SIZE, log: Log::default() }
}

fn player(show: &Show, screen: &HeadlessDisplay) -> Player {
    show.player(LinkBuilder::new(SurfaceDesc::buffer(0)).shown_by(&screen.display())).unwrap()
}

fn errors(log: &Log) -> Vec<String> {
    log.all().iter().filter(|line| line.level == tracing::Level::ERROR).map(|line| line.text.clone()).collect()
}

const LIGHT: Pixels = Pixels { tone: Tone::Light, format: PixelFormat::Rgba16F, alpha: Alpha::Opaque };

/// Returns what is on show alone, in a viewport of another shape.
fn shot(screen: &HeadlessDisplay, player: &mut Player) -> Vec<u8> {
    const AREA: (u32, u32) = (160, 100);
    let gl = screen.gl().unwrap();
    let target = gl.create_offscreen_target(AREA.0, AREA.1).unwrap();
    target.bind().unwrap();
    gl.clear(BEHIND).unwrap();
    player.draw(Viewport::full(AREA.0, AREA.1));
    target.unbind().unwrap();
    target.read_pixels().unwrap()
}

/// Channels that differ by more than 3.
fn far(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 3).count()
}

/// Pixels that are not what is behind the picture.
fn drawn(gl: &Arc<GlDisplay>, player: &mut Player) -> usize {
    let target = gl.create_offscreen_target(160, 90).unwrap();
    target.bind().unwrap();
    gl.clear([1.0, 0.0, 1.0, 1.0]).unwrap();
    player.draw(Viewport::full(160, 90));
    target.unbind().unwrap();
    target.read_pixels().unwrap().chunks(4).filter(|pixel| *pixel != [255, 0, 255, 255]).count()
}

#[test]
fn every_control_changes_what_runs_and_something_is_on_show_throughout() {
    let Some(screen) = gl() else { return };
    let gl = screen.gl().unwrap();
    let show = show(Setup::small());
    let mut player = player(&show, &screen);
    let base = Setup::small();
    let mut wanted = vec![
        Setup { size: (100, 50), ..base },
        Setup { pixels: Pixels { format: PixelFormat::Rgba16F, ..base.pixels }, ..base },
        Setup { scene: SceneName::Fluid, ..base },
        Setup { scene: SceneName::Fluid, pixels: LIGHT, ..base },
        Setup { scene: SceneName::Filter, filter: Filter::Sobel, ..base },
        Setup { scene: SceneName::Sine, ..base },
    ];
    wanted.extend(MODES.map(|mode| Setup { mode, ..base }));
    let paths = player.scene().link().report().paths.iter();
    let able: Vec<PathId> =
        paths.filter(|row| !matches!(row.state, PathState::NotOffered { .. })).map(|row| row.id).collect();
    assert!(able.len() > 2, "{able:?}");
    wanted.extend(able.into_iter().map(|id| Setup { path: Some(id), ..base }));
    for setup in wanted {
        player.act(Action::Change(setup));
        assert!(drawn(gl, &mut player) > 100, "{setup:?}: nothing is shown before the next frame");
        assert_eq!((player.setup(), errors(&show.log)), (&setup, Vec::new()));
        for n in 0..2 {
            player.frame(n as f32 / 30.0);
        }
        assert_eq!(errors(&show.log), Vec::<String>::new(), "{setup:?}");
        assert!(drawn(gl, &mut player) > 100, "{setup:?}");
        assert!(setup.path.is_none_or(|id| player.scene().link().path() == id), "{setup:?}");
    }
    player.act(Action::Recalibrate);
    assert!(drawn(gl, &mut player) > 100 && errors(&show.log).is_empty());
}

#[test]
fn every_look_is_another_picture() {
    let Some(screen) = gl() else { return };
    let show = show(Setup { pixels: LIGHT, ..Setup::small() });
    let base = show.draw_args;
    let mut looks = Fit::ALL.map(|fit| DrawArgs { fit, ..base }).to_vec();
    let maps = ["reinhard", "reinhard:4", "aces", "aces-narkowicz"];
    looks.extend(maps.map(|map| DrawArgs { tone_map: map.parse().unwrap(), ..base }));
    looks.extend([-1.0, 1.5].map(|exposure| DrawArgs { exposure, ..base }));
    looks.push(DrawArgs { background: Some([1.0, 0.5, 0.0]), ..base });
    let mut player = player(&show, &screen);
    let shots = looks.iter().map(|draw_args| {
        player.act(Action::Draw(*draw_args));
        shot(&screen, &mut player)
    });
    let shots: Vec<_> = shots.collect();
    for (i, a) in shots.iter().enumerate() {
        for (j, b) in shots[..i].iter().enumerate() {
            assert!(far(a, b) > 500, "{:?} and {:?}: {} channels differ", looks[i], looks[j], far(a, b));
        }
    }
    assert_eq!(errors(&show.log), Vec::<String>::new());
}

#[test]
fn a_choice_is_idle_where_it_changes_no_pixel_and_nowhere_else() {
    let small = Setup::small();
    let Some(screen) = gl() else { return };
    let setups = [
        small,
        Setup { pixels: LIGHT, ..small },
        Setup { pixels: Pixels { tone: Tone::Srgb, ..small.pixels }, ..small },
        Setup { pixels: Pixels { alpha: Alpha::Premultiplied, ..LIGHT }, ..small },
        Setup { pixels: Pixels { alpha: Alpha::Straight, ..small.pixels }, ..small },
        Setup { scene: SceneName::Sine, ..small },
    ];
    let show = show(small);
    let (mut player, base) = (player(&show, &screen), show.draw_args);
    let cover = DrawArgs { fit: Fit::Cover, ..base };
    let background = Some([1.0, 0.0, 1.0]);
    let choices = [
        (DrawPart::Fit, base, cover),
        (DrawPart::Light, base, DrawArgs { exposure: 1.0, ..base }),
        (DrawPart::Light, base, DrawArgs { tone_map: ToneMap::AcesHill, ..base }),
        (DrawPart::Background, base, DrawArgs { background, ..base }),
        (DrawPart::Background, cover, DrawArgs { background, ..cover }),
    ];
    for setup in setups {
        player.act(Action::Change(setup));
        for (part, from, to) in choices {
            let [before, after] = [from, to].map(|draw_args| {
                player.act(Action::Draw(draw_args));
                shot(&screen, &mut player)
            });
            let reason = idle(part, player.scene().link().desc(), &to);
            // The first draws are by a triangle and by a compute shader in turns, which round apart.
            let same = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| a.abs_diff(*b) <= 1);
            assert_eq!(same, reason.is_some(), "{setup:?}: {to:?}: {reason:?}");
        }
        assert_eq!(errors(&show.log), Vec::<String>::new());
    }
}

#[test]
fn coverage_is_the_same_however_it_is_stored() {
    let Some(screen) = gl() else { return };
    for scene in [SceneName::Plasma, SceneName::Fluid] {
        let [opaque, straight, premultiplied] = [Alpha::Opaque, Alpha::Straight, Alpha::Premultiplied].map(|alpha| {
            let show = show(Setup { scene, pixels: Pixels { alpha, ..LIGHT }, ..Setup::small() });
            let mut player = player(&show, &screen);
            (0..12).for_each(|n| player.frame(n as f32 / 30.0));
            player.act(Action::Draw(DrawArgs { fit: Fit::None, background: Some([0.0, 1.0, 0.0]), ..show.draw_args }));
            shot(&screen, &mut player)
        });
        assert!(far(&straight, &premultiplied) < 20, "{scene:?}: {} channels", far(&straight, &premultiplied));
        assert!(far(&straight, &opaque) > 1000, "{scene:?}: {} channels", far(&straight, &opaque));
    }
}

#[test]
fn what_cannot_be_changes_nothing() {
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let show = show(Setup::small());
    let mut player = player(&show, &screen);
    let before = pixelferry::picture(player.scene().link()).unwrap();
    let wrong =
        [Setup { path: Some(PathId::DIRECT), ..Setup::small() }, Setup { size: (1 << 30, 1 << 30), ..Setup::small() }];
    for (n, setup) in wrong.iter().copied().enumerate() {
        player.act(Action::Change(setup));
        assert_eq!((player.setup(), errors(&show.log).len()), (&Setup::small(), n + 1), "{:?}", errors(&show.log));
        assert_eq!(pixelferry::picture(player.scene().link()).unwrap(), before);
    }
    assert!(errors(&show.log)[0].contains("Use one of"), "{:?}", errors(&show.log));
    player.frame(1.0);
    assert_ne!(pixelferry::picture(player.scene().link()).unwrap(), before);
    // Whatever the machine has, threads at the least: this can be, and so can the way back.
    for backend in [BackendChoice::Auto, BackendChoice::Cpu] {
        player.act(Action::Change(Setup { backend, ..Setup::small() }));
        assert_eq!((player.setup().backend, errors(&show.log).len()), (backend, wrong.len()));
        player.frame(2.0);
    }
    assert_eq!(player.scene().link().backend().device().api, pixelferry::Api::Cpu);
}

/// A player whose calls fail as `faults` says.
fn failing_player(show: &Show, screen: &HeadlessDisplay, faults: &Faults) -> Player {
    let backend: Arc<dyn ComputeBackend> = BackendDouble::over(open_backend(BackendChoice::Cpu, &[]).unwrap(), faults);
    let display: Arc<dyn Display> = DisplayDouble::over(screen.display(), faults);
    show.player(LinkBuilder::new(SurfaceDesc::buffer(0)).computed_by(&backend).shown_by(&display)).unwrap()
}

#[test]
fn a_path_that_fails_is_left_and_the_log_says_so() {
    for choice in [DisplayChoice::Gl, DisplayChoice::Memory] {
        let Some(screen) = need_display(choice, open_headless(choice)) else { continue };
        let (show, faults) = (show(Setup::small()), Faults::default());
        let subscriber = tracing_subscriber::registry().with(show.log.layer());
        tracing::subscriber::with_default(subscriber, || {
            let mut player = failing_player(&show, &screen, &faults);
            player.frame(0.0);
            // A step of a frame that only a path calls.
            let steps = [
                FaultStep::UploadStaged,
                FaultStep::Upload,
                FaultStep::ReadInPlace,
                FaultStep::MapRead,
                FaultStep::Release,
            ];
            let before = steps.map(|step| faults.calls(step));
            player.frame(0.1);
            let step = steps.into_iter().zip(before).find(|(step, before)| faults.calls(*step) > *before).unwrap().0;
            let first = player.scene().link().path();
            faults.arm(Fault { kind: FaultKind::Timeout, ..Fault::once(step) });
            player.frame(0.2);
            let link = player.scene().link();
            assert_ne!(link.path(), first, "{step:?}");
            assert_eq!((link.demoted().len(), faults.fired()), (1, 1));
            let said: Vec<String> = show.log.all().into_iter().map(|line| line.text).collect();
            let left = said.iter().find(|text| text.starts_with("a path failed and was replaced")).expect("a line");
            assert!(left.contains(first.name()) && left.contains("TIMEOUT"), "{left}");
            assert_eq!(errors(&show.log), Vec::<String>::new());
            player.act(Action::Recalibrate);
            assert_eq!(player.scene().link().demoted().len(), 0);
        });
    }
}

#[test]
fn where_every_path_fails_the_picture_stays_and_comes_back() {
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let (show, faults) = (show(Setup::small()), Faults::default());
    let mut player = failing_player(&show, &screen, &faults);
    player.frame(0.5);
    let before = pixelferry::picture(player.scene().link()).unwrap();
    faults.arm(Fault { kind: FaultKind::OutOfMemory, ..Fault::lasting(FaultStep::Launch) });
    for n in 0..3 {
        player.frame(1.0 + n as f32);
    }
    assert!(errors(&show.log)[0].contains("out of memory on purpose"), "{:?}", errors(&show.log));
    assert_eq!(pixelferry::picture(player.scene().link()).unwrap(), before);
    faults.disarm();
    player.frame(5.0);
    assert_ne!(pixelferry::picture(player.scene().link()).unwrap(), before);
}

#[test]
fn the_picture_has_the_scene_and_its_controls() {
    let Some(screen) = gl() else { return };
    let show = show(Setup::small());
    let mut player = player(&show, &screen);
    let picture: RgbaImage = picture_after(&show, &mut player, 4).unwrap();
    assert_eq!(picture.dimensions(), SIZE);
    assert_eq!(picture.get_pixel(3, 300).0, [22, 24, 31, 255], "no panel");
    let part = |x0: u32, x1: u32, y0: u32, y1: u32| -> Vec<[u8; 4]> {
        (y0..y1).flat_map(|y| (x0..x1).map(move |x| (x, y))).map(|(x, y)| picture.get_pixel(x, y).0).collect()
    };
    let mut colours = part(500, 850, 100, 220);
    colours.sort_unstable();
    colours.dedup();
    assert!(colours.len() > 500, "the scene has {} colours", colours.len());
    let text = part(0, 348, 0, 300).iter().filter(|pixel| pixel[1] > 150).count();
    assert!(text > 500, "{text} pixels of text");
    assert_eq!((player.times().total, errors(&show.log)), (4, Vec::new()));
    // The display's own calls find the context as it was.
    assert!(drawn(screen.gl().unwrap(), &mut player) == 160 * 90);
}

/// A pointer over the panels.
struct Hand<'a> {
    ui: Ui,
    player: &'a mut Player,
    frame: u64,
}

impl Hand<'_> {
    fn run(&mut self, events: Vec<Event>) -> (Vec<egui::epaint::ClippedShape>, Vec<Action>) {
        self.frame += 1;
        let input = egui::RawInput { events, ..self.ui.input_without_window((1600, 1000), self.frame) };
        let (output, actions, _) = self.ui.lay_out(input, self.player);
        (output.shapes, actions)
    }

    /// Tells where the last text is that begins so, if there is one.
    fn find(&mut self, text: &str) -> Option<Pos2> {
        let (shapes, _) = self.run(Vec::new());
        let mut rects = shapes.iter().filter_map(|clipped| match &clipped.shape {
            Shape::Text(shape) if shape.galley.text().starts_with(text) => {
                Some(Rect::from_min_size(shape.pos, shape.galley.size()))
            }
            _ => None,
        });
        rects.next_back().map(|rect| rect.center())
    }

    fn click(&mut self, text: &str) -> Vec<Action> {
        // Laid out twice: a list that opens is measured first.
        self.run(Vec::new());
        let pos = self.find(text).unwrap_or_else(|| panic!("'{text}' is not on the screen"));
        let button = |pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::default(),
        };
        let mut actions = self.run(vec![Event::PointerMoved(pos)]).1;
        actions.extend(self.run(vec![button(true)]).1);
        actions.extend(self.run(vec![button(false)]).1);
        actions
    }
}

#[test]
fn panels_go_where_they_are_not_wanted_or_have_no_room() {
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let show = show(Setup::small());
    let (mut player, mut ui) = (player(&show, &screen), Ui::default());
    let mut picture = |size, events: Vec<Event>| {
        let input = egui::RawInput { events, ..ui.input_without_window(size, 0) };
        ui.run(input, &mut player).painted.place().size()
    };
    let f1 = |pressed| Event::Key {
        key: egui::Key::F1,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::default(),
    };
    assert!(picture(SIZE, Vec::new()).x < 700.0);
    assert_eq!(picture((700, 500), Vec::new()), egui::vec2(700.0, 500.0));
    assert_eq!(picture(SIZE, vec![f1(true), f1(false)]), egui::vec2(1000.0, 600.0));
    assert!(picture(SIZE, vec![f1(true), f1(false)]).x < 700.0);
}

#[test]
fn lines_that_come_with_every_frame_are_counted() {
    let log = Log::default();
    for _ in 0..300 {
        log.add(tracing::Level::WARN, "one");
        log.add(tracing::Level::ERROR, "two");
    }
    assert_eq!(
        log.all().iter().map(|line| (line.text.as_str(), line.times)).collect::<Vec<_>>(),
        [("one", 300), ("two", 300)]
    );
}

#[test]
fn clicks_reach_the_controls() {
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let show = show(Setup::small());
    let mut player = player(&show, &screen);
    let mut hand = Hand { ui: Ui::default(), player: &mut player, frame: 0 };
    assert_eq!(hand.click("latency"), []);
    assert_eq!(
        hand.click("2 frames behind"),
        [Action::Change(Setup { mode: pixelferry::Mode::FramesBehind(2), ..Setup::small() })]
    );
    assert_eq!(hand.click("cpu"), []);
    let Some(Action::Change(Setup { backend, .. })) = hand.click("auto").pop() else { panic!("no change of backend") };
    assert_eq!(backend, BackendChoice::Auto);
    assert_eq!(hand.click("Recalibrate"), [Action::Recalibrate]);
}

#[test]
fn clicks_change_the_look_and_why_they_cannot_is_said() {
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let show = show(Setup::small());
    let mut player = player(&show, &screen);
    let mut hand = Hand { ui: Ui::default(), player: &mut player, frame: 0 };
    assert_eq!(hand.click("contain"), []);
    assert_eq!(hand.click("cover"), [Action::Draw(DrawArgs { fit: Fit::Cover, ..show.draw_args })]);
    let Some(Action::Draw(draw_args)) = hand.click("behind").pop() else { panic!("no background was asked for") };
    assert!(draw_args.background.is_some());
    // Numbers that mean nothing, where the last "none" is that of the tone map.
    assert!(hand.find("No exposure or tone map").is_some());
    assert_eq!((hand.click("none"), hand.find("aces-narkowicz")), (Vec::new(), None));
    hand.player.act(Action::Change(Setup { pixels: LIGHT, ..Setup::small() }));
    assert_eq!((hand.find("No exposure or tone map"), hand.click("none")), (None, Vec::new()));
    let tone_map = ToneMap::AcesNarkowicz;
    assert_eq!(hand.click("aces-narkowicz"), [Action::Draw(DrawArgs { tone_map, ..show.draw_args })]);
}
