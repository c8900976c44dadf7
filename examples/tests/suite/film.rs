//! A film through a kernel, compared with the host's calculation frame by frame.

use pixelferry::{BackendChoice, Extent, open_backend};
use pixelferry_examples::film::{edge, edges, made, record};
use pixelferry_media::film::Source;
use pixelferry_media::record::Output;
use pixelferry_tests::{Need, need};
use std::io::Cursor;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SIZE: Extent = Extent { width: 53, height: 31 };
const FRAMES: u32 = 5;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("film").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn source() -> Source {
    Source::y4m(Cursor::new(made(SIZE, FRAMES))).unwrap()
}

/// The edges of each frame, calculated here.
fn expected() -> Vec<Vec<u8>> {
    let mut source = source();
    let frames = std::iter::from_fn(|| source.next_frame().unwrap());
    let edges = frames.map(|frame| {
        let pixels: Vec<[u8; 4]> = frame.rgba().chunks(4).map(|pixel| pixel.try_into().unwrap()).collect();
        let places = (0..SIZE.height).flat_map(|y| (0..SIZE.width).map(move |x| (x, y)));
        places.flat_map(|(x, y)| edge(&pixels, SIZE, x, y)).collect()
    });
    edges.collect()
}

#[test]
fn edges_of_each_frame_are_those_of_the_host() {
    let expected = expected();
    assert!(expected.len() == FRAMES as usize && expected[0] != expected[1] && expected[0].iter().any(|v| *v > 100));
    for (backend, of) in [
        (BackendChoice::Cpu, None),
        (BackendChoice::OpenCl, Some(Need::OpenCl)),
        (BackendChoice::Gl, Some(Need::Egl)),
        (BackendChoice::Vulkan, Some(Need::Lavapipe)),
        (BackendChoice::Wgpu, Some(Need::Lavapipe)),
    ] {
        if of.is_some_and(|of| need(of, open_backend(backend, &[edges()])).is_none()) {
            continue;
        }
        let folder = folder(&format!("{backend:?}"));
        let output = Output::named(folder.join("%d.png")).unwrap();
        assert_eq!(record(source(), backend, output).unwrap().frames, u64::from(FRAMES), "{backend:?}");
        for (number, expected) in expected.iter().enumerate() {
            let found = image::open(folder.join(format!("{number}.png"))).unwrap().into_rgba8();
            let most = found.iter().zip(expected).map(|(found, expected)| found.abs_diff(*expected)).max();
            assert!(
                found.dimensions() == (SIZE.width, SIZE.height) && most <= Some(1),
                "{backend:?}, {number}: {most:?}"
            );
        }
        println!("RAN ON {backend:?}");
    }
}

/// Standard input is a film, and standard output another.
#[test]
fn a_film_goes_through_a_pipe() {
    let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    let mut command = Command::new(folder.join("film"));
    command.args(["-", "--out", "-", "--backend", "cpu"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &made(SIZE, FRAMES)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = Source::y4m(Cursor::new(output.stdout)).unwrap();
    for expected in expected() {
        let frame = found.next_frame().unwrap().unwrap();
        // Luma from 16 to 235 has fewer steps.
        let most = frame.rgba().iter().zip(&expected).map(|(found, expected)| found.abs_diff(*expected)).max();
        assert!(most <= Some(2), "{most:?}");
    }
    assert!(found.next_frame().unwrap().is_none());
}
