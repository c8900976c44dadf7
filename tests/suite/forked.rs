//! A forked process whose parent has opened drivers: it refuses and closes, and neither waits for a thread that it does not have
//! nor calls a driver. One whose parent has computed on the processor alone goes on.

use pixelferry::driver::compute::QueueOptions;
use pixelferry::{
    BackendChoice, ComputeBackend, DisplayChoice, LinkBuilder, OpenedLink, PixelFormat, SharedLink, SurfaceDesc,
    command::ApiChoice as _, open_backend,
};
use pixelferry_testing::{Child, Need, by_level, given, need};
use std::fmt::Debug;
use std::sync::Arc;

const DESC: SurfaceDesc = SurfaceDesc::image(64, 48, PixelFormat::Rgba8);
const PAIR: &str = "PIXELFERRY_TEST_PAIR";
/// How many seconds a child may take.
const PATIENCE: u32 = 120;

fn named<C: pixelferry::command::ApiChoice + PartialEq>(name: &str) -> C {
    C::all().find(|row| row.name == name).unwrap().choice
}

/// Runs `body` in a forked process; its exit status.
pub fn forked(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child calls `body` and ends.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: it ends a child that hangs.
            unsafe { libc::alarm(PATIENCE) };
            let code = std::panic::AssertUnwindSafe(body);
            let code = pixelferry::driver::describe::panics::catch(|| (code.0)()).unwrap_or(99);
            // SAFETY: it ends the child, and runs nothing of the parent's.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: a child of ours, and room for its status.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
        }
    }
}

pub fn says_spawn<T>(what: &str, outcome: Result<T, impl Debug>) -> bool {
    let said = outcome.err().map(|error| format!("{error:?}")).unwrap_or_default();
    let right = said.contains("spawn");
    if !right {
        eprintln!("{what}: {said:?}");
    }
    right
}

fn pair() -> (BackendChoice, DisplayChoice) {
    let pair = std::env::var(PAIR).unwrap();
    let (backend, display) = pair.split_once(' ').unwrap();
    (named(backend), named(display))
}

fn opened() -> pixelferry::Result<OpenedLink> {
    let (backend, display) = pair();
    LinkBuilder::new(DESC).backend(backend).display(display).open()
}

#[test]
#[ignore = "run by the tests below, in processes of their own"]
fn child_forks() {
    let (choice, display) = pair();
    let driver = match (choice, display) {
        (BackendChoice::OpenCl, _) => given(),
        (BackendChoice::Gl, _) | (_, DisplayChoice::Gl) => Need::Egl,
        _ => Need::Lavapipe,
    };
    let is_plain = (choice, display) == (BackendChoice::Cpu, DisplayChoice::Memory);
    let made = opened();
    let Some(mut open) = (if is_plain { Some(made.unwrap()) } else { need(driver, made) }) else { return };
    let bytes = vec![7; DESC.byte_len().unwrap()];
    open.link.frame(|next| next.write(&bytes)).unwrap();
    let queue = open.backend.queue(QueueOptions::default()).ok();
    let memory = open.backend.allocate(4096).unwrap();
    for _ in 0..by_level(2, 3, 10) {
        let code = forked(|| {
            if is_plain {
                return i32::from(open.link.frame(|next| next.write(&bytes)).is_err() || opened().is_err());
            }
            let refused = says_spawn("a frame", open.link.frame(|next| next.write(&bytes)))
                & says_spawn("memory", open.backend.allocate(16))
                & says_spawn("the end of the queue", open.backend.finish())
                & says_spawn("another pair", opened())
                & says_spawn("a backend", open_backend(BackendChoice::Cpu, &[]));
            i32::from(!refused)
        });
        assert_eq!(code, 0, "{choice:?}, {display:?}");
    }
    // The child drops all that came along.
    let everything = std::mem::ManuallyDrop::new((open, queue, memory));
    let code = forked(|| {
        // SAFETY: the parent's copy is dropped below, and the child's here: two processes.
        drop(unsafe { std::ptr::read(&raw const *everything) });
        0
    });
    assert_eq!(code, 0, "{choice:?}, {display:?}: dropped in the child");
    let (mut open, queue, memory) = std::mem::ManuallyDrop::into_inner(everything);
    open.link.frame(|next| next.write(&bytes)).unwrap();
    drop((memory, queue, open));
}

fn forks(backend: BackendChoice, display: DisplayChoice, driver: Option<Need>) {
    let name = |all: &mut dyn Iterator<Item = &'static str>| all.next().unwrap();
    let backend = name(&mut BackendChoice::all().filter(|row| row.choice == backend).map(|row| row.name));
    let display = name(&mut DisplayChoice::all().filter(|row| row.choice == display).map(|row| row.name));
    let child = Child::of("forked::child_forks").unwrap().env(PAIR, format!("{backend} {display}"));
    let child = driver.filter(|driver| matches!(driver, Need::Pocl | Need::Rusticl)).into_iter().fold(child, Child::on);
    child.run().unwrap().passed();
}

#[test]
fn plain_memory_goes_on() {
    forks(BackendChoice::Cpu, DisplayChoice::Memory, None);
}

#[test]
fn opencl_closes_and_refuses() {
    for driver in [Need::Pocl, Need::Rusticl] {
        forks(BackendChoice::OpenCl, DisplayChoice::Memory, Some(driver));
        forks(BackendChoice::OpenCl, DisplayChoice::Compute, Some(driver));
    }
}

#[test]
fn opengl_closes_and_refuses() {
    forks(BackendChoice::Gl, DisplayChoice::Gl, None);
    forks(BackendChoice::Cpu, DisplayChoice::Gl, None);
}

#[test]
fn vulkan_closes_and_refuses() {
    forks(BackendChoice::Vulkan, DisplayChoice::Vulkan, None);
    forks(BackendChoice::Cpu, DisplayChoice::Vulkan, None);
}

#[test]
fn wgpu_closes_and_refuses() {
    forks(BackendChoice::Wgpu, DisplayChoice::Wgpu, None);
    forks(BackendChoice::Cpu, DisplayChoice::Wgpu, None);
}

#[test]
fn a_link_with_a_thread_of_its_own_refuses() {
    let backend: Arc<dyn ComputeBackend> = open_backend(BackendChoice::Cpu, &[]).unwrap();
    let give = |display: &pixelferry::MemoryDisplay, surface: &pixelferry::Surface| display.pixels_rgba8(surface);
    let display = || Ok(pixelferry::MemoryDisplay::new());
    let link = SharedLink::open(backend, display, DESC, pixelferry::LinkOptions::default(), give).unwrap();
    link.frame(|next| next.write(&vec![7; 64 * 48 * 4])).unwrap();
    let shown = link.shown().unwrap();
    let both = std::mem::ManuallyDrop::new((link, shown));
    let code = forked(|| {
        // SAFETY: the parent drops its own copy, in another process.
        let (link, shown) = unsafe { std::ptr::read(&raw const *both) };
        let refused = says_spawn("a frame", link.start_frame(|_| Ok(())).map(drop))
            & says_spawn("what is shown", link.shown().map(drop))
            & says_spawn("a call", link.with(|_| ()));
        drop((shown, link));
        i32::from(!refused)
    });
    assert_eq!(code, 0);
    drop(std::mem::ManuallyDrop::into_inner(both));
}
