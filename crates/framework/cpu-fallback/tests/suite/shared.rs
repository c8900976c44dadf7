//! A link on a thread of its own: what other threads see of it, and that nobody waits forever.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{
    Display, Error, Extent, LinkOptions, PixelFormat, Policy, Region, Result, SharedFrame, SharedLink, StartedFrame,
    Surface, SurfaceDesc, SurfacePart, Trials,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

const SIDE: u32 = 16;

fn desc(side: u32) -> SurfaceDesc {
    SurfaceDesc::image(side, side, PixelFormat::R8)
}

/// Returns what a frame looks like when it is given out.
fn picture(display: &MemoryDisplay, surface: &Surface) -> Result<Vec<u8>> {
    let SurfaceDesc::Image(image) = surface.desc() else { return Err(Error::NothingShown) };
    let mut target = display.create_offscreen_target(image.extent.width, image.extent.height)?;
    let Extent { width, height } = image.extent;
    display.draw(surface, &mut target, Region::new(0, 0, width, height), Default::default())?;
    Ok(target.read_pixels().chunks_exact(4).map(|pixel| pixel[0]).collect())
}

fn open() -> SharedLink<Vec<u8>> {
    open_giving(picture)
}

fn open_giving(give: impl Fn(&MemoryDisplay, &Surface) -> Result<Vec<u8>> + Send + 'static) -> SharedLink<Vec<u8>> {
    let backend = Arc::new(CpuBackend::new().unwrap());
    // While paths are compared, no frame is begun that waits for others.
    let options = LinkOptions::new(Policy::default().with_trials(Trials::Off));
    SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc(SIDE), options, give).unwrap()
}

fn start(link: &SharedLink<Vec<u8>>, value: u8) -> StartedFrame<Vec<u8>> {
    link.start_frame(move |frame| {
        let SurfacePart::Image(region) = frame.part() else { panic!("it is an image") };
        let bytes = vec![value; (region.width * region.height) as usize];
        frame.write(&bytes)
    })
    .unwrap()
}

#[test]
fn every_thread_may_have_it() {
    fn all<T: Send + Sync>() {}
    all::<SharedLink<Vec<u8>>>();
    all::<SharedFrame<Vec<u8>>>();
}

#[test]
fn frames_come_from_one_thread_and_are_drawn_on_others() {
    let link = open();
    assert!(matches!(link.shown(), Err(Error::NothingShown)));
    start(&link, 0).wait().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let drawing: Vec<_> = (0..3)
            .map(|_| {
                threads.spawn(|| {
                    let (mut last, mut seen) = (0, 0);
                    while !over.load(Ordering::Acquire) {
                        let frame = link.shown().unwrap();
                        assert!(frame.number() >= last, "time goes on");
                        seen += u32::from(frame.number() > last);
                        last = frame.number();
                        let value = (frame.number() - 1) as u8;
                        assert!(frame.get().iter().all(|byte| *byte == value), "frame {last} is whole");
                        assert_eq!((frame.get().len() as u32, *frame.desc()), (SIDE * SIDE, desc(SIDE)));
                    }
                    seen
                })
            })
            .collect();
        for value in 1..=100 {
            start(&link, value).wait().unwrap();
        }
        over.store(true, Ordering::Release);
        for thread in drawing {
            assert!(thread.join().unwrap() > 0, "a thread saw no new frame");
        }
    });
}

#[test]
fn what_is_held_stays_until_it_is_dropped() {
    let link = open();
    start(&link, 1).wait().unwrap();
    let held = link.shown().unwrap();
    let (computed, is_computed) = channel();
    let next = link
        .start_frame(move |frame| {
            frame.write(&[2; (SIDE * SIDE) as usize])?;
            let _ = computed.send(());
            Ok(())
        })
        .unwrap();
    is_computed.recv().unwrap();
    // It is computed and waits to be handed over.
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(link.shown().unwrap().number(), 1);
    assert_eq!(held.get()[0], 1);
    // Whoever holds a frame would wait for itself.
    for error in [link.frame(|_| Ok(())).unwrap_err(), link.resize(desc(4)).unwrap_err()] {
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    }
    drop(held);
    next.wait().unwrap();
    let shown = link.shown().unwrap();
    assert_eq!((shown.number(), shown.get()[0]), (2, 2));
}

#[test]
fn a_resize_keeps_the_frame_shown_and_a_pause_does_nothing() {
    let link = open();
    start(&link, 7).wait().unwrap();
    link.resize(desc(4)).unwrap();
    assert_eq!(*link.shown().unwrap().desc(), desc(SIDE));
    start(&link, 8).wait().unwrap();
    let shown = link.shown().unwrap();
    assert_eq!((shown.desc(), shown.get()), (&desc(4), &vec![8; 16]));
    drop(shown);
    link.resize(SurfaceDesc::image(0, 0, PixelFormat::R8)).unwrap();
    link.frame(|_| panic!("it is paused")).unwrap();
    assert!(link.with(|link| link.is_paused()).unwrap());
    assert_eq!(link.shown().unwrap().get(), &vec![8; 16]);
}

#[test]
fn failures_and_panics_of_a_frame_leave_the_link_as_it_was() {
    let link = open();
    start(&link, 3).wait().unwrap();
    let error = link.frame(|_| Err(Error::invalid("the test", "on purpose"))).unwrap_err();
    assert!(error.to_string().contains("on purpose"), "{error}");
    let error = link.frame(|_| panic!("of the test")).unwrap_err();
    assert!(matches!(&error, Error::Panicked { reason, .. } if reason.contains("of the test")), "{error}");
    let error = link.with(|_| panic!("of a call")).map(|(): ()| ()).unwrap_err();
    assert!(matches!(&error, Error::Panicked { reason, .. } if reason.contains("of a call")), "{error}");
    assert_eq!(link.shown().unwrap().get()[0], 3);
    start(&link, 4).wait().unwrap();
    assert_eq!(link.shown().unwrap().get()[0], 4);
}

#[test]
fn a_dropped_link_waits_for_nobody() {
    let link = open();
    start(&link, 5).wait().unwrap();
    let held = link.shown().unwrap();
    let waiting: Vec<_> = (6..9).map(|value| start(&link, value)).collect();
    drop(link);
    assert_eq!((held.number(), held.get()[0]), (1, 5), "what is held stays");
    drop(held);
    for frame in waiting {
        let error = frame.wait().unwrap_err();
        assert!(error.to_string().contains("ended"), "{error}");
    }
}

#[test]
fn the_last_owner_may_be_the_links_own_thread() {
    let link = Arc::new(open());
    let own = Arc::clone(&link);
    let (go, may_go) = channel::<()>();
    let (gone, is_gone) = channel();
    let started = link
        .start_frame(move |_| {
            let error = own.frame(|_| Ok(())).unwrap_err();
            assert!(error.to_string().contains("own thread"), "{error}");
            let _ = may_go.recv();
            let _ = gone.send(Arc::strong_count(&own));
            Ok(())
        })
        .unwrap();
    drop(link);
    go.send(()).unwrap();
    assert_eq!(is_gone.recv().unwrap(), 1);
    // The closure, and the link in it, go on the link's thread.
    let _ = started.wait();
}

/// Returns what `f` gives, or a failure where it waits forever.
fn soon<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, is_done) = channel();
    std::thread::spawn(move || done.send(f()));
    is_done.recv_timeout(Duration::from_secs(20)).unwrap()
}

#[test]
fn the_links_own_thread_never_waits_for_itself() {
    let link = Arc::new(open());
    start(&link, 1).wait().unwrap();
    let own = Arc::clone(&link);
    let taken = soon(move || Arc::clone(&own).with(move |_| own.shown().map(drop)).unwrap());
    assert!(matches!(&taken, Err(Error::InvalidInput { .. })), "{taken:?}");
    // A frame reads the one before it, and may not keep that.
    for keeps in [false, true] {
        let (own, mut kept) = (Arc::clone(&link), Vec::new());
        let computed = soon(move || {
            Arc::clone(&own).frame(move |frame| {
                let before = own.shown()?;
                let bytes: Vec<u8> = before.get().iter().map(|byte| byte + 1).collect();
                kept.extend(Some(before).filter(|_| keeps));
                frame.write(&bytes)
            })
        });
        assert_eq!(computed.is_err(), keeps, "{computed:?}");
    }
    assert_eq!(link.shown().unwrap().get()[0], 2);
    // Inside a frame it starts the next one, and cannot wait for that.
    let own = Arc::clone(&link);
    let refused = soon(move || {
        Arc::clone(&own).frame(move |_| {
            assert!(own.check_wait().is_err());
            let next = start(&own, 6);
            assert!(next.check_wait().is_err());
            next.wait()
        })
    });
    assert!(matches!(&refused, Err(Error::InvalidInput { .. })), "{refused:?}");
    assert!(link.check_wait().is_ok());
    start(&link, 7).wait().unwrap();
}

#[test]
fn a_display_whose_type_is_found_out_there_gives_what_it_is_opened_with() {
    let backend = Arc::new(CpuBackend::new().unwrap());
    let open = || {
        let memory = MemoryDisplay::new();
        Ok((memory.clone() as Arc<dyn Display>, (memory, 3)))
    };
    let give =
        |(memory, more): &(Arc<MemoryDisplay>, u8), surface: &Surface| Ok(memory.pixels_rgba8(surface)?.data[0] + more);
    let link = SharedLink::open_any(backend, open, desc(2), LinkOptions::default(), give).unwrap();
    link.frame(|frame| frame.write(&[4; 4])).unwrap();
    assert_eq!(*link.shown().unwrap().get(), 7);
}

#[test]
fn a_frame_that_fails_is_not_given_out_beside_one_that_is_held() {
    let given = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&given);
    let link = Arc::new(open_giving(move |display, surface| {
        counted.fetch_add(1, Ordering::SeqCst);
        picture(display, surface)
    }));
    start(&link, 1).wait().unwrap();
    let held = link.shown().unwrap();
    let other = Arc::clone(&link);
    let failed = soon(move || other.frame(|_| Err(Error::invalid("the test", "on purpose"))));
    assert!(failed.is_err());
    assert_eq!((given.load(Ordering::SeqCst), held.get()[0]), (1, 1));
    drop(held);
    link.resize(SurfaceDesc::image(0, 0, PixelFormat::R8)).unwrap();
    start(&link, 2).wait().unwrap();
    assert_eq!(link.shown().unwrap().number(), 1, "a paused link finishes no frame");
}

#[test]
fn many_threads_that_draw_leave_the_next_frame_its_turn() {
    let link = Arc::new(open());
    start(&link, 1).wait().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let drawing: Vec<_> = (0..8)
        .map(|_| {
            let (link, over) = (Arc::clone(&link), Arc::clone(&over));
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let _held = link.shown().unwrap();
                    std::thread::sleep(Duration::from_millis(5));
                }
            })
        })
        .collect();
    let next = Arc::clone(&link);
    let (done, is_done) = channel();
    std::thread::spawn(move || done.send((2..12).try_for_each(|value| start(&next, value).wait())));
    let shown = is_done.recv_timeout(Duration::from_secs(20));
    over.store(true, Ordering::Relaxed);
    drawing.into_iter().for_each(|thread| thread.join().unwrap());
    shown.unwrap().unwrap();
}

#[test]
fn one_thread_that_keeps_a_frame_holds_no_other_up() {
    let link = Arc::new(open());
    start(&link, 1).wait().unwrap();
    let kept = link.shown().unwrap();
    let next = start(&link, 2);
    let other = Arc::clone(&link);
    let looked = soon(move || (0..200).map(|_| other.shown().unwrap().get()[0]).max());
    assert_eq!(looked, Some(1));
    drop(kept);
    next.wait().unwrap();
}

#[test]
fn what_fails_to_open_says_why() {
    let backend = Arc::new(CpuBackend::new().unwrap());
    let none = || Err(Error::invalid("the test", "there is no display"));
    let error = SharedLink::open(backend.clone(), none, desc(1), LinkOptions::default(), picture).unwrap_err();
    assert!(error.to_string().contains("no display"), "{error}");
    let memory = || Ok(MemoryDisplay::new());
    let error = SharedLink::open(backend, memory, desc(0), LinkOptions::default(), picture).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
}
