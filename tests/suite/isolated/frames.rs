//! Frames of a child are those of a link in the program.

use super::{DRIVERS, FIELD, arguments, event, expected, isolation, kernel, ready, shown};
use crate::forked::{forked, says_spawn};
use pixelferry::isolation::{IsolatedEvent, IsolatedLink, Isolation};
use pixelferry::{
    Argument, BackendChoice, BufferDesc, CpuBackend, CpuKernelExt as _, DisplayChoice, HeadlessDisplay, ImageDesc,
    InitialContent, KernelSource, LinkBuilder, PixelFormat, RowOrder, Scratch, SurfaceDesc, Unwritten,
};
use pixelferry_tests::{Need, asked, displays, in_child, need, pass_in_child};
use std::sync::Arc;
use std::time::Duration;

fn builder(choice: BackendChoice, screen: &HeadlessDisplay, table: &[u8]) -> LinkBuilder {
    let table = Scratch::Memory(InitialContent::Bytes(table.to_vec()));
    LinkBuilder::new(SurfaceDesc::image(FIELD, 32, PixelFormat::Rgba8))
        .launch(&kernel(), [Scratch::U32(0), table, Scratch::U32(0)])
        .backend(choice)
        .shown_by(&screen.display())
}

fn check(choice: BackendChoice) {
    let mut table = *b"0123456789abcdef";
    for (name, screen) in displays() {
        let mut link = builder(choice, &screen, &table).open_isolated(isolation()).unwrap();
        let device = ready(&mut link);
        assert_eq!(link.device(), Some(&*device));
        for number in 1..20 {
            assert!(link.launch(&[&arguments(number * 77, 0)]).unwrap(), "{name:?}: one is under way at most");
            assert_eq!(event(&mut link, u64::from(number)), IsolatedEvent::Frame { launch: u64::from(number) });
            assert!(shown(&mut link) == expected(number * 77, &table), "{name:?}, frame {number}");
            if number % 5 == 0 {
                table[number as usize % 16] ^= 0x55;
                let at = number as usize % 16;
                assert!(link.write(0, at, &table[at..=at]).unwrap());
            }
        }
        // The display shows the last frame until one of the new size comes.
        let larger =
            SurfaceDesc::Image(ImageDesc::new(FIELD, 48, PixelFormat::Rgba8).with_row_order(RowOrder::BottomUp));
        link.resize(larger).unwrap();
        assert_eq!(link.link().read_back().unwrap().len(), 4 * 32 * FIELD as usize);
        assert!(link.launch(&[&arguments(5, 0)]).unwrap());
        assert_eq!(event(&mut link, 20), IsolatedEvent::Frame { launch: 20 });
        assert_eq!(*link.link().desc(), larger.with_unwritten(Unwritten::Overwrite));
        assert!(shown(&mut link) == expected(5, &table), "{name:?}, the new size");
        println!("frames of a child on {device} were right on {name:?}");
    }
}

/// Rows count from the side that the surface says.
#[test]
fn the_first_row_is_the_same_as_in_the_program() {
    let text = "
        @compute @workgroup_size(16, 16)
        fn rows(@builtin(global_invocation_id) id: vec3<u32>) { pf_store(id.xy, vec4(f32(id.y) / 255.0)); }";
    let rows = KernelSource::new("rows").wgsl(text);
    for order in [RowOrder::TopDown, RowOrder::BottomUp] {
        let desc = SurfaceDesc::Image(ImageDesc::new(16, 16, PixelFormat::R8).with_row_order(order));
        let builder =
            || LinkBuilder::new(desc).launch(&rows, []).display(DisplayChoice::Memory).backend(BackendChoice::Gl);
        let Some(mut here) = need(Need::Egl, builder().open()) else { return };
        here.link.frame(|frame| frame.launch(here.kernels[0].as_ref(), &[])).unwrap();
        let mut isolated = builder().open_isolated(isolation()).unwrap();
        ready(&mut isolated);
        assert!(isolated.launch(&[&[]]).unwrap());
        event(&mut isolated, 1);
        assert_eq!(isolated.link().read_back().unwrap(), here.link.read_back().unwrap(), "{order:?}");
    }
}

#[test]
fn on_opencl() {
    for driver in DRIVERS {
        pass_in_child("isolated::frames::child_opencl", Some(driver), &[], &["frames of a child on"]);
    }
}

#[test]
#[ignore = "run by the test above, in a process that sees one OpenCL driver"]
fn child_opencl() {
    check(BackendChoice::OpenCl);
}

#[test]
fn on_opengl() {
    check(BackendChoice::Gl);
}

#[test]
fn on_cuda() {
    if asked(Need::Nvidia) {
        check(BackendChoice::Cuda);
    }
}

#[test]
fn what_no_child_can_compute_is_refused() {
    let desc = SurfaceDesc::image(4, 4, PixelFormat::R8);
    let builder = || LinkBuilder::new(desc).display(DisplayChoice::Memory);
    let refusal = |builder: LinkBuilder| builder.open_isolated(isolation()).err().map(|error| error.to_string());
    let closure = KernelSource::new("closure").cpu_image(|out, _| out.par_pixels(|_, _| [7]));
    let table = [
        (builder().launch(&closure, []), "has no text"),
        (builder(), "no kernel was declared"),
        (builder().launch(&kernel(), []).computed_by(&(Arc::new(CpuBackend::new().unwrap()) as _)), "stays in its"),
        (builder().launch(&kernel(), []).backend(BackendChoice::Cpu), "no backend takes these kernels"),
    ];
    for (builder, part) in table {
        let told = refusal(builder);
        assert!(told.as_ref().is_some_and(|told| told.contains(part)), "{part}: {told:?}");
    }
}

#[test]
fn invalid_calls_are_refused_and_lose_nothing() {
    let screen = pixelferry::open_headless(DisplayChoice::Memory).unwrap();
    let table = [9; 16];
    let mut link = builder(BackendChoice::Gl, &screen, &table).open_isolated(isolation()).unwrap();
    assert!(!link.launch(&[&arguments(1, 0)]).unwrap(), "no child is ready");
    let told = |told: Result<bool, pixelferry::Error>| told.unwrap_err().to_string();
    let number = Argument::U32(0);
    assert!(told(link.launch(&[])).contains("1 kernels are declared"));
    assert!(told(link.launch(&[&[number, number, number]])).contains("(u32, u32, u32)"));
    assert!(told(link.write(1, 0, &[])).contains("memory 1 was not declared"));
    assert!(told(link.write(0, 8, &[0; 9])).contains("8..17"));
    link.resize(SurfaceDesc::buffer(64)).unwrap_err();
    link.resize(SurfaceDesc::Image(ImageDesc::new(0, 1, PixelFormat::Rgba8))).unwrap_err();
    if need(Need::Egl, pixelferry::open_backend(BackendChoice::Gl, &[])).is_none() {
        return;
    }
    ready(&mut link);
    assert!(link.launch(&[&arguments(3, 0)]).unwrap() && link.launch(&[&arguments(4, 0)]).unwrap());
    event(&mut link, 2);
    assert!(shown(&mut link) == expected(4, &table));
}

/// A program that forgot `serve_child` would otherwise start itself without end.
#[test]
fn a_child_opens_no_isolated_link() {
    let child = in_child("isolated::frames::child_of_a_child", None, &[("PIXELFERRY_ISOLATED_CHILD", "1")]);
    println!("{}", child.unwrap().passed());
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_of_a_child() {
    let screen = pixelferry::open_headless(DisplayChoice::Memory).unwrap();
    let told = builder(BackendChoice::Gl, &screen, &[0; 16]).open_isolated(isolation()).unwrap_err().to_string();
    assert!(told.contains("serve_child"), "{told}");
}

/// Surfaces that a child or the display cannot have are refused, and frames of an earlier surface are left out.
#[test]
fn surfaces_change_between_frames() {
    let screen = pixelferry::open_headless(DisplayChoice::Memory).unwrap();
    if need(Need::Egl, pixelferry::open_backend(BackendChoice::Gl, &[])).is_none() {
        return;
    }
    let table = *b"0123456789abcdef";
    let mut link = builder(BackendChoice::Gl, &screen, &table).open_isolated(isolation()).unwrap();
    ready(&mut link);
    let mut launched = 0;
    let mut frame = |link: &mut IsolatedLink, number: u32| {
        launched += 1;
        assert!(link.launch(&[&arguments(number, 0)]).unwrap());
        assert_eq!(event(link, launched), IsolatedEvent::Frame { launch: launched });
    };
    frame(&mut link, 1);
    // The same size in another format.
    let swapped = SurfaceDesc::image(FIELD, 32, PixelFormat::Bgra8);
    link.resize(swapped).unwrap();
    link.resize(SurfaceDesc::image(0, 0, PixelFormat::Bgra8)).unwrap();
    frame(&mut link, 2);
    let mut right = expected(2, &table);
    right.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    assert!(shown(&mut link) == right);
    // More than the child's device has, but not more than memory.
    link.resize(SurfaceDesc::image(20_000, 8, PixelFormat::Rgba8)).unwrap();
    assert!(link.launch(&[&arguments(3, 0)]).unwrap());
    let told = loop {
        match link.update(Duration::from_millis(50)) {
            Err(error) => break error.to_string(),
            Ok(event) => assert!(!matches!(event, IsolatedEvent::Lost { .. }), "{event:?}"),
        }
    };
    println!("{told}");
    // Of the surface before.
    assert!(link.launch(&[&arguments(4, 0)]).unwrap());
    assert_eq!(event(&mut link, 4), IsolatedEvent::Frame { launch: 4 });
    assert_eq!(*link.link().desc(), swapped.with_unwritten(Unwritten::Overwrite));
    assert!(link.resize(SurfaceDesc::image(u32::MAX, 1, PixelFormat::Rgba8)).is_err());
}

/// The rule for what a frame leaves unwritten stays with the child.
#[test]
fn buffers_are_shown_with_any_rule() {
    let text = "
        @compute @workgroup_size(64)
        fn count(@builtin(global_invocation_id) id: vec3<u32>) {
            if (pf_index(id) < pf_items()) { pf_put(pf_index(id), pf_index(id) * 3u); }
        }";
    for rule in [Unwritten::Keep, Unwritten::Overwrite] {
        let desc = SurfaceDesc::Buffer(BufferDesc::new(4096).with_unwritten(rule));
        let builder = LinkBuilder::new(desc).launch(&KernelSource::new("count").wgsl(text), []);
        let builder = builder.display(DisplayChoice::Memory).backend(BackendChoice::Gl);
        if need(Need::Egl, builder.clone().open()).is_none() {
            return;
        }
        let mut link = builder.open_isolated(isolation()).unwrap();
        ready(&mut link);
        assert!(link.launch(&[&[]]).unwrap());
        assert_eq!(event(&mut link, 1), IsolatedEvent::Frame { launch: 1 });
        let words: Vec<u8> = (0..1024_u32).flat_map(|word| (word * 3).to_le_bytes()).collect();
        assert!(link.link().read_back().unwrap() == words, "{rule:?}");
    }
}

/// Used by the tests of ends, too.
pub fn opengl(screen: &HeadlessDisplay, isolation: Isolation, table: &[u8]) -> IsolatedLink {
    builder(BackendChoice::Gl, screen, table).open_isolated(isolation).unwrap()
}

/// A link whose child may take 2 s for a frame.
pub fn impatient(choice: BackendChoice, screen: &HeadlessDisplay) -> IsolatedLink {
    builder(choice, screen, &[1; 16]).open_isolated(isolation().with_limit(Duration::from_secs(2))).unwrap()
}

pub fn any(screen: &HeadlessDisplay, kernel: &KernelSource) -> IsolatedLink {
    let desc = SurfaceDesc::image(FIELD, 32, PixelFormat::Rgba8);
    LinkBuilder::new(desc).launch(kernel, []).shown_by(&screen.display()).open_isolated(isolation()).unwrap()
}

/// A forked process refuses, and leaves the child to its parent.
#[test]
fn a_forked_process_leaves_the_child_alone() {
    pass_in_child("isolated::frames::child_forks", None, &[], &["refused"]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_forks() {
    let screen = pixelferry::open_headless(DisplayChoice::Memory).unwrap();
    if need(Need::Egl, pixelferry::open_backend(BackendChoice::Gl, &[])).is_none() {
        return;
    }
    let mut link = std::mem::ManuallyDrop::new(opengl(&screen, isolation(), &[1; 16]));
    ready(&mut link);
    let code = forked(|| {
        let refused = says_spawn("a launch", link.launch(&[&arguments(1, 0)]))
            & says_spawn("an update", link.update(Duration::ZERO))
            & says_spawn("memory", link.write(0, 0, &[1]))
            & says_spawn("a size", link.resize(SurfaceDesc::image(8, 8, PixelFormat::Rgba8)));
        // SAFETY: the parent's copy is dropped below, and the child's here: two processes.
        drop(unsafe { std::ptr::read(&raw const *link) });
        i32::from(!refused)
    });
    assert_eq!(code, 0);
    let mut link = std::mem::ManuallyDrop::into_inner(link);
    assert!(link.launch(&[&arguments(7, 0)]).unwrap());
    assert_eq!(event(&mut link, 1), IsolatedEvent::Frame { launch: 1 });
    println!("a forked process was refused");
}
