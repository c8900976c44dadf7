//! Backend and display by one call, in contexts of every kind.

use crate::contexts::engine::{Maker, System};
use pixelferry::api::gl::{Flow, GlDisplay, GlWindow, WindowApp, WindowOptions, run_window};
use pixelferry::driver::backend_in;
use pixelferry::driver::{GlName, HandleType};
use pixelferry::{
    Arg, BackendChoice, ComputeBackend, Display, DisplayChoice, Error, Extent, Kernel, Link, LinkBuilder, LinkCore,
    LinkOptions, PathId, PixelFormat, Policy, Profiles, SurfaceDesc, probe, report::SystemReport,
};
use pixelferry_tests::{Need, by_level, need, ramp, ramp_pixel};
use std::sync::Arc;
use std::time::Duration;

const DESC: SurfaceDesc = SurfaceDesc::image(65, 33, PixelFormat::Rgba8);

/// A backend that was opened for the display, by whom and with what else.
struct OpenedBackend {
    backend: Arc<dyn ComputeBackend>,
    kernel: Arc<dyn Kernel>,
}

impl OpenedBackend {
    fn new(backend: Arc<dyn ComputeBackend>) -> Self {
        let kernel = backend.build(&ramp()).unwrap();
        Self { backend, kernel }
    }

    /// The first path of the static order, which is `direct` where it is offered.
    fn link(&self, display: Arc<dyn Display>) -> Link {
        let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off);
        let link = Link::open(self.backend.clone(), display, DESC, LinkOptions::new(policy)).unwrap();
        assert_eq!(link.path(), PathId::DIRECT, "{}", link.explain());
        link
    }

    fn frame(&self, link: &mut LinkCore, number: u32) {
        link.frame(|next| next.launch(self.kernel.as_ref(), &[Arg::U32(number)])).unwrap();
        let expected: Vec<u8> = (0..65 * 33).flat_map(|i| ramp_pixel(i % 65, i / 65, number)).collect();
        assert!(link.read_back().unwrap() == expected, "frame {number}: another picture");
        assert_eq!(link.path(), PathId::DIRECT);
    }
}

fn system(display: &GlDisplay) -> System {
    match display.hold_gl().unwrap().name() {
        GlName::Egl { .. } => System::Egl,
        GlName::Glx { .. } => System::Glx,
        other => panic!("{other:?}"),
    }
}

fn opencl() -> LinkBuilder {
    LinkBuilder::new(DESC).launch(&ramp(), []).backend(BackendChoice::OpenCl)
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_pair() {
    let Some((backend, screen)) = need(Need::Egl, opencl().display(DisplayChoice::Gl).open_sides()) else { return };
    assert_eq!(system(screen.gl().unwrap()), System::Egl);
    let opened = OpenedBackend::new(backend);
    let mut link = opened.link(screen.display());
    (0..5).for_each(|number| opened.frame(&mut link, number));
    // It is inside already.
    assert!(opened.backend.open_in(screen.display().as_ref()).unwrap().is_none());
    assert!(Arc::ptr_eq(&backend_in(&opened.backend, screen.display().as_ref()), &opened.backend));
    // Displays that have no context are served as they are.
    let (plain, memory) = opencl().display(DisplayChoice::Memory).open_sides().unwrap();
    assert!(plain.open_in(memory.display().as_ref()).unwrap().is_none());
    println!("ALL DONE");
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_probe() {
    let SystemReport { pairings, problems, .. } = probe(&DESC).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let mut proved = 0;
    for pairing in &pairings {
        let direct = pairing.paths.iter().find(|row| row.id == PathId::DIRECT).unwrap();
        println!("{} -> {}: {}", pairing.compute, pairing.display, direct.state.detail());
        let text = pairing.to_string();
        assert!(!text.contains("open_in") && !text.contains("opened"), "{text}");
        if pairing.compute.api == pixelferry::Api::OpenCl && pairing.display.api == pixelferry::Api::OpenGl {
            assert!(direct.state.works(), "{text}");
            proved += 1;
        }
    }
    if need(Need::Egl, if proved > 0 { Ok(()) } else { Err("OpenGL is not among the displays") }).is_some() {
        println!("ALL DONE");
    }
}

/// A window's display is there before the backend.
struct App {
    opened: Option<(OpenedBackend, Link)>,
    /// The backend outlives the window on purpose: it holds the context.
    left: Option<OpenedBackend>,
    frames: u32,
}

impl WindowApp for App {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
        // Windows by Mesa's GLX crash when another program destroys them.
        assert_eq!(system(window.display()), System::Egl);
        let display: Arc<dyn Display> = window.display().clone();
        let (backend, _) = opencl().shown_by(&display).open_sides()?;
        let opened = OpenedBackend::new(backend);
        let link = opened.link(window.display().clone());
        println!("RUNS IN A WINDOW");
        self.opened = Some((opened, link));
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, Error> {
        let (opened, link) = self.opened.as_mut().unwrap();
        opened.frame(link, self.frames);
        let size = window.size();
        let viewport = pixelferry::api::gl::Viewport::full(size.width, size.height);
        window.display().draw(link.shown()?.surface(), viewport, pixelferry::DrawOptions::default())?;
        self.frames += 1;
        Ok(if self.frames == 5 { Flow::Exit } else { Flow::Continue })
    }

    fn closing(&mut self, _: &GlWindow) {
        self.left = self.opened.take().map(|(opened, _)| opened);
    }
}

fn in_a_window() {
    let options = WindowOptions::default().with_size(Extent::new(80, 60));
    let mut app = App { opened: None, left: None, frames: 0 };
    assert_eq!(run_window(&options, &mut app).unwrap(), 5);
    // Window and event loop are gone.
    let opened = app.left.unwrap();
    outlives(&opened);
    std::thread::spawn(move || drop(opened)).join().unwrap();
    println!("ALL DONE");
}

pixelferry_tests::tests! {
    #[ignore = "run by the tests of the module above, in a process of its own"]
    child_window => in_a_window();
}

/// Checks that work without OpenGL goes on.
fn outlives(opened: &OpenedBackend) {
    let mut memory = opened.backend.allocate(64).unwrap();
    memory.write(0, &[7; 64]).unwrap();
    let mut bytes = [0; 64];
    memory.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 64]);
    opened.backend.finish().unwrap();
}

/// Contexts of an engine's own, two on one thread, each with its backend.
fn in_an_engine(system: System) {
    let Some(maker) = Maker::of(system) else { return };
    let plain = pixelferry::open_backend(BackendChoice::OpenCl, &[]).unwrap();
    let engines = [maker.context(), maker.context()];
    let mut sides: Vec<_> = engines
        .iter()
        .map(|engine| {
            engine.make_current();
            let display = engine.pixelferry();
            assert_eq!(self::system(&display), system);
            let backend = backend_in(&plain, display.as_ref());
            assert!(!Arc::ptr_eq(&backend, &plain), "the engine's backend shares with nothing");
            let opened = OpenedBackend::new(backend);
            let link = opened.link(display.clone());
            (engine, display, opened, link)
        })
        .collect();
    for number in 0..6 {
        for (engine, _, opened, link) in &mut sides {
            engine.make_current();
            opened.frame(link, number);
        }
    }
    // The last one's context is current: the first backend does not take the turns of its objects there.
    let (_, display, opened, link) = &mut sides[0];
    let wrong = link.frame(|next| next.launch(opened.kernel.as_ref(), &[Arg::U32(9)]));
    assert!(matches!(wrong, Err(Error::WrongContext { .. })), "{wrong:?}");
    let refused = opened.backend.open_in(display.as_ref()).map(|opened| opened.is_none());
    assert!(matches!(refused, Ok(true)), "it is inside already: {refused:?}");
    let refused = plain.open_in(display.as_ref()).map(|opened| opened.is_none());
    assert!(matches!(refused, Err(Error::WrongContext { .. })), "{refused:?}");
    assert!(Arc::ptr_eq(&backend_in(&plain, display.as_ref()), &plain));
    // Backends before contexts, as was promised.
    for (engine, display, opened, mut link) in sides {
        engine.make_current();
        opened.frame(&mut link, 11);
        drop((link, opened, display));
    }
    println!("ALL DONE");
}

pixelferry_tests::tests! {
    #[ignore = "run by the tests of the module above, in a process of its own"]
    child_engine_egl => in_an_engine(System::Egl);
    #[ignore = "run by the tests of the module above, in a process of its own"]
    child_engine_glx => in_an_engine(System::Glx);
}

/// A display that goes leaves its context to the backend that shares with it.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_held() {
    let pair = || opencl().display(DisplayChoice::Gl).open_sides();
    let Some((backend, screen)) = need(Need::Egl, pair()) else { return };
    let display = screen.gl().unwrap().clone();
    let held = display.hold_gl().unwrap();
    let (name, weak) = (held.name(), Arc::downgrade(&held));
    drop(held);
    let opened = OpenedBackend::new(backend);
    let mut link = opened.link(screen.display());
    opened.frame(&mut link, 1);
    let surface = display.create_surface(&DESC).unwrap();
    let handle = surface.export(HandleType::GlObject).unwrap();
    let mut memory = opened.backend.import_surface(&handle, &DESC).unwrap();
    memory.acquire().unwrap();
    memory.release().unwrap();
    drop((link, memory, surface));
    drop((screen, display));
    outlives(&opened);
    // The context is there: no other has its name.
    let held = weak.upgrade().expect("the backend holds the context");
    assert!(held.name() == name && !held.is_current());
    for _ in 0..by_level(2, 8, 8) {
        let (_, other) = pair().unwrap();
        assert_ne!(other.gl().unwrap().hold_gl().unwrap().name(), name);
        assert!(!held.is_current());
        let refused = opened.backend.import_surface(&handle, &DESC).map(drop);
        assert!(matches!(refused, Err(Error::WrongContext { .. })), "{refused:?}");
    }
    drop(held);
    // It goes with the last that shares with it, on any thread: here a kernel.
    let OpenedBackend { backend, kernel } = opened;
    drop(backend);
    assert!(weak.upgrade().is_some(), "the kernel's context is gone");
    std::thread::spawn(move || drop(kernel)).join().unwrap();
    assert!(weak.upgrade().is_none());
    // Objects dropped with another context current do not read the display's memory any more.
    let (backend, screen) = pair().unwrap();
    let opened = OpenedBackend::new(backend);
    let pages = pixelferry::driver::HostBlock::allocate(4096).unwrap();
    let staging = screen.display().create_staging(pixelferry::driver::StagingKind::Imported(pages), 4096).ok();
    let (_, other) = pair().unwrap();
    drop(staging);
    drop(screen);
    outlives(&opened);
    drop((opened, other));
    println!("ALL DONE");
}
