//! Backend, display and path chosen together, by the program's kernels on scratch memory, on what this machine has.

use pixelferry::{
    Api, Arg, BackendChoice, CpuKernelExt as _, DisplayChoice, Error, ImageAccess, ImageDesc, Initial, KernelSource,
    LinkBuilder, Opened, PixelFormat, Policy, Profiles, Scratch, SurfaceDesc, open_headless,
    report::{Basis, JointState},
};
use pixelferry_tests::{Folder, Need, need, ramp, ramp_pixel};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const WIDTH: u32 = 96;
const HEIGHT: u32 = 54;

fn frames() -> LinkBuilder {
    let desc = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let policy = Policy::default().with_profiles(Profiles::Off).with_budget(Duration::from_millis(20));
    LinkBuilder::new(SurfaceDesc::Image(desc)).policy(policy).budget(Duration::from_secs(600))
}

/// A frame of the ramp on what was opened is right, and nothing was shown before.
fn check(opened: &mut Opened) {
    let Opened { backend, kernels, link, report, .. } = opened;
    assert!(matches!(link.shown(), Err(Error::NothingShown)), "{report}");
    let kernel = backend.build(&ramp()).unwrap();
    assert!(kernels.iter().all(|kernel| report.what.contains(&format!("'{}'", kernel.name()))), "{report}");
    // Pixels that a frame does not write are zero: nothing of the measurement is left.
    link.frame(|_| Ok(())).unwrap();
    assert!(link.read_back().unwrap().iter().all(|byte| *byte == 0), "{report}");
    link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(9)])).unwrap();
    let shown = link.read_back().unwrap();
    for (x, y) in [(0, 0), (WIDTH - 1, HEIGHT - 1), (WIDTH / 2, HEIGHT / 3)] {
        let at = ((y * WIDTH + x) * 4) as usize;
        assert_eq!(shown[at..at + 4], ramp_pixel(x, y, 9), "{report}");
    }
}

#[test]
fn every_pair_that_has_a_text_is_measured_and_one_is_taken() {
    let mut opened = frames().launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    println!("{}", opened.report);
    check(&mut opened);
    let Opened { kernels, link, .. } = &mut opened;
    link.frame(|frame| frame.launch(kernels[0].as_ref(), &[Arg::U32(7)])).unwrap();
    assert_eq!(link.read_back().unwrap()[..4], ramp_pixel(0, 0, 7));
    let report = &opened.report;
    assert!(matches!(report.basis, Basis::Measured(_)), "{report}");
    let chosen = report.chosen().unwrap();
    assert_eq!(chosen.compute, opened.backend.device().to_string());
    assert_eq!(chosen.display, opened.display.device().to_string());
    assert_eq!(chosen.path.as_deref(), Some(opened.link.path().name()));
    assert_eq!(report.rows.iter().filter(|row| row.state == JointState::Chosen).count(), 1, "{report}");
    assert!(report.rows.iter().all(|row| !matches!(row.state, JointState::NotTried { .. })), "{report}");
    let timed =
        |row: &&pixelferry::report::JointRow| row.median_us.is_some_and(|us| us > 0.0) && !row.because.is_empty();
    let works = report.rows.iter().filter(|row| matches!(row.state, JointState::Chosen | JointState::Slower));
    assert!(works.clone().all(|row| timed(&row)) && works.count() >= 1, "{report}");
    assert!(report.to_string().contains("measured on scratch memory") && report.to_string().contains(" us"));
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_some() {
        let threads =
            report.rows.iter().find(|row| row.compute.starts_with("CPU") && row.display.starts_with("OpenGL"));
        assert!(threads.is_some_and(|row| timed(&row)), "{report}");
        let in_queue =
            report.rows.iter().find(|row| row.path.as_deref().is_some_and(|path| path.starts_with("in-queue")));
        assert!(in_queue.is_none_or(|row| row.because.contains("in the display's queue")), "{report}");
    }
}

#[test]
fn who_stays_on_a_backend_or_a_display_is_not_moved() {
    let pinned = frames().backend(BackendChoice::Cpu).launch(&ramp(), [Scratch::U32(3)]);
    let mut opened = pinned.clone().open().unwrap();
    check(&mut opened);
    assert!(opened.report.rows.iter().all(|row| row.compute.starts_with("CPU")), "{}", opened.report);
    let mut opened = pinned.display(DisplayChoice::Memory).open().unwrap();
    check(&mut opened);
    assert_eq!((opened.report.rows.len(), opened.display.device().api), (1, Api::Cpu), "{}", opened.report);
    assert!(matches!(&opened.report.basis, Basis::CostModel(why) if why.contains("are given")), "{}", opened.report);

    let mut opened = frames().display(DisplayChoice::Memory).launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    check(&mut opened);
    assert_eq!(opened.display.device().api, Api::Cpu, "{}", opened.report);

    // A display that is there already.
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let own = screen.display();
    let mut opened = frames().shown_by(&own).launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    check(&mut opened);
    assert!(std::rc::Rc::ptr_eq(&opened.display, &own) && opened.screen.gl().is_none(), "{}", opened.report);
}

#[test]
fn frames_of_the_host_are_measured_where_no_kernel_is_declared() {
    // The largest budget there is.
    let mut opened = frames().budget(Duration::MAX).open().unwrap();
    check(&mut opened);
    let report = &opened.report;
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_some() {
        assert!(matches!(report.basis, Basis::Measured(_)) && report.what.ends_with("by the host"), "{report}");
        assert!(report.chosen().unwrap().median_us.is_some_and(|us| us > 0.0), "{report}");
    }
}

/// The host writes threads' memory without a copy, so they serve its frames as long as nothing else was measured.
#[test]
fn frames_of_the_host_begin_with_threads() {
    for budget in [Duration::ZERO, Duration::from_nanos(1)] {
        let mut opened = frames().budget(budget).open().unwrap();
        check(&mut opened);
        assert_eq!(opened.backend.device().api, Api::Cpu, "{}", opened.report);
        assert!(opened.report.rows[0].compute.starts_with("CPU"), "{}", opened.report);
    }
}

#[test]
fn no_time_to_measure_takes_what_the_cost_model_says() {
    let mut opened = frames().budget(Duration::ZERO).launch(&ramp(), [Scratch::U32(1)]).open().unwrap();
    check(&mut opened);
    let text = opened.report.to_string();
    assert!(text.contains("by the cost model: there is no time to measure"), "{text}");
    assert!(opened.report.rows.iter().all(|row| row.median_us.is_none()), "{text}");
}

#[test]
fn what_does_not_do_the_frames_is_not_taken_and_says_why() {
    // Only threads have a text that is one.
    // SAFETY: no compiler takes it, so that it never runs.
    let broken = unsafe { KernelSource::new("broken").opencl_c("kernel void broken(") }
        .wgsl("fn broken( {")
        .cpu_image(|out, _| out.par_pixels(|_, _| [1_u8, 2, 3, 255]));
    let opened = frames().launch(&broken, []).open().unwrap();
    assert_eq!(opened.backend.device().api, Api::Cpu, "{}", opened.report);
    let failed: Vec<_> =
        opened.report.rows.iter().filter(|row| matches!(row.state, JointState::Mistaken { .. })).collect();
    assert!(!failed.is_empty() || !opened.report.to_string().contains("OpenGL"), "{}", opened.report);
    assert!(failed.iter().all(|row| !row.compute.starts_with("CPU")), "{}", opened.report);
    // No pair takes an argument that the kernel does not have.
    let Err(error) = frames().display(DisplayChoice::Memory).launch(&ramp(), [Scratch::F32(1.0)]).open() else {
        panic!("the ramp takes a whole number");
    };
    assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains("f32"), "{error}");
}

#[test]
fn a_mistake_in_the_one_text_is_the_error_whatever_else_is_not_there() {
    let kernel = KernelSource::new("grey").wgsl("@compute @workgroup_size(1) fn grey() { let a = 1 }");
    match frames().launch(&kernel, []).open().map(|opened| opened.report) {
        Err(error @ Error::KernelBuild { .. }) => assert!(error.to_string().contains("grey"), "{error}"),
        Err(Error::Unsupported { .. }) => println!("nothing here takes WGSL"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_there_is_no_time_for_is_said_and_the_first_is_opened_in_any_case() {
    let mut opened = frames().budget(Duration::from_nanos(1)).launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    check(&mut opened);
    assert_eq!(opened.report.rows.iter().filter(|row| row.median_us.is_some()).count(), 1, "{}", opened.report);
}

/// A program that says nothing of time: the first start measures, the second remembers.
#[test]
fn the_first_start_is_measured_and_the_second_remembered() {
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() {
        return;
    }
    let folder = Folder::new("together-plain");
    let start = || {
        let policy = Policy::default().with_profiles(Profiles::Folder(folder.0.clone()));
        let desc = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let wanted = LinkBuilder::new(SurfaceDesc::Image(desc)).policy(policy);
        wanted.launch(&ramp(), [Scratch::U32(3)]).open().unwrap()
    };
    let mut first = start();
    check(&mut first);
    let Basis::Measured(spent) = first.report.basis else { panic!("{}", first.report) };
    println!("measured for {spent:?}: {}", first.report);
    let mut second = start();
    check(&mut second);
    assert_eq!(second.report.basis, Basis::Remembered, "{}", second.report);
    // A path for whose comparison the first start had no time is measured in the second.
    let sides = |opened: &Opened| (opened.link.report().compute.clone(), opened.link.report().display.clone());
    assert_eq!(sides(&second), sides(&first), "{}", second.report);
}

#[test]
fn the_next_start_measures_nothing() {
    let folder = Folder::new("together");
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() {
        return;
    }
    let runs = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&runs);
    let counted = KernelSource::new("counted").cpu_image(move |out, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        out.par_pixels(|_, _| [1_u8, 2, 3, 255])
    });
    let policy = Policy::default().with_profiles(Profiles::Folder(folder.0.clone()));
    let wanted =
        frames().policy(policy).backend(BackendChoice::Cpu).launch(&counted, [Scratch::Memory(Initial::Zeros(64))]);
    let first = wanted.clone().open().unwrap();
    let measured = runs.swap(0, Ordering::Relaxed);
    if first.report.rows.len() < 2 {
        // Built without wgpu: backend and display are given.
        return;
    }
    assert!(measured > 0, "{}", first.report);
    let again = wanted.clone().open().unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 0, "{}", again.report);
    assert_eq!(again.report.basis, Basis::Remembered);
    let rows = |opened: &Opened| {
        opened.report.rows.iter().map(|row| (row.display.clone(), row.state.clone())).collect::<Vec<_>>()
    };
    assert_eq!(rows(&again), rows(&first), "{}", again.report);
    assert_eq!(again.display.device(), first.display.device());
    // Other arguments are another question, and so is a damaged file.
    drop(wanted.clone().launch(&counted, [Scratch::Memory(Initial::Bytes(vec![1; 64]))]).open().unwrap());
    assert!(runs.swap(0, Ordering::Relaxed) > 0);
    for file in std::fs::read_dir(&folder.0).unwrap() {
        std::fs::write(file.unwrap().path(), "{").unwrap();
    }
    drop(wanted.open().unwrap());
    assert!(runs.load(Ordering::Relaxed) > 0);
}
