//! Windows that are opened and closed again, 12 to 48 or 2000 times or `PIXELFERRY_ROUNDS`: the memory of the process, its descriptors
//! and threads, and what it keeps in the X server stay what they were.

use super::rounds::{Api, App, Sample};
use super::visit::SIZES;
use pixelferry::Manner;
use pixelferry::api::gl::winit::event_loop::EventLoop;
use pixelferry::api::gl::winit::platform::x11::EventLoopBuilderExtX11 as _;
use pixelferry_tests::{Level, Need, Usage, Viewer, Xvfb, by_level, from, need, number, pass_in_child};

/// Pages that the allocator keeps here and there.
const RSS_SLACK: u64 = 2 << 20;

/// The same with lavapipe: its pools grow by 2 MB, which may come late (1 run of 13, in the 15th round, flat after it).
const RSS_SLACK_OF_LAVAPIPE: u64 = 4 << 20;

/// Above that, what a window may leave for good: 65 bytes were measured over 2400 rounds.
const RSS_PER_WINDOW: u64 = 256;

/// Memory that a window may leave if wgpu ends EGL's display with it: llvmpipe keeps three pages of compiled code of
/// each (`docs/drivers.md`).
const RSS_PER_EGL_DISPLAY: u64 = 16 << 10;

/// Resources that Mesa's Vulkan leaves in the X server with each swapchain if it draws on the CPU (see
/// `docs/drivers.md`), and the most of each.
const LEFT_BY_LAVAPIPE: [(&str, u64); 2] = [("GC", 1), ("XFixesRegion", 4)];

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child() {
    let kind = std::env::var("PIXELFERRY_WINDOWS_OF").unwrap();
    // With two threads the caches of drivers take longer to fill: Mesa 25 grows in the first 24 rounds, and not after them. Of
    // lavapipe more windows must pass the larger slack.
    let usual = if kind.ends_with(" 2") || kind.starts_with("wgpu ") { 48 } else { 24 };
    let rounds = number("PIXELFERRY_ROUNDS", by_level(usual / 2, usual, 2000));
    let viewer = Viewer::of(&std::env::var("DISPLAY").unwrap()).unwrap();
    let event_loop = EventLoop::with_user_event().with_any_thread(true).build().unwrap();
    let mut app = App::new(kind, rounds, viewer, event_loop.create_proxy());
    event_loop.run_app(&mut app).unwrap();
    let Some(api) = &app.api else { return };
    // The first half fills the caches of drivers.
    judge(&app.samples[app.samples.len() / 2..], api);
    println!("CHURNED: {rounds} rounds");
}

/// The least memory of some samples in a row: pools that are there or not make single ones larger.
fn least(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.usage.rss).min().unwrap()
}

fn judge(samples: &[Sample], (api, at_a_time): &(Api, usize)) {
    let (first, last) = (&samples[0], samples.last().unwrap());
    let some = samples.len().div_ceil(4);
    let (before, after) = (least(&samples[..some]), least(&samples[samples.len() - some..]));
    let windows = u64::from(last.round - first.round) * *at_a_time as u64;
    assert!(windows > 0, "too few rounds");
    let left = if let Api::WgpuOnGl = api { RSS_PER_EGL_DISPLAY } else { RSS_PER_WINDOW };
    let swapchains = if let Api::Wgpu(_) = api { windows * SIZES.len() as u64 } else { 0 };
    let grew = after.saturating_sub(before);
    println!("{windows} windows: {} bytes more with each", grew / windows);
    let slack = if let Api::Wgpu(_) = api { RSS_SLACK_OF_LAVAPIPE } else { RSS_SLACK };
    assert!(grew <= slack + left * windows, "memory grew from {before} to {after}");
    assert_eq!(last.usage.descriptors, first.usage.descriptors, "file descriptors");
    assert_eq!(last.usage.threads, first.usage.threads, "threads");
    let mut kept = last.kept.clone();
    for (what, left) in LEFT_BY_LAVAPIPE {
        let (before, limit) = (first.kept.get(what).copied().unwrap_or(0), left * swapchains);
        kept.entry(what.into()).and_modify(|n| *n = (*n).saturating_sub(limit).max(before));
    }
    assert_eq!(kept, first.kept, "in the X server");
}

/// Opens and closes windows of a kind, so many at a time, from a level on, with every draw in `manner`.
fn churn(level: Level, kind: &str, manner: Option<Manner>) {
    if !from(level) {
        return;
    }
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    // With a heap for each thread that comes and goes the allocator keeps 10 MB more or less by chance.
    // Paths that are compared meanwhile have memory or none, as it happens.
    let mut env = vec![
        ("DISPLAY", server.display()),
        ("PIXELFERRY_WINDOWS_OF", kind),
        ("MALLOC_ARENA_MAX", "1"),
        ("PIXELFERRY_TRIALS", "off"),
    ];
    env.extend(manner.map(|manner| (Manner::VARIABLE, manner.name())));
    let before = Usage::of(server.process()).unwrap();
    pass_in_child("windows::churn::child", None, &env, &["CHURNED"]);
    println!("the X server: {before:?} -> {:?}", Usage::of(server.process()).unwrap());
}

macro_rules! churns {
    ($($name:ident: $level:ident, $kind:literal, $manner:expr;)*) => {
        $(#[test] fn $name() { churn(Level::$level, $kind, $manner); })*
    };
}

// While lavapipe is timed by either manner its pools have 2 MB more or less by chance.
churns! {
    windows_of_our_own: Short, "own 1", None;
    windows_of_our_own_drawn_by_compute: All, "own 1", Some(Manner::Compute);
    windows_by_wgpu: Short, "wgpu 1", Some(Manner::Triangle);
    windows_by_wgpu_drawn_by_compute: All, "wgpu 1", Some(Manner::Compute);
    windows_by_wgpu_on_opengl: Short, "wgpu-on-gl 1", None;
    two_threads_by_glx: All, "engine-glx 2", None;
    two_threads_by_egl_drawn_by_compute: All, "engine-egl 2", Some(Manner::Compute);
    two_threads_by_egl: All, "engine-egl 2", None;
    two_threads_by_wgpu: All, "wgpu 2", Some(Manner::Triangle);
}
