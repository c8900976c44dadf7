//! Children of the command, which are gone when it is: decoders of videos, and the processes of `play`'s trials.

use crate::pixelferry;
use crate::window::RunningChild;
use pixelferry_tests::{Need, Xvfb, need, wait_until};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder with programs of GStreamer's names: its decoder gives one picture, 4x2 and grey, and then hangs.
fn gstreamer(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("children").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let packet = |kind: u8, bytes: &[u8]| {
        let mut header = [0; 62];
        (header[0], header[5]) = (1, kind);
        header[6..10].copy_from_slice(&(bytes.len() as u32).to_be_bytes());
        [&header[..], bytes].concat()
    };
    let caps = b"video/x-raw, format=(string)I420, width=(int)4, height=(int)2, framerate=(fraction)25/1";
    std::fs::write(folder.join("picture"), [packet(2, caps), packet(1, &[128; 16])].concat()).unwrap();
    let launch = format!("cd '{}' && echo $$ >> started && cat picture && exec sleep 600", folder.display());
    for (name, script) in [("gst-inspect-1.0", "exit 0"), ("gst-launch-1.0", &launch)] {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn path(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// What runs of the children of a process; zombies, which an orphan may stay, do not.
fn running(processes: &[u32]) -> Vec<u32> {
    let runs = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        state.is_some_and(|state| !"ZX".contains(state))
    };
    processes.iter().copied().filter(runs).collect()
}

fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let texts = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    texts.flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

fn started(folder: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(folder.join("started")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn a_decoder_that_hangs_ends_with_the_command() {
    let folder = gstreamer("return");
    let film = folder.join("film.mp4");
    std::fs::write(&film, "\0\0\0\x18ftypisom\0\0\0\0isommp42").unwrap();
    let output =
        pixelferry(&["view", film.to_str().unwrap(), "--explain"]).env("PATH", path(&folder)).output().unwrap();
    assert!(output.status.success(), "{}", crate::texts(&output)[1]);
    let decoders = started(&folder);
    assert_eq!(decoders.len(), 1);
    wait_until("the decoder's end", || running(&decoders).is_empty());
}

#[test]
fn children_end_with_a_window_that_is_killed() {
    let folder = gstreamer("killed");
    let (film, text) = (folder.join("film.mp4"), folder.join("grey.glsl"));
    std::fs::write(&film, "\0\0\0\x18ftypisom\0\0\0\0isommp42").unwrap();
    std::fs::write(&text, "void mainImage(out vec4 c, in vec2 at) { c = vec4(0.5); }").unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(640, 480)) else { return };
    for (command, file) in [("view", &film), ("play", &text)] {
        for signal in ["-KILL", "-TERM"] {
            let mut window = pixelferry(&[command, file.to_str().unwrap()]);
            window.env("DISPLAY", server.display()).env("PATH", path(&folder)).stderr(Stdio::null());
            let mut window = RunningChild(window.spawn().unwrap());
            let id = window.0.id();
            wait_until("a child", || window.0.try_wait().unwrap().is_some() || !children(id).is_empty());
            let all = children(id);
            if all.is_empty() {
                need(Need::Egl, Err::<(), _>(format!("{command} opens no window")));
                break;
            }
            assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
            window.0.wait().unwrap();
            wait_until(&format!("the end of {command}'s children, {signal}"), || running(&all).is_empty());
        }
    }
}
