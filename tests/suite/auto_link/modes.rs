//! Pipelined modes, other policies, and links that compare nothing.

use super::*;
use pixelferry::{CpuKernelExt as _, KernelSource, Link, LinkOptions, Mode};

/// Frames are waited for until all is compared, and some of them are on their way from then on. The next start has nothing to compare.
#[test]
fn a_pipelined_mode_begins_when_all_is_compared() {
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    for unwritten in [Unwritten::Keep, Unwritten::Overwrite] {
        let folder = Folder::new("auto-link-pipelined");
        let policy = Policy::default().with_profiles(Profiles::Folder(folder.0.clone())).with_trials(OFTEN);
        let policy = policy.with_mode(Mode::FramesBehind(2));
        let builder = LinkBuilder::new(surface(unwritten)).shown_by(&screen.display()).work(WORK);
        let builder = builder.policy(policy.clone());
        let mut link = builder.clone().open_auto(|_, _| Ok(())).unwrap();
        let (mut shown, mut made) = (Vec::new(), Vec::new());
        let report = run(&mut link, |link, n| {
            made.push((n % 251) as u8);
            link.frame(|next, ()| next.write(&pixels((n % 251) as u8))).unwrap();
            shown.push(link.link_mut().read_back().unwrap()[0]);
        });
        assert!(report.what.ends_with("frames waited for"), "{report}");
        check(&report);
        // Each frame is shown, in its order, and the last ones are on their way, as many as the path has.
        let (backend, display) = (link.link().backend().clone(), link.display().clone());
        let options = LinkOptions::new(policy.with_prefer(link.link().path()));
        let same = Link::open(backend, display, surface(unwritten), options).unwrap();
        assert_eq!((link.link().frames_behind(), link.link().path()), (same.frames_behind(), same.path()));
        shown.dedup();
        assert_eq!(shown, made[..made.len() - same.frames_behind()], "{}", same.path());
        let next = builder.open_auto(|_, _| Ok(())).unwrap();
        assert!(next.is_decided() && next.report().basis == Basis::Remembered, "{}", next.report());
        assert_eq!(next.link().backend().device().to_string(), report.chosen().unwrap().compute);
    }
}

/// While another backend makes frames, with frames on their way, and with a path that threads do not have.
#[test]
fn another_policy_ends_the_comparison_and_keeps_the_picture() {
    for unwritten in [Unwritten::Keep, Unwritten::Overwrite] {
        let Some(builder) = builder(Profiles::Off, unwritten) else { return };
        let link = builder.open_auto(|_, _| Ok(0_u32)).unwrap();
        let mut link = link.with_carry(|from, to| {
            *to = *from;
            Ok(())
        });
        let mut frames = 0;
        let mut frame = |link: &mut AutoLink<u32>| {
            link.frame(|next, count| {
                *count += 1;
                next.write(&pixels(*count as u8))
            })
            .unwrap();
            frames += 1;
            assert!(frames < MOST_FRAMES, "{}", link.report());
            frames
        };
        let mut last = 0;
        while link.link().backend().device().api == Api::Cpu {
            last = frame(&mut link);
            std::thread::sleep(Duration::from_millis(1));
        }
        let base = Policy::default().with_profiles(Profiles::Off);
        let late = base.clone().with_mode(Mode::FramesBehind(2)).with_force(PathId::HOST_VISIBLE_UPLOAD);
        let forced = base.clone().with_force(PathId::HOST_ROUND_TRIP);
        for policy in [late.clone(), forced.clone(), late, base.clone(), forced] {
            link.set_policy(policy.clone()).unwrap();
            assert!(link.is_decided(), "{}", link.report());
            assert_eq!(link.link_mut().read_back().unwrap(), pixels(last as u8), "{policy:?}");
            assert_eq!(*link.state(), last);
            assert_eq!(link.link().backend().device().api, Api::Cpu);
            (0..5).for_each(|_| last = frame(&mut link));
            assert_eq!(link.link().frames_behind() > 0, policy.mode != Mode::Latency);
            assert!(policy.force.is_none_or(|path| link.link().path() == path), "{policy:?}");
        }
        link.set_policy(base.with_force(PathId::DIRECT)).unwrap_err();
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(last as u8));
        assert_eq!(link.link().path(), PathId::HOST_ROUND_TRIP);
        last = frame(&mut link);
        assert_eq!(link.link_mut().read_back().unwrap(), pixels(last as u8));
    }
}

/// A pipelined link of one backend has nothing to compare, and is pipelined from its first frame on. Only threads run a
/// kernel that is a Rust closure.
#[test]
fn one_backend_is_pipelined_at_once() {
    let Some(builder) = builder(Profiles::Off, Unwritten::Overwrite) else { return };
    let policy = Policy::default().with_profiles(Profiles::Off).with_mode(Mode::FramesBehind(1));
    let builder = builder.policy(policy.with_force(PathId::HOST_VISIBLE_UPLOAD));
    let closure = KernelSource::new("closure").cpu_image(|out, _| out.par_pixels(|_, _| [1, 2, 3, 4]));
    for builder in [builder.clone().backend(BackendChoice::Cpu), builder.launch(&closure, [])] {
        let link = builder.open_auto(|_, _| Ok(())).unwrap();
        assert!(link.is_decided() && link.link().frames_behind() == 1, "{}", link.report());
    }
}

#[test]
fn nothing_is_compared_where_the_program_wants_no_trials() {
    let display = open_headless(DisplayChoice::Memory).unwrap().display();
    for trials in [Trials::Off, Trials::Asked] {
        let policy = Policy::default().with_profiles(Profiles::Off).with_trials(trials);
        let builder = LinkBuilder::new(surface(Unwritten::Overwrite)).shown_by(&display).policy(policy);
        let mut link = builder.open_auto(|_, _| Ok(())).unwrap();
        for work in ["one", "another"] {
            link.set_work(work);
            link.frame(|next, ()| next.write(&pixels(1))).unwrap();
            assert!(link.is_decided(), "{}", link.report());
        }
    }
}
