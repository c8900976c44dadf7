//! Pairs compared by frames that the program shows, on the backends of this machine.

mod modes;

use pixelferry::report::{Basis, PairReport, PairRow, PairState};
use pixelferry::{
    Api, Arg, AutoLink, BackendChoice, ComputeMemory, DisplayChoice, Error, ImageDesc, LinkBuilder, PathId,
    PixelFormat, Policy, Profiles, Result, Scratch, ShownFrame, SurfaceDesc, Trials, Unwritten, WriteFrame,
    open_backend, open_headless,
};
use pixelferry_tests::{Folder, Need, need, ramp, ramp_pixel};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 48;
const WORK: &str = "one grey for all pixels";
/// Frames after which a comparison must be over.
const MOST_FRAMES: u32 = 100_000;
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

fn surface(unwritten: Unwritten) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8).with_unwritten(unwritten))
}

/// Frames of the host or of kernels, on an offscreen display of OpenGL.
fn builder(profiles: Profiles, unwritten: Unwritten) -> Option<LinkBuilder> {
    let screen = need(Need::Egl, open_headless(DisplayChoice::Gl))?;
    let policy = Policy::default().with_profiles(profiles).with_trials(OFTEN);
    Some(LinkBuilder::new(surface(unwritten)).shown_by(&screen.display()).policy(policy).work(WORK))
}

/// Shows frames until all is compared. `frame` makes one, and looks at it.
fn run<S>(link: &mut AutoLink<S>, mut frame: impl FnMut(&mut AutoLink<S>, u32)) -> PairReport {
    let mut frames = 0;
    // Some more, as the last comparison ends with a change.
    let mut more = 10;
    while !link.is_decided() || more > 0 {
        more -= u32::from(link.is_decided());
        frame(link, frames);
        frames += 1;
        assert!(frames < MOST_FRAMES, "{}", link.report());
        // A backend is opened on a thread of its own meanwhile.
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("{frames} frames: {}", link.report());
    assert_eq!(link.report().chosen().unwrap().compute, link.link().backend().device().to_string());
    link.report().clone()
}

fn is_compared(row: &&PairRow) -> bool {
    matches!(row.state, PairState::Chosen | PairState::Slower)
}

/// Every pair was compared, or says why it does not work.
fn check(report: &PairReport) {
    assert!(matches!(report.basis, Basis::Frames(_)), "{report}");
    assert!(report.rows.iter().filter(is_compared).count() > 1, "{report}");
    for row in &report.rows {
        assert!(!matches!(row.state, PairState::NotTried { .. }), "{report}");
        assert!(!is_compared(&row) || row.median_us.is_some_and(|us| us > 0.0), "{report}");
    }
}

/// Opens a link of frames of the host and runs it; the first backend, and what was found.
fn run_host(folder: Option<&PathBuf>, threads: Threads) -> Option<(Api, Basis, PairReport)> {
    let profiles = folder.map_or(Profiles::Off, |folder| Profiles::Folder(folder.clone()));
    let mut link = builder(profiles, Unwritten::Overwrite)?.open_auto(|_, _| Ok(())).unwrap();
    let first = (link.link().backend().device().api, link.report().basis.clone());
    let display = link.display().clone();
    let report = run(&mut link, |link, n| {
        let (grey, mut calls) = ((n % 251) as u8, 0);
        link.frame(|next, ()| {
            calls += 1;
            threads.frame(next, grey)
        })
        .unwrap();
        // No frame is computed twice, and none is left out.
        assert_eq!(calls, 1, "{}", link.report());
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(grey), "frame {n}: {}", link.report());
    });
    assert!(Arc::ptr_eq(link.display(), &display));
    Some((first.0, first.1, report))
}

#[test]
fn every_backend_makes_some_of_the_frames_and_none_is_lost_or_repeated() {
    let Some((first, _, report)) = run_host(None, Threads(Duration::ZERO)) else { return };
    assert_eq!(first, Api::Cpu, "{report}");
    check(&report);
}

#[test]
fn the_program_goes_on_with_a_quicker_backend_which_is_remembered_and_checked() {
    let folder = Folder::new("auto-link");
    let slow = Threads(Duration::from_millis(30));
    let Some((first, _, report)) = run_host(Some(&folder.0), slow) else { return };
    assert_eq!(first, Api::Cpu, "{report}");
    let better = report.chosen().unwrap().compute.clone();
    assert!(!better.starts_with("CPU"), "{report}");
    // The next start opens that one, and compares again only what takes another time than then.
    let (second, basis, report) = run_host(Some(&folder.0), slow).unwrap();
    assert_ne!(second, Api::Cpu, "{report}");
    assert_eq!(basis, Basis::Remembered, "{report}");
}

/// The file that a short start left stands for many starts, each of which has time for a part.
#[test]
fn a_start_goes_on_with_what_the_one_before_had_no_time_for() {
    let folder = Folder::new("auto-link-short");
    let profiles = Profiles::Folder(folder.0.clone());
    let Some(builder) = builder(profiles.clone(), Unwritten::Overwrite) else { return };
    let none = Trials::Spread { share: 1.0, within: Duration::ZERO };
    let short = Policy::default().with_profiles(profiles).with_trials(none);
    let mut link = builder.policy(short).open_auto(|_, _| Ok(())).unwrap();
    let report = run(&mut link, |link, n| link.frame(|next, ()| next.write(&pixels(n as u8))).unwrap());
    assert_eq!(report.rows.iter().filter(is_compared).count(), 1, "{report}");
    assert!(report.to_string().contains("the next start continues"), "{report}");
    let slow = Threads(Duration::from_millis(30));
    let (_, basis, report) = run_host(Some(&folder.0), slow).unwrap();
    assert_eq!(basis, Basis::Remembered, "{report}");
    check(&report);
    // The choice stays checked, and the others are unknown again.
    for file in std::fs::read_dir(&folder.0).unwrap() {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let untried = r#""state": "not-tried", "reason": "its time was over""#;
        std::fs::write(file, text.replace(r#""state": "slower""#, untried)).unwrap();
    }
    let (_, basis, report) = run_host(Some(&folder.0), slow).unwrap();
    assert_eq!(basis, Basis::Remembered, "{report}");
    check(&report);
}

/// A program that ends in the middle of a comparison has not shown its frames for nothing.
#[test]
fn what_was_found_when_the_program_ends_is_remembered() {
    let folder = Folder::new("auto-link-ended");
    let open = || builder(Profiles::Folder(folder.0.clone()), Unwritten::Overwrite)?.open_auto(|_, _| Ok(())).ok();
    let Some(mut link) = open() else { return };
    let slow = Threads(Duration::from_millis(30));
    while link.report().chosen().unwrap().compute.starts_with("CPU") {
        link.frame(|next, ()| slow.frame(next, 1)).unwrap();
    }
    let found = link.report().chosen().unwrap().compute.clone();
    assert!(!link.is_decided(), "{}", link.report());
    drop(link);
    let next = open().unwrap();
    assert_eq!(next.report().basis, Basis::Remembered, "{}", next.report());
    assert_eq!(next.link().backend().device().to_string(), found, "{}", next.report());
}

/// A double: the program's draw takes long of frames that came by one path.
#[test]
fn the_path_is_the_quickest_one_with_the_programs_own_draw_and_is_remembered() {
    let folder = Folder::new("auto-link-path");
    let open = || {
        let builder = builder(Profiles::Folder(folder.0.clone()), Unwritten::Overwrite)?;
        Some(builder.backend(BackendChoice::Cpu).open_auto(|_, _| Ok(())).unwrap())
    };
    let Some(mut link) = open() else { return };
    let slow = link.link().path();
    let report = run(&mut link, |link, n| {
        let draw = |shown: &ShownFrame<'_>| {
            if shown.path() == slow {
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        };
        link.frame_and_draw(|next, ()| next.write(&pixels(n as u8)), draw).unwrap();
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(n as u8), "frame {n}: {}", link.report());
    });
    let quicker = link.link().path();
    assert_ne!(quicker, slow, "{report}");
    assert_eq!(report.chosen().and_then(|row| row.path.as_deref()), Some(quicker.name()), "{report}");
    assert!(report.paths.iter().any(|row| row.path.as_deref() == Some(slow.name())), "{report}");
    let next = open().unwrap();
    assert_eq!(next.link().path(), quicker, "{}", next.report());
}

#[test]
fn a_path_that_the_program_asks_for_is_not_compared() {
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let policy = Policy::default().with_profiles(Profiles::Off).with_trials(OFTEN).with_force(PathId::HOST_ROUND_TRIP);
    let builder = LinkBuilder::new(surface(Unwritten::Overwrite)).backend(BackendChoice::Cpu);
    let link = builder.shown_by(&screen.display()).policy(policy).open_auto(|_, _| Ok(())).unwrap();
    assert!(link.is_decided(), "{}", link.report());
}

#[test]
fn kernels_of_every_backend_are_compared() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.launch(&ramp(), [Scratch::U32(0)]).open_auto(|_, kernels| Ok(kernels)).unwrap();
    let report = run(&mut link, |link, n| {
        link.frame(|next, kernels| next.launch(kernels[0].as_ref(), &[Arg::U32(n)])).unwrap();
        let shown = link.link_mut().read_back().unwrap();
        for (x, y) in [(0, 0), (WIDTH - 1, HEIGHT - 1)] {
            let at = ((y * WIDTH + x) * 4) as usize;
            assert_eq!(shown[at..at + 4], ramp_pixel(x, y, n), "{}", link.report());
        }
    });
    check(&report);
    assert_eq!(report.what, "image 64x48 RGBA8 by 'ramp'");
}

/// Threads have no compiler, so a link that is compared begins with them where the CPU draws.
#[test]
fn where_the_cpu_draws_a_compared_link_begins_with_threads() {
    let display = open_headless(DisplayChoice::Memory).unwrap().display();
    let builder = |trials| {
        let policy = Policy::default().with_profiles(Profiles::Off).with_trials(trials);
        let builder = LinkBuilder::new(surface(Unwritten::Overwrite)).shown_by(&display).policy(policy);
        builder.launch(&ramp(), [Scratch::U32(0)])
    };
    let compared = builder(OFTEN).open_auto(|_, _| Ok(())).unwrap();
    assert_eq!(compared.link().backend().device().api, Api::Cpu, "{}", compared.report());
    if need(Need::OpenCl, open_backend(BackendChoice::OpenCl, &[])).is_some() {
        let stays = builder(Trials::Off).open_auto(|_, _| Ok(())).unwrap();
        assert_ne!(stays.link().backend().device().api, Api::Cpu, "{}", stays.report());
        let opened = builder(OFTEN).open().unwrap();
        assert_ne!(opened.backend.device().api, Api::Cpu, "{}", opened.report);
    }
}

/// A count in a device's memory, to which each frame adds one.
fn add_one(count: &mut dyn ComputeMemory) -> Result<u32> {
    let mut bytes = [0; 4];
    count.read(0, &mut bytes)?;
    let next = u32::from_le_bytes(bytes) + 1;
    count.write(0, &next.to_le_bytes())?;
    Ok(next)
}

#[test]
fn what_frames_leave_in_memory_goes_along() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let prepare = |backend: &std::sync::Arc<dyn pixelferry::ComputeBackend>, kernels| {
        let mut count = backend.allocate(4)?;
        count.write(0, &[0; 4])?;
        Ok((kernels, count))
    };
    type ComputeSide = (Vec<std::sync::Arc<dyn pixelferry::Kernel>>, Box<dyn ComputeMemory>);
    let link = builder.launch(&ramp(), [Scratch::U32(0)]).open_auto::<ComputeSide>(prepare).unwrap();
    let mut link = link.with_carry(|(_, from), (_, to)| {
        let mut bytes = [0; 4];
        from.read(0, &mut bytes)?;
        to.write(0, &bytes)
    });
    let report = run(&mut link, |link, n| {
        link.frame(|next, (kernels, count)| {
            let count = add_one(count.as_mut())?;
            next.launch(kernels[0].as_ref(), &[Arg::U32(count)])
        })
        .unwrap();
        // As with no trials at all.
        assert_eq!(link.link_mut().read_back().unwrap()[..4], ramp_pixel(0, 0, n + 1), "{}", link.report());
    });
    check(&report);
}

#[test]
fn pixels_that_a_frame_keeps_go_along() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Keep) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let mut grey = 0;
    let report = run(&mut link, |link, n| {
        if n % 5 == 0 {
            grey = (n % 251) as u8;
            link.frame(|next, ()| next.write(&pixels(grey))).unwrap();
        } else {
            link.frame(|_, ()| Ok(())).unwrap();
        }
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(grey), "frame {n}: {}", link.report());
    });
    check(&report);
}

/// A double: all but threads take far longer, as they do on a machine with a discrete GPU.
#[test]
fn a_backend_that_is_far_slower_for_one_work_of_the_host_is_not_opened_for_the_next() {
    let folder = Folder::new("auto-link-far");
    let open = |work: &str| {
        let builder = builder(Profiles::Folder(folder.0.clone()), Unwritten::Overwrite)?;
        Some(builder.work(work).open_auto(|_, _| Ok(())).unwrap())
    };
    let frame = |link: &mut AutoLink<()>, n: u32| {
        let made = link.frame(|next, ()| {
            if next.backend().device().api != Api::Cpu {
                std::thread::sleep(Duration::from_millis(60));
            }
            next.write(&pixels(n as u8))
        });
        made.unwrap();
    };
    let Some(mut link) = open(WORK) else { return };
    let report = run(&mut link, frame);
    check(&report);
    assert!(report.chosen().unwrap().compute.starts_with("CPU"), "{report}");
    // In this link, and in that of another start.
    link.set_work("another");
    frame(&mut link, 1);
    let other = open("a third").unwrap();
    for link in [link, other] {
        let report = link.report();
        let far = report.rows.iter().filter(|row| row.state == PairState::Slower);
        assert!(
            far.clone().count() > 0 && far.clone().all(|row| row.because.contains("measured with other work")),
            "{report}"
        );
    }
}

#[test]
fn another_work_is_compared_for_itself() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let mut works = Vec::new();
    for n in 0..MOST_FRAMES {
        let work = [WORK, "another"][n as usize % 2];
        link.set_work(work);
        let was_decided = link.is_decided();
        link.frame(|next, ()| next.write(&pixels(n as u8))).unwrap();
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(n as u8), "{}", link.report());
        if link.is_decided() && !was_decided {
            works.push((work, link.report().clone()));
        }
        if works.len() == 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let names: Vec<_> = works.iter().map(|(work, _)| *work).collect();
    assert_eq!(names, [WORK, "another"], "{}", link.report());
    works.iter().for_each(|(_, report)| check(report));
}

#[test]
fn a_frame_that_others_do_not_make_is_made_by_the_one_in_use() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let report = run(&mut link, |link, n| {
        link.frame(|next, ()| match next.backend().device().api {
            Api::Cpu => next.write(&pixels(n as u8)),
            _ => Err(Error::invalid("the program", "it has no text for this backend")),
        })
        .unwrap();
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(n as u8), "{}", link.report());
    });
    let said = |row: &PairRow| match &row.state {
        PairState::Failed { reason } | PairState::Mistaken { reason } => reason.contains("no text for this backend"),
        _ => false,
    };
    assert!(report.rows.iter().any(said), "{report}");
}

#[test]
fn a_frame_that_nobody_makes_is_an_error_once_and_ends_the_comparison() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let (mut errors, mut frames) = (0, 0);
    while !link.is_decided() {
        frames += 1;
        let made = link.frame(|next, ()| match frames {
            20 => Err(Error::invalid("the program", "frame 20 fails")),
            _ => next.write(&pixels(frames as u8)),
        });
        // After an error the frame before stays on show.
        let shown = if made.is_err() { frames - 1 } else { frames };
        errors += u32::from(made.is_err_and(|error| error.to_string().contains("frame 20 fails")));
        assert!(frames < MOST_FRAMES, "{}", link.report());
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(shown as u8), "{}", link.report());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(errors, u32::from(frames >= 20), "{}", link.report());
}

#[test]
fn a_surface_of_another_size_is_compared_as_well() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let report = run(&mut link, |link, n| {
        // In the middle of turns, too.
        let side = 16 + (n / 7).min(20) % 5;
        let desc = SurfaceDesc::image(side, side, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
        if *link.link().desc() != desc {
            link.resize(desc).unwrap();
        }
        let bytes = vec![n as u8; (side * side * 4) as usize];
        link.frame(|next, ()| next.write(&bytes)).unwrap();
        assert_eq!(link.link_mut().read_back().unwrap(), bytes, "{}", link.report());
    });
    assert!(matches!(report.basis, Basis::Frames(_)), "{report}");
}

/// A pair that loses has made the newest frame. The pair that goes on has an older picture, which must not come back.
#[test]
fn the_frame_of_a_pair_that_lost_stays_on_show_when_the_size_changes() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let (own, mut lost) = (link.link().backend().device().clone(), 0);
    run(&mut link, |link, n| {
        let bytes = vec![n as u8; link.link().desc().byte_len().unwrap()];
        let made = link.frame(|next, ()| {
            // A double: every other backend is far slower here.
            if *next.backend().device() != own {
                std::thread::sleep(Duration::from_millis(30));
            }
            next.write(&bytes)
        });
        made.unwrap();
        if *link.link().backend().device() != own {
            lost += 1;
            let side = 16 + lost % 2;
            let desc = SurfaceDesc::image(side, side, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
            link.resize(desc).unwrap();
            let shown = link.link_mut().read_back().unwrap();
            assert!(shown.iter().all(|byte| *byte == n as u8), "{n}, then {}: {}", shown[0], link.report());
        }
    });
    assert!(lost > 0, "{}", link.report());
}

/// Frames keep pixels and a count, sizes change in the middle of turns, and every third frame fails on all but threads while those are in
/// use.
#[test]
fn what_frames_keep_survives_failures_and_sizes() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Keep) else { return };
    let link = builder.open_auto(|_, _| Ok(0_u32)).unwrap();
    let mut link = link.with_carry(|from, to| {
        *to = *from;
        Ok(())
    });
    let (mut grey, mut zeros) = (0, true);
    let report = run(&mut link, |link, n| {
        let side = 16 + (n / 70).min(6) % 4;
        let desc = SurfaceDesc::image(side, side, PixelFormat::Rgba8);
        if *link.link().desc() != desc {
            link.resize(desc).unwrap();
            zeros = true;
        }
        let mut writes = n % 5 == 0;
        let by_threads = link.report().chosen().is_some_and(|row| row.compute.starts_with("CPU"));
        if n % 4 != 1 {
            link.frame(|next, count| {
                let is_other = next.backend().device().api != Api::Cpu;
                if by_threads && is_other && n % 3 == 0 && n > 200 {
                    return Err(Error::invalid("the double", "it fails here"));
                }
                *count += 1;
                if writes { next.write(&vec![*count as u8; (side * side * 4) as usize]) } else { Ok(()) }
            })
            .unwrap();
        } else {
            link.frame(|_, count| {
                *count += 1;
                Ok(())
            })
            .unwrap();
            writes = false;
        }
        if writes {
            (grey, zeros) = ((n + 1) as u8, false);
        }
        let expected = if zeros { 0 } else { grey };
        let shown = link.link_mut().read_back().unwrap();
        assert_eq!(shown, vec![expected; (side * side * 4) as usize], "frame {n}: {}", link.report());
        let count = *link.state();
        assert_eq!(count, n + 1, "frame {n}: {}", link.report());
    });
    assert!(report.rows.iter().any(|row| row.state == PairState::Chosen), "{report}");
}

#[test]
fn a_link_that_is_paused_is_not_compared() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Keep) else { return };
    let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
    let size = *link.link().desc();
    for n in 0..400_u32 {
        if n == 100 || n == 200 {
            link.resize(if n == 100 { SurfaceDesc::image(0, 0, PixelFormat::Rgba8) } else { size }).unwrap();
        }
        let before = link.report().clone();
        link.frame(|next, ()| next.write(&pixels(n as u8))).unwrap();
        if (100..200).contains(&n) {
            assert_eq!(*link.report(), before, "{}", link.report());
        } else {
            assert_eq!(link.link_mut().read_back().unwrap(), pixels(n as u8), "frame {n}: {}", link.report());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
