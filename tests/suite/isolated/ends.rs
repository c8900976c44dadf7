//! Children that crash, hang or are killed: the display keeps the last frame, and the next child computes the next one.

use super::{DRIVERS, SOON, arguments, event, expected, frames, isolation, ready, shown};
use pixelferry::isolation::{IsolatedEvent, IsolatedLink};
use pixelferry::{BackendChoice, KernelSource, LinkBuilder, PixelFormat, SurfaceDesc};
use pixelferry_tests::{Level, Need, Usage, asked, by_level, displays, from, given, need, pass_in_child, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Instant;

const MIB: usize = 1 << 20;

/// What harms a child.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Harm {
    Signal(Signal),
    /// An argument of the kernel.
    Kernel(u32),
}

const HARMS: [(&str, Harm); 6] = [
    ("killed", Harm::Signal(Signal::KILL)),
    ("aborted", Harm::Signal(Signal::ABORT)),
    ("stopped", Harm::Signal(Signal::STOP)),
    ("an endless kernel", Harm::Kernel(1)),
    ("a wild address", Harm::Kernel(2)),
    ("a trap", Harm::Kernel(3)),
];

/// Whether a stream of this process's children has a socket.
fn has_socket() -> bool {
    let own = format!("isolated-{}-", std::process::id());
    let folders = [
        std::env::var("XDG_RUNTIME_DIR").map(|folder| format!("{folder}/pixelferry")).unwrap_or_default(),
        format!("/tmp/pixelferry-{}", rustix::process::getuid().as_raw()),
    ];
    let files = folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    files.flatten().any(|file| file.file_name().to_string_lossy().starts_with(&own))
}

fn exists(process: u32) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

/// Harms a child and checks that the next frame is right.
fn outlive(link: &mut IsolatedLink, choice: BackendChoice, (name, harm): (&str, Harm), number: u32) {
    let table = [1; 16];
    assert!(link.launch(&[&arguments(number, 0)]).unwrap(), "{name}");
    assert_eq!(event(link, 1), IsolatedEvent::Frame { launch: 1 });
    let child = link.child_id().unwrap();
    assert!(link.write(0, 3, &[77]).unwrap());
    let (mut launches, harmed) = (0, Instant::now());
    let mut launch = |link: &mut IsolatedLink, what| {
        assert!(link.launch(&[&arguments(number, what)]).unwrap());
        launches += 1;
    };
    match harm {
        Harm::Kernel(what) => launch(link, what),
        Harm::Signal(signal) => kill_process(Pid::from_raw(child as i32).unwrap(), signal).unwrap(),
    }
    if harm == Harm::Signal(Signal::STOP) {
        let state = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap();
        wait_until("the child stops", || state().contains(") T "));
        // A child without work may be idle for as long as it likes.
        launch(link, 0);
    }
    let (reason, lost_launches, memory) = match event(link, 2) {
        // rusticl ends loops after 65535 turns, and leaves traps out.
        IsolatedEvent::Frame { .. }
            if choice == BackendChoice::OpenCl && given() == Need::Rusticl && matches!(harm, Harm::Kernel(1 | 3)) =>
        {
            return println!("{name}: survived");
        }
        IsolatedEvent::Lost { reason, launches, lost_writes } => (reason, launches, lost_writes),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!((lost_launches, memory), (launches, true), "{name}: {reason}");
    let lost = Instant::now();
    let kept = shown(link);
    assert_eq!(kept[..16], expected(number, &table)[..16], "{name}, {reason}: the display keeps the last frame");
    assert!(kept == expected(number, &table), "{name}, {reason}: the display keeps all of the last frame");
    let repainted = lost.elapsed();
    wait_until("the end of the process", || !exists(child));
    ready(link);
    let opened = Instant::now();
    assert_ne!(link.child_id(), Some(child));
    let launch = 2 + launches as u64;
    assert!(link.launch(&[&arguments(number + 1, 0)]).unwrap());
    assert_eq!(event(link, launch), IsolatedEvent::Frame { launch }, "{name}");
    let next = opened.elapsed();
    assert!(shown(link) == expected(number + 1, &table), "{name}: memory has its first content again");
    println!(
        "{name}: outlived, {reason}; told after {:?}, repainted in {repainted:?}, opened in {:?}, next frame in {next:?}",
        lost - harmed,
        opened - lost
    );
}

#[test]
fn children_that_end_are_replaced() {
    for driver in DRIVERS {
        pass_in_child("isolated::ends::child_ends", Some(driver), &[], &["outlived"]);
    }
}

#[test]
fn children_on_cuda_that_end_are_replaced() {
    if asked(Need::Nvidia) {
        pass_in_child("isolated::ends::child_ends_on_cuda", None, &[], &["outlived"]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_ends_on_cuda() {
    ends(BackendChoice::Cuda);
}

#[test]
#[ignore = "run by a test above, in a process that sees one OpenCL driver"]
fn child_ends() {
    ends(BackendChoice::OpenCl);
}

fn ends(choice: BackendChoice) {
    let rounds = by_level(1, 2, 25);
    for (name, screen) in displays() {
        println!("{name:?}:");
        for harm in HARMS {
            // Such a fault can stop a GPU for all programs.
            if choice == BackendChoice::Cuda && matches!(harm.1, Harm::Kernel(2 | 3)) && !from(Level::Long) {
                continue;
            }
            let mut before = None;
            for round in 0..rounds {
                let mut link = frames::impatient(choice, &screen);
                ready(&mut link);
                outlive(&mut link, choice, harm, 300 + round);
                let child = link.child_id().unwrap();
                drop(link);
                wait_until("the end of the child", || !exists(child));
                assert!(!has_socket(), "a socket is left");
                let now = Usage::here().unwrap();
                if round == rounds / 2 {
                    before = Some(now);
                }
                if let Some(before) = before {
                    // Threads of the child before may not have ended when these were counted.
                    let is_no_more =
                        |now: Usage| now.descriptors <= before.descriptors && now.threads <= before.threads;
                    wait_until("no more descriptors and threads", || is_no_more(Usage::here().unwrap()));
                }
            }
        }
    }
}

/// The same device is tried once more, then the next one.
#[test]
fn a_device_that_fails_twice_gives_way_to_the_next() {
    pass_in_child("isolated::ends::child_fails_twice", Some(DRIVERS[0]), &[], &["gave way"]);
}

#[test]
#[ignore = "run by the test above, in a process that sees one OpenCL driver"]
fn child_fails_twice() {
    let trap = "
        __kernel void gone(PF_IMAGE(uchar4, out)) { __builtin_trap(); }";
    let wgsl = "
        @compute @workgroup_size(16, 16)
        fn gone(@builtin(global_invocation_id) id: vec3<u32>) { pf_store(id.xy, vec4(1.0, 0.0, 1.0, 1.0)); }";
    // SAFETY: the first text ends a process that exists for this.
    let kernel = unsafe { KernelSource::new("gone").opencl_c(trap) }.wgsl(wgsl);
    let (_, screen) = displays().next().unwrap();
    let mut link = frames::any(&screen, &kernel);
    let first = ready(&mut link);
    for _ in 0..2 {
        assert!(link.launch(&[&[]]).unwrap());
        assert!(matches!(event(&mut link, u64::MAX), IsolatedEvent::Lost { launches: 1, lost_writes: false, .. }));
        let next = ready(&mut link);
        println!("{first} -> {next}");
    }
    assert_ne!(link.device(), Some(&*first));
    assert!(link.launch(&[&[]]).unwrap());
    event(&mut link, 3);
    assert_eq!(shown(&mut link)[..4], [255, 0, 255, 255]);
    println!("{first} gave way to {:?}", link.device());
}

/// A text that overflows the stack of PoCL's compiler, beside one for OpenGL.
#[test]
fn a_compiler_that_crashes_gives_way_to_the_next() {
    pass_in_child("isolated::ends::child_compiler_crashes", Some(DRIVERS[0]), &[], &["gave way"]);
}

#[test]
#[ignore = "run by the test above, in a process that sees one OpenCL driver"]
fn child_compiler_crashes() {
    // Deeper than clang's stack. It counts nested brackets, but not these.
    let nested = format!("{}x", "~".repeat(1_000_000));
    let text = format!(
        "__kernel void deep(PF_IMAGE(uchar4, out)) {{ uint x = get_global_id(0); PF_STORE(out, {nested}, 0, 1); }}"
    );
    let wgsl = "
        @compute @workgroup_size(16, 16)
        fn deep(@builtin(global_invocation_id) id: vec3<u32>) { pf_store(id.xy, vec4(0.0, 1.0, 0.0, 1.0)); }";
    // SAFETY: no compiler of this test accepts the first text.
    let kernel = unsafe { KernelSource::new("deep").opencl_c(text) };
    let (_, screen) = displays().next().unwrap();
    let mut link = frames::any(&screen, &kernel.clone().wgsl(wgsl));
    for _ in 0..2 {
        match event(&mut link, 0) {
            IsolatedEvent::Lost { reason, .. } => println!("{reason}"),
            other => panic!("{other:?}"),
        }
    }
    println!("gave way to {}", ready(&mut link));
    assert!(link.launch(&[&[]]).unwrap());
    event(&mut link, 1);
    assert_eq!(shown(&mut link)[..4], [0, 255, 0, 255]);

    // Without another device, the error says what happened on this one.
    let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    let builder = LinkBuilder::new(desc).launch(&kernel, []).backend(BackendChoice::OpenCl);
    let mut link = builder.shown_by(&screen.display()).open_isolated(isolation()).unwrap();
    let told = loop {
        if let Err(error) = link.update(SOON) {
            break error.to_string();
        }
    };
    println!("{told}");
    assert!(told.contains("signal") && told.contains("opencl"), "{told}");
    assert!(link.update(SOON).is_err(), "it stays so");
}

/// What a child prints, and processes that it leaves with its output, do not hide how it ended.
#[test]
fn other_output_is_no_answer() {
    let screen = pixelferry::open_headless(pixelferry::DisplayChoice::Memory).unwrap();
    if need(Need::Egl, pixelferry::open_backend(BackendChoice::Gl, &[])).is_none() {
        return;
    }
    let isolation = isolation().with_command(|| {
        let mut command = std::process::Command::new("sh");
        // Latin-1, and a process that keeps the output open.
        command.args(["-c", "printf 'Ger\\344t\\n'; sleep 100 & exec \"$0\" \"$@\""]);
        command.arg(std::env::current_exe()?).args(super::CHILD);
        Ok(command)
    });
    let mut link = frames::opengl(&screen, isolation, &[1; 16]);
    ready(&mut link);
    let child = link.child_id().unwrap();
    kill_process(Pid::from_raw(child as i32).unwrap(), Signal::KILL).unwrap();
    match event(&mut link, 0) {
        IsolatedEvent::Lost { reason, .. } => assert!(reason.contains("signal: 9"), "{reason}"),
        other => panic!("{other:?}"),
    }
    ready(&mut link);
}

/// A child that takes nothing costs a bounded amount of memory.
#[test]
fn writes_to_a_stopped_child_end() {
    let screen = pixelferry::open_headless(pixelferry::DisplayChoice::Memory).unwrap();
    if need(Need::Egl, pixelferry::open_backend(BackendChoice::Gl, &[])).is_none() {
        return;
    }
    let mut link = frames::opengl(&screen, isolation(), &[1; MIB]);
    ready(&mut link);
    let child = Pid::from_raw(link.child_id().unwrap() as i32).unwrap();
    kill_process(child, Signal::STOP).unwrap();
    let mut written = 0;
    while link.write(0, 0, &[1; MIB]).unwrap() {
        written += 1;
        assert!(written <= 65, "more than 64 MiB");
    }
    kill_process(child, Signal::CONT).unwrap();
    wait_until("the child takes bytes", || link.write(0, 0, &[1; MIB]).unwrap());
    assert!(link.launch(&[&arguments(9, 0)]).unwrap());
    assert_eq!(event(&mut link, 1), IsolatedEvent::Frame { launch: 1 });
    assert!(shown(&mut link) == expected(9, &[1; 16]));
}
