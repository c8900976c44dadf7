//! Films of the demo and of the viewer's window, and what is said where there is none.

use crate::view::{ends, wait_for};
use crate::window::RunningChild;
use crate::{pixelferry, texts};
use image::RgbaImage;
use pixelferry::Extent;
use pixelferry_media::yuv::Frames;
use pixelferry_tests::{Need, Viewer, Xvfb, need};
use std::path::{Path, PathBuf};
use std::process::Output;

const SIZE: Extent = Extent { width: 64, height: 48 };

/// An empty folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Records plasma by threads, five frames a second, without a window.
fn recorded(output: &Path, frames: &str) -> Output {
    let output = output.to_str().unwrap();
    let asked = ["--record", output, "--rate", "5", "--frames", frames, "--size", "64x48", "--backend", "cpu"];
    pixelferry(&[&["demo", "plasma", "--headless"], &asked[..]].concat()).output().unwrap()
}

#[test]
fn every_kind_of_film_has_the_frames_in_order() {
    let folder = folder("kinds");
    let output = recorded(&folder.join("%03d.png"), "12");
    let [out, err] = texts(&output);
    assert!(output.status.success() && out.contains("recorded 12 frames to "), "{out}{err}");
    let yuv = Frames::new(SIZE, 5);
    let mut expected = yuv.header().into_bytes();
    let mut before = RgbaImage::new(0, 0);
    for frame in 0..12 {
        let picture = image::open(folder.join(format!("{frame:03}.png"))).unwrap().into_rgba8();
        assert!(picture.dimensions() == (64, 48) && picture != before, "frame {frame} moves");
        yuv.put(&picture, &mut expected);
        before = picture;
    }
    let raw = folder.join("film.y4m");
    assert!(recorded(&raw, "12").status.success());
    assert!(std::fs::read(&raw).unwrap() == expected, "a file, byte for byte");
    let piped = recorded(Path::new("-"), "12");
    assert!(piped.stdout == expected && String::from_utf8_lossy(&piped.stderr).contains("recorded 12 frames"));
}

#[cfg(feature = "play")]
#[test]
fn a_text_that_is_played_is_recorded_frame_by_frame() {
    let folder = folder("played");
    let text = folder.join("grey.glsl");
    let grey = "void mainImage(out vec4 colour, in vec2 at) { colour = vec4(vec3(iTime * 10.0 / 255.0), 1.0); }";
    std::fs::write(&text, grey).unwrap();
    let film = folder.join("film.y4m");
    let asked = ["--headless", "--frames", "8", "--size", "64x48", "--step", "1", "--record"];
    let mut play = pixelferry(&[&["play", text.to_str().unwrap()], &asked[..], &[film.to_str().unwrap()]].concat());
    let output = play.output().unwrap();
    let [out, err] = texts(&output);
    assert!(output.status.success() && out.contains("recorded 8 frames"), "{out}{err}");
    let (size, found) = middles(&std::fs::read(film).unwrap());
    let expected: Vec<u8> = (0..8).map(|second| (16.5 + f64::from(second * 10) / 255.0 * 219.0) as u8).collect();
    assert_eq!((size, found), (SIZE, expected));
}

#[test]
fn what_is_no_film_is_said_before_anything_is_computed() {
    let folder = folder("refused");
    for (name, status, said) in [
        ("film.gif", 2, "use .mp4"),
        ("film.png", 2, "put %05d"),
        ("%d%d.png", 2, "put %05d"),
        ("absent/film.y4m", 1, "No such file"),
    ] {
        let output = recorded(&folder.join(name), "1");
        let [out, err] = texts(&output);
        assert!(output.status.code() == Some(status) && err.contains(said), "{name}: {out}{err}");
        assert!(!out.contains("image 64x48"), "{out}");
    }
    let output = pixelferry(&["demo", "--rate", "5"]).output().unwrap();
    assert!(texts(&output)[1].contains("--record"));
}

#[test]
fn a_full_disk_and_a_closed_pipe_are_said() {
    let folder = folder("full");
    let full = folder.join("full.y4m");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let output = recorded(&full, "30");
    let [out, err] = texts(&output);
    assert!(output.status.code() == Some(1) && err.contains("No space left on device"), "{out}{err}");
    let mut child = pixelferry(&["demo", "plasma", "--headless", "--record", "-", "--frames", "500"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && err.contains("standard output: Broken pipe"), "{err}");
}

/// The luma of the middle pixel of each frame of a Y4M film, and its size.
fn middles(film: &[u8]) -> (Extent, Vec<u8>) {
    let end = film.iter().position(|byte| *byte == b'\n').unwrap();
    let header = std::str::from_utf8(&film[..end]).unwrap();
    let side = |name| header.split(' ').find_map(|word| word.strip_prefix(name)?.parse().ok()).unwrap();
    let size = Extent::new(side('W'), side('H'));
    let bytes = 6 + 3 * size.pixels() as usize;
    let frames = film[end + 1..].chunks(bytes);
    (size, frames.map(|frame| frame[6 + (size.height / 2 * size.width + size.width / 2) as usize]).collect())
}

#[test]
fn a_window_is_recorded_as_it_was_shown() {
    let folder = folder("window");
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 768)) else { return };
    let asked = ["--record", "w.y4m", "--rate", "30", "--frames", "20", "--size", "320x200", "--backend", "cpu"];
    for step in [true, false] {
        let mut demo = pixelferry(&[&["demo", "plasma"], &asked[..]].concat());
        demo.args(step.then_some("--step")).env("DISPLAY", server.display()).current_dir(&folder);
        let output = demo.output().unwrap();
        let [out, err] = texts(&output);
        assert!(output.status.success() && out.contains("recorded "), "{out}{err}");
        let (size, found) = middles(&std::fs::read(folder.join("w.y4m")).unwrap());
        assert_eq!(size, Extent::new(320, 200));
        assert!(!found.is_empty() && (!step || found.len() == 20), "{}: {out}", found.len());
    }
    // A picture that stays is in the film for as long as it stayed.
    let picture = folder.join("grey.png");
    RgbaImage::from_pixel(640, 480, image::Rgba([200, 200, 200, 255])).save(&picture).unwrap();
    let viewer = Viewer::of(server.display()).unwrap();
    let film = folder.join("v.y4m");
    let asked = ["view", picture.to_str().unwrap(), "--record", film.to_str().unwrap(), "--rate", "20"];
    let mut window = RunningChild::start(&asked, &server);
    wait_for(&mut window, &viewer, "the picture", |at| at(320, 240) == [200; 3]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    viewer.focus((5, 5)).unwrap();
    ends(&mut window, &viewer);
    let (_, found) = middles(&std::fs::read(film).unwrap());
    // 200 of 255 from 16 to 235.
    assert!(found.len() >= 10 && found.last() == Some(&188), "{found:?}");
}
