//! Links to displays without a current context: they move between threads, and threads use links to one display at once.

use pixelferry::api::vulkan::{VulkanBackend, VulkanDisplay, VulkanOptions};
use pixelferry::api::wgpu::{WgpuBackend, WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::{
    AnyThread, AnyThreadDisplay, Api, Arg, ComputeBackend, ComputeDisplay, Display, Error, Intake, Link, LinkCore,
    LinkOptions, MemoryDisplay, Outlet, PathId, PixelFormat, Policy, Profiles, Result, SurfaceDesc, Trials,
};
use pixelferry_tests::{Level, Need, has, level, need, ramp, ramp_pixel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// Links on one display at once.
const LINKS: u32 = 4;

fn frames() -> u32 {
    if level() > Level::All { 2000 } else { 40 }
}

fn desc(side: u32) -> SurfaceDesc {
    SurfaceDesc::image(side, side / 2, PixelFormat::Rgba8)
}

/// By this path or the first of the static order: measuring each of many links would take minutes.
fn open<D: AnyThreadDisplay>(
    (backend, display): (&Arc<dyn ComputeBackend>, &Arc<D>),
    side: u32,
    path: Option<PathId>,
) -> Result<Link<AnyThread>> {
    let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off).with_trials(Trials::Off);
    let options = LinkOptions::new(policy.with_force(path));
    let link = Link::open(Arc::clone(backend), Arc::clone(display) as _, desc(side), options)?;
    Ok(link.for_any_thread(display).unwrap())
}

fn frame(link: &mut LinkCore, kernel: &dyn pixelferry::Kernel, n: u32) {
    link.frame(|next| next.launch(kernel, &[Arg::U32(n)])).unwrap();
}

#[track_caller]
fn check_frame(link: &mut LinkCore, side: u32, n: u32) {
    let found = link.read_back().unwrap();
    let expected: Vec<u8> = (0..side / 2).flat_map(|y| (0..side).flat_map(move |x| ramp_pixel(x, y, n))).collect();
    assert!(found == expected, "frame {n} of {side}x{} by {}", side / 2, link.path());
}

/// Every frame is computed on one thread and read on another, and neither is the one that opened the link. By every path that the
/// pair has; returns how many.
fn moves<D: AnyThreadDisplay>(backend: &Arc<dyn ComputeBackend>, display: &Arc<D>) -> usize {
    let kernel = backend.build(&ramp()).unwrap();
    let links = PathId::ALL.iter().filter_map(|path| open((backend, display), 64, Some(*path)).ok());
    let moved = links.map(|mut link| {
        for n in 0..4 {
            let kernel = Arc::clone(&kernel);
            let computes = move || {
                frame(&mut link, kernel.as_ref(), n);
                link
            };
            let mut computed = thread::spawn(computes).join().unwrap();
            let reads = move || {
                check_frame(&mut computed, 64, n);
                computed
            };
            link = thread::spawn(reads).join().unwrap();
        }
        // What belongs to the display goes on a thread that never used it.
        thread::spawn(move || drop(link)).join().unwrap();
    });
    moved.count()
}

/// Each thread has a link of its own, of its own size, which it also resizes, drops and opens again.
fn beside<D: AnyThreadDisplay>(backend: &Arc<dyn ComputeBackend>, display: &Arc<D>) {
    let (kernel, start) = (backend.build(&ramp()).unwrap(), Barrier::new(LINKS as usize));
    thread::scope(|threads| {
        for thread in 0..LINKS {
            let (kernel, start) = (&kernel, &start);
            threads.spawn(move || {
                let mut side = 32 + 8 * thread;
                let mut link = open((backend, display), side, None).unwrap();
                start.wait();
                for n in 0..frames() {
                    match n % 16 {
                        7 => {
                            side = 32 + (n + thread) % 40 * 2;
                            link.resize(desc(side)).unwrap();
                        }
                        15 => link = open((backend, display), side, None).unwrap(),
                        _ => {}
                    }
                    frame(&mut link, kernel.as_ref(), n);
                    check_frame(&mut link, side, n);
                }
            });
        }
    });
}

/// An engine's object, filled on one thread and taken on another.
fn objects<D: AnyThreadDisplay>(backend: &Arc<dyn ComputeBackend>, display: &Arc<D>) {
    let (kernel, erased) = (backend.build(&ramp()).unwrap(), Arc::clone(display) as Arc<dyn Display>);
    let object = || erased.create_surface(&desc(32)).unwrap();
    let outlet = Outlet::open(Arc::clone(backend), Arc::clone(&erased), object()).unwrap();
    let intake = Intake::open(Arc::clone(backend), Arc::clone(&erased), object()).unwrap();
    let (mut outlet, mut intake) = (outlet.for_any_thread(display).unwrap(), intake.for_any_thread(display).unwrap());
    let used = move || {
        outlet.frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(3)])).unwrap();
        assert!(intake.take().unwrap().read().unwrap().iter().all(|byte| *byte == 0));
    };
    thread::spawn(used).join().unwrap();
}

fn check_display<D: AnyThreadDisplay>(backend: &Arc<dyn ComputeBackend>, display: &Arc<D>) {
    let paths = moves(backend, display);
    assert!(paths > 0, "{} -> {}: no path", backend.device(), display.device());
    beside(backend, display);
    objects(backend, display);
    println!("{} -> {} on any thread by {paths} paths", backend.device(), display.device());
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    check_display(backend, &MemoryDisplay::new());
    if let Some(display) = need(Need::Lavapipe, VulkanDisplay::headless(&VulkanOptions::default())) {
        check_display(backend, &display);
        if backend.device().api == Api::Cpu {
            check_display(&(Arc::new(VulkanBackend::on(&display).unwrap()) as _), &display);
        }
    }
    for (need_of, backends) in [(Need::Lavapipe, wgpu::Backends::VULKAN), (Need::Egl, wgpu::Backends::GL)] {
        let options = WgpuOptions::default().with_backends(backends);
        let Some(display) = need(need_of, WgpuDisplay::headless(options)) else { continue };
        check_display(backend, &display);
        // NVIDIA's OpenGL gives wgpu a version without compute shaders.
        if backend.device().api == Api::Cpu
            && let Some(queued) = has("compute shaders", display.device(), WgpuBackend::on(display.shared_device()))
        {
            check_display(&(Arc::new(queued) as _), &display);
        }
    }
    if backend.device().api != Api::Cpu {
        check_display(backend, &ComputeDisplay::on(Arc::clone(backend)).unwrap());
    }
    println!("any thread");
}

pixelferry_tests::on_each_backend!(check, "any thread");

#[test]
fn the_link_comes_back_where_the_display_is_another() {
    let (own, other) = (MemoryDisplay::new(), MemoryDisplay::new());
    let backend = Arc::new(pixelferry::CpuBackend::new().unwrap());
    let link = Link::open(backend, own.clone() as _, desc(16), LinkOptions::default()).unwrap();
    let mut link = link.for_any_thread(&other).unwrap_err();
    assert!(matches!(link.shown(), Err(Error::NothingShown)));
    link.frame(|next| next.write(&[5; 16 * 8 * 4])).unwrap();
    assert!(link.for_any_thread(&own).is_ok());
}
