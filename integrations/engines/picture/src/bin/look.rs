//! Runs a program, waits until its window shows the picture's last frame, and ends it: `look picture.png program
//! [arguments]`. Prints the path that the program reported, and how many of the window's pixels were right.

use engine_picture::{LAST_FRAME, WINDOW, window};
use image::ImageBuffer;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat, ImageOrder};
use x11rb::rust_connection::RustConnection;

/// At the first start, drivers build their shaders, and machines may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

struct RunningChild(Child);

impl Drop for RunningChild {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Captures the pixels of the window of that size, RGBA, top row first; `None` before there is one.
fn shoot(server: &RustConnection, screen: usize) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    let setup = server.setup();
    let root = setup.roots.get(screen).ok_or("no screen")?.root;
    let (width, height) = (WINDOW.width as u16, WINDOW.height as u16);
    for child in server.query_tree(root)?.reply()?.children {
        let Ok(place) = server.get_geometry(child)?.reply() else { continue };
        if (place.width, place.height) != (width, height) {
            continue;
        }
        // Fails until the window is mapped.
        let Ok(shot) = server.get_image(ImageFormat::Z_PIXMAP, child, 0, 0, width, height, !0)?.reply() else {
            continue;
        };
        if setup.image_byte_order != ImageOrder::LSB_FIRST || ![24, 32].contains(&shot.depth) {
            return Err(format!("pixels of {} bits in another order than this program reads", shot.depth).into());
        }
        return Ok(Some(shot.data.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0], 255]).collect()));
    }
    Ok(None)
}

fn right(found: &[u8], expected: &[u8]) -> usize {
    found.chunks_exact(4).zip(expected.chunks_exact(4)).filter(|(a, b)| a == b).count()
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(file), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("look picture.png program [arguments]".into());
    };
    let mut child = RunningChild(Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?);
    let (tell, told) = mpsc::channel();
    let output = child.0.stdout.take().ok_or("no output")?;
    // Read to the end, so that the program never blocks on its output.
    thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).for_each(|line| drop(tell.send(line))));

    let (server, screen) = x11rb::connect(None)?;
    let (expected, began) = (window(LAST_FRAME), Instant::now());
    let (mut last, mut ended) = (None, None);
    while began.elapsed() < PATIENCE && ended.is_none() {
        thread::sleep(Duration::from_millis(100));
        last = shoot(&server, screen)?.or(last);
        if last.as_ref().is_some_and(|found| *found == expected) {
            break;
        }
        ended = child.0.try_wait()?;
    }
    drop(child);
    let found = last.ok_or_else(|| match ended {
        Some(status) => format!("the program ended before it had a window: {status}"),
        None => format!("no window of {WINDOW} pixels in {PATIENCE:?}"),
    })?;
    let (right, all) = (right(&found, &expected), WINDOW.pixels());
    let path = told.try_recv().unwrap_or_else(|_| "it reported no path".into());
    println!("{path} | {right} of {all}");
    let picture =
        ImageBuffer::from_raw(WINDOW.width, WINDOW.height, found).ok_or("the server returned too few pixels")?;
    pixelferry::save_rgba8(picture, Path::new(&file))?;
    Ok(if right as u64 == all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
