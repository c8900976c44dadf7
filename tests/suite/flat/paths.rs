//! Thousands of frames (or `PIXELFERRY_FRAMES`) and 200 resizes (or `PIXELFERRY_RESIZES`) by every path.

use super::{ResourceUse, desc, on, sides};
use pixelferry::{Arg, Link, LinkOptions, PathId, Policy};
use pixelferry_tests::{Need, asked, by_level, has_path, number, ramp, wait_until};
use std::sync::Arc;

const RSS_SLACK: u64 = 6 << 20;

/// All paths, or those whose names `PIXELFERRY_PATHS` lists.
fn wanted(path: PathId) -> bool {
    std::env::var("PIXELFERRY_PATHS").map_or(true, |list| list.split(',').any(|name| name == path.name()))
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child() {
    let frames = number("PIXELFERRY_FRAMES", by_level(800, 4_000, 50_000));
    let frames_per_resize = (frames / number("PIXELFERRY_RESIZES", by_level(100, 200, 200))).max(1);
    // Drivers fill caches in the beginning, one of them for a hundred resizes.
    let warm_up = frames / 2;
    let Some((backend, screen)) = sides() else { return };
    let used = || ResourceUse::now(Some(&screen));
    // Of links, and not of the display, which keeps the tools it draws with. What was dropped elsewhere goes with a later call.
    let of_links = || {
        screen.display().finish().unwrap();
        let counts = screen.gl().map(|gl| gl.object_counts());
        counts.map(|counts| (counts.textures, counts.buffers, counts.syncs, counts.memory_objects))
    };
    // The largest size is seen in the warm-up.
    let desc = |size: u32| desc(64 + 16 * (size % 4), 48);
    let kernel = backend.build(&ramp()).unwrap();
    let mut ran = 0;
    for path in PathId::ALL.into_iter().filter(|path| wanted(*path)) {
        let open = || {
            let options = LinkOptions::new(Policy::default().with_force(path));
            Link::open(Arc::clone(&backend), screen.display(), desc(0), options)
        };
        let nothing_open = of_links();
        // Tools are made for the first frame of their kind.
        let Some(mut first) = has_path(backend.as_ref(), path, open()) else { continue };
        first.acquire().unwrap().finish().unwrap();
        first.read_back().unwrap();
        drop(first);
        let mut link = open().unwrap();
        let mut before = None;
        for frame in 0..frames {
            if frame % frames_per_resize == 0 {
                link.resize(desc(frame / frames_per_resize)).unwrap();
            }
            let mut next = link.acquire().unwrap();
            next.launch(kernel.as_ref(), &[Arg::U32(frame)]).unwrap();
            next.finish().unwrap();
            // A viewer looks now and then.
            if frame % 250 == 249 {
                link.flush().unwrap();
                assert_eq!(link.read_back().unwrap()[2], frame as u8, "{path}: a stale frame");
            }
            if frame == warm_up {
                before = Some(used());
            }
        }
        // At the same size as when it was measured before.
        link.resize(desc(warm_up / frames_per_resize)).unwrap();
        link.acquire().unwrap().finish().unwrap();
        used().judge(before.unwrap(), RSS_SLACK, path.name());
        drop(link);
        println!("{path}: GL objects {nothing_open:?} before, {:?} after", of_links());
        // A driver's thread may keep memory a little longer.
        wait_until(&format!("{path}: the end of the link's GL objects"), || of_links() == nothing_open);
        ran += 1;
    }
    assert!(ran > 0, "no path could be run");
    println!("FLAT ON {ran} PATHS");
}

fn on_nvidia(backend: &str) {
    if asked(Need::Nvidia) {
        on("paths::child", backend, None, "gl");
    }
}

pixelferry_tests::tests! {
    threads => on("paths::child", "threads", None, "gl");
    pocl => on("paths::child", "opencl", Some(Need::Pocl), "gl");
    rusticl => on("paths::child", "opencl", Some(Need::Rusticl), "gl");
    cuda => on_nvidia("cuda");
    opencl_of_nvidia => on_nvidia("opencl");
}
