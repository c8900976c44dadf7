//! Backend, display and path opened together, on what this machine has.

use pixelferry::{
    Api, Arg, BackendChoice, CpuKernelExt as _, DisplayChoice, Error, ImageAccess, ImageDesc, InitialContent,
    KernelSource, LinkBuilder, OpenedLink, PixelFormat, Policy, Profiles, Scratch, SurfaceDesc, Trials, open_headless,
    report::{Basis, PairState},
};
use pixelferry_tests::{Folder, Need, need, ramp, ramp_pixel};
use std::time::Duration;

const WIDTH: u32 = 96;
const HEIGHT: u32 = 54;

fn frames() -> LinkBuilder {
    let desc = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let policy = Policy::default().with_profiles(Profiles::Off).with_budget(Duration::from_millis(20));
    LinkBuilder::new(SurfaceDesc::Image(desc)).policy(policy)
}

/// A frame of the ramp on what was opened is right, and nothing was shown before.
fn check(opened: &mut OpenedLink) {
    let OpenedLink { backend, kernels, link, report, .. } = opened;
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
fn the_first_pair_that_works_is_opened_and_others_are_named() {
    let mut opened = frames().launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    println!("{}", opened.report);
    check(&mut opened);
    let OpenedLink { kernels, link, .. } = &mut opened;
    link.frame(|frame| frame.launch(kernels[0].as_ref(), &[Arg::U32(7)])).unwrap();
    assert_eq!(link.read_back().unwrap()[..4], ramp_pixel(0, 0, 7));
    let report = &opened.report;
    assert_eq!(report.basis, Basis::CostModel, "{report}");
    let chosen = report.chosen().unwrap();
    assert_eq!(chosen.compute, opened.backend.device().to_string());
    assert_eq!(chosen.display, opened.display.device().to_string());
    assert_eq!(chosen.path.as_deref(), Some(opened.link.path().name()));
    assert!(!chosen.because.is_empty() && report.to_string().contains("by the cost model"), "{report}");
    assert_eq!(report.rows.iter().filter(|row| row.state == PairState::Chosen).count(), 1, "{report}");
    assert!(report.rows.iter().all(|row| row.median_us.is_none()), "{report}");
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

    let mut opened = frames().display(DisplayChoice::Memory).launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    check(&mut opened);
    assert_eq!(opened.display.device().api, Api::Cpu, "{}", opened.report);

    // A display that is there already.
    let screen = open_headless(DisplayChoice::Memory).unwrap();
    let own = screen.display();
    let mut opened = frames().shown_by(&own).launch(&ramp(), [Scratch::U32(3)]).open().unwrap();
    check(&mut opened);
    assert!(std::sync::Arc::ptr_eq(&opened.display, &own) && opened.screen.gl().is_none(), "{}", opened.report);
}

/// The host writes threads' memory without a copy, so they serve its frames as long as nothing else was measured.
#[test]
fn frames_of_the_host_begin_with_threads() {
    let mut opened = frames().open().unwrap();
    check(&mut opened);
    assert_eq!(opened.backend.device().api, Api::Cpu, "{}", opened.report);
    assert!(opened.report.rows[0].compute.starts_with("CPU"), "{}", opened.report);
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
        opened.report.rows.iter().filter(|row| matches!(row.state, PairState::Mistaken { .. })).collect();
    assert!(!failed.is_empty() || !opened.report.to_string().contains("OpenGL"), "{}", opened.report);
    assert!(failed.iter().all(|row| !row.compute.starts_with("CPU")), "{}", opened.report);
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

/// What was measured for these arguments is opened again, and a damaged file or other arguments are another question.
#[test]
fn what_frames_found_is_opened_by_the_next_start() {
    let folder = Folder::new("together");
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() {
        return;
    }
    let profiles = Profiles::Folder(folder.0.clone());
    let policy = Policy::default()
        .with_profiles(profiles)
        .with_trials(Trials::Spread { share: 1.0, within: Duration::from_secs(3600) });
    let wanted = |initial| frames().policy(policy.clone()).launch(&table(), [Scratch::Memory(initial)]);
    let mut link = wanted(InitialContent::Zeros(64)).open_auto(|_, kernels| Ok(kernels)).unwrap();
    let memory = |link: &pixelferry::AutoLink<_>| link.link().backend().allocate(64).unwrap();
    let mut frames = 0;
    while !link.is_decided() {
        let lent = memory(&link);
        // Memory of one backend is no argument of another, which is said, and the frame is made all the same.
        link.frame(|next, kernels| next.launch(kernels[0].as_ref(), &[Arg::Memory(lent.as_ref())])).unwrap();
        frames += 1;
        assert!(frames < 100_000, "{}", link.report());
        std::thread::sleep(Duration::from_millis(1));
    }
    let chosen = link.report().chosen().unwrap().clone();
    drop(link);
    let start = |initial| wanted(initial).open().unwrap().report;
    let again = start(InitialContent::Zeros(64));
    assert_eq!((&again.basis, &again.chosen().unwrap().compute), (&Basis::Remembered, &chosen.compute), "{again}");
    assert_eq!(start(InitialContent::Bytes(vec![1; 64])).basis, Basis::CostModel);
    for file in std::fs::read_dir(&folder.0).unwrap() {
        std::fs::write(file.unwrap().path(), "{").unwrap();
    }
    assert_eq!(start(InitialContent::Zeros(64)).basis, Basis::CostModel);
}

/// A kernel that takes memory and does not read it.
fn table() -> KernelSource {
    KernelSource::new("table").cpu_image(|out, _| out.par_pixels(|_, _| [1_u8, 2, 3, 255]))
}
