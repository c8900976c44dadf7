//! Pairs compared with the program's own frames while it shows them, on the backends of this machine.

use pixelferry::report::{Basis, JointReport, JointState};
use pixelferry::{
    Api, DisplayChoice, Error, Link, LinkBuilder, Opened, PixelFormat, Policy, Profiles, Result, SurfaceDesc, Trials,
    WriteFrame, open_headless,
};
use pixelferry_tests::{Folder, Need, need};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 48;
const WORK: &str = "one grey for all pixels";
/// All the time that there is.
const OFTEN: Trials = Trials::Spread { share: 1.0, within: Duration::from_secs(3600) };

/// Threads take so long for a frame: a double, as this machine may have no backend that is quicker.
#[derive(Clone, Copy)]
struct Threads(Duration);

impl Threads {
    fn frame(self, next: &mut WriteFrame<'_>, grey: u8) -> Result<()> {
        if next.backend().device().api == Api::Cpu {
            std::thread::sleep(self.0);
        }
        next.write(&pixels(grey))
    }
}

fn pixels(grey: u8) -> Vec<u8> {
    vec![grey; (WIDTH * HEIGHT * 4) as usize]
}

/// Shows frames with steps between them until all is compared, and looks at each frame.
fn run(folder: Option<&PathBuf>, threads: Threads) -> (Opened, JointReport, Link) {
    let screen = open_headless(DisplayChoice::Gl).unwrap();
    let display = screen.display();
    let profiles = folder.map_or(Profiles::Off, |folder| Profiles::Folder(folder.clone()));
    let surface = SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8);
    let wanted = LinkBuilder::new(surface)
        .shown_by(&display)
        .policy(Policy::default().with_profiles(profiles).with_trials(OFTEN))
        .work(WORK);
    let (mut opened, mut trials) = wanted.open_for_trials().unwrap();
    let other = open_headless(DisplayChoice::Memory).unwrap().display();
    let mut link = std::mem::replace(
        &mut opened.link,
        Link::open(opened.backend.clone(), other, surface, pixelferry::LinkOptions::default()).unwrap(),
    );
    let mut frames = 0_u32;
    while !trials.is_over() {
        let grey = (frames % 251) as u8;
        link.frame(|next| threads.frame(next, grey)).unwrap();
        let better = trials.step(&mut link, WORK, &mut |next| threads.frame(next, grey));
        link = better.unwrap_or(link);
        assert_eq!(link.read_back().unwrap(), pixels(grey), "frame {frames}: {}", trials.report());
        frames += 1;
        assert!(frames < 100_000, "{}", trials.report());
        // A backend is opened on a thread of its own meanwhile.
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("{frames} frames: {}", trials.report());
    assert_eq!(trials.report().chosen().unwrap().compute, link.backend().device().to_string());
    assert!(Rc::ptr_eq(link.display(), &display));
    (opened, trials.report().clone(), link)
}

fn is_there() -> bool {
    need(Need::Egl, open_headless(DisplayChoice::Gl)).is_some()
}

#[test]
fn every_pair_is_compared_and_no_frame_is_lost() {
    if !is_there() {
        return;
    }
    let (opened, report, _) = run(None, Threads(Duration::ZERO));
    assert_eq!(opened.backend.device().api, Api::Cpu, "{report}");
    assert!(matches!(report.basis, Basis::Frames(_)), "{report}");
    let compared = |row: &&pixelferry::report::JointRow| matches!(row.state, JointState::Chosen | JointState::Slower);
    assert!(report.rows.iter().filter(compared).count() > 1, "{report}");
    for row in &report.rows {
        assert!(!matches!(row.state, JointState::NotTried { .. }), "{report}");
        assert!(!compared(&row) || row.median_us.is_some_and(|us| us > 0.0), "{report}");
    }
}

#[test]
fn the_program_goes_on_with_a_quicker_backend_which_is_remembered_and_checked() {
    if !is_there() {
        return;
    }
    let folder = Folder::new("pair-trials");
    let slow = Threads(Duration::from_millis(30));
    let (first, report, link) = run(Some(&folder.0), slow);
    assert_eq!(first.backend.device().api, Api::Cpu, "{report}");
    let better = link.backend().device().api;
    assert_ne!(better, Api::Cpu, "{report}");
    // The next start opens that one, and compares again only what takes another time than then.
    let (second, report, _) = run(Some(&folder.0), slow);
    assert_eq!(second.backend.device().api, better, "{report}");
    assert_eq!(second.report.basis, Basis::Remembered, "{report}");
}

#[test]
fn another_work_is_compared_for_itself() {
    if !is_there() {
        return;
    }
    let display = open_headless(DisplayChoice::Gl).unwrap().display();
    let surface = SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8);
    let policy = Policy::default().with_profiles(Profiles::Off).with_trials(OFTEN);
    let wanted = LinkBuilder::new(surface).shown_by(&display).policy(policy).work(WORK);
    let (Opened { mut link, .. }, mut trials) = wanted.open_for_trials().unwrap();
    let mut works = Vec::new();
    let mut frame = |next: &mut WriteFrame<'_>| next.write(&pixels(1));
    for n in 0..100_000 {
        let work = [WORK, "another"][n % 2];
        link.frame(&mut frame).unwrap();
        let was_over = trials.is_over();
        if let Some(better) = trials.step(&mut link, work, &mut frame) {
            link = better;
        }
        if trials.is_over() && !was_over {
            works.push((work, trials.report().clone()));
        }
        if works.len() == 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let names: Vec<_> = works.iter().map(|(work, _)| *work).collect();
    assert_eq!(names, [WORK, "another"], "{}", trials.report());
}

#[test]
fn a_frame_that_fails_on_others_ends_nothing() {
    if !is_there() {
        return;
    }
    let display = open_headless(DisplayChoice::Gl).unwrap().display();
    let surface = SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8);
    let policy = Policy::default().with_profiles(Profiles::Off).with_trials(OFTEN);
    let wanted = LinkBuilder::new(surface).shown_by(&display).policy(policy).work(WORK);
    let (Opened { mut link, .. }, mut trials) = wanted.open_for_trials().unwrap();
    let mut frame = |next: &mut WriteFrame<'_>| match next.backend().device().api {
        Api::Cpu => next.write(&pixels(5)),
        _ => Err(Error::invalid("the program", "it has no text for this backend")),
    };
    for _ in 0..100_000 {
        link.frame(&mut frame).unwrap();
        assert!(trials.step(&mut link, WORK, &mut frame).is_none(), "{}", trials.report());
        if trials.is_over() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let report = trials.report();
    assert!(trials.is_over() && link.read_back().unwrap() == pixels(5), "{report}");
    let said = |row: &pixelferry::report::JointRow| match &row.state {
        JointState::Failed { reason } | JointState::Mistaken { reason } => reason.contains("no text for this backend"),
        _ => false,
    };
    assert!(report.rows.iter().any(said), "{report}");
}

#[test]
fn nothing_is_compared_where_the_program_wants_no_trials() {
    let display = open_headless(DisplayChoice::Memory).unwrap().display();
    let surface = SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8);
    for trials in [Trials::Off, Trials::Asked] {
        let policy = Policy::default().with_profiles(Profiles::Off).with_trials(trials);
        let (Opened { mut link, .. }, mut trials) =
            LinkBuilder::new(surface).shown_by(&display).policy(policy).open_for_trials().unwrap();
        let mut frame = |next: &mut WriteFrame<'_>| next.write(&pixels(1));
        link.frame(&mut frame).unwrap();
        assert!(trials.is_over() && trials.step(&mut link, "another", &mut frame).is_none() && trials.is_over());
    }
}

#[test]
fn declared_kernels_are_refused() {
    let surface = SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8);
    let wanted = LinkBuilder::new(surface).launch(&pixelferry_tests::ramp(), [pixelferry::Scratch::U32(3)]);
    let error = wanted.open_for_trials().map(drop).unwrap_err();
    assert!(error.to_string().contains("call LinkBuilder::open"), "{error}");
}
