//! `pixelferry view`: pictures of arrays by their definition, files that are no arrays, and a window in which a user looks closely.

use crate::window::RunningChild;
use crate::{pixelferry, texts};
use image::{Rgba, RgbaImage};
use pixelferry_tests::{Need, Patience, Rgb, Viewer, Xvfb, need};
use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

pub const SIDES: (u32, u32) = (64, 48);
/// The window, where the array is smaller.
const WINDOW: (u16, u16) = (640, 480);

pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("view").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The number of a pixel.
fn number(x: u32, y: u32) -> f64 {
    3.0 * (f64::from(x) / 6.0).sin() * (f64::from(y) / 7.0).cos()
}

/// A file as `numpy.save` writes it, its numbers given in the order of the file.
fn npy(descr: &str, is_fortran: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
    npy_of(&format!("'{descr}'"), is_fortran, shape, numbers)
}

/// A file whose `descr` is any literal.
fn npy_of(descr: &str, is_fortran: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    file.extend(header.bytes());
    file.extend(numbers);
    file
}

fn singles() -> Vec<u8> {
    let (width, height) = SIDES;
    let numbers = (0..height).flat_map(|y| (0..width).flat_map(move |x| (number(x, y) as f32).to_le_bytes()));
    npy("<f4", false, "(48, 64)", &numbers.collect::<Vec<_>>())
}

/// Column after column, in another machine's byte order.
fn foreign_doubles() -> Vec<u8> {
    let (width, height) = SIDES;
    let numbers = (0..width).flat_map(|x| (0..height).flat_map(move |y| number(x, y).to_be_bytes()));
    npy(">f8", true, "(48, 64)", &numbers.collect::<Vec<_>>())
}

/// A video of so many frames, each of one level of grey, 3 more than the one before.
fn video(frames: u8) -> Vec<u8> {
    let (width, height) = SIDES;
    let luma = (width * height) as usize;
    let mut file = b"YUV4MPEG2 W64 H48 F8:1 Ip C420jpeg XCOLORRANGE=FULL\n".to_vec();
    for frame in 0..frames {
        file.extend(b"FRAME\n");
        file.extend(vec![3 * frame; luma]);
        file.extend(vec![128; luma / 2]);
    }
    file
}

fn saved(file: &Path, input: Option<&[u8]>, options: &[&str]) -> RgbaImage {
    let out = file.with_extension("out.png");
    let file = if input.is_some() { Path::new("-") } else { file };
    let mut command = pixelferry(&["view", file.to_str().unwrap(), "--save", out.to_str().unwrap()]);
    let mut running = command.args(options).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(input.unwrap_or_default()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", texts(&output)[1]);
    let picture = image::open(&out).unwrap().into_rgba8();
    std::fs::remove_file(out).unwrap();
    picture
}

fn assert_near(picture: &RgbaImage, wanted: impl Fn(u32, u32) -> f64) {
    assert_eq!(picture.dimensions(), SIDES);
    for (x, y, Rgba(pixel)) in picture.enumerate_pixels() {
        let level = (wanted(x, y).clamp(0.0, 1.0) * 255.0).round();
        let is_near = pixel[..3].iter().all(|part| (f64::from(*part) - level).abs() <= 1.0);
        assert!(is_near && pixel[3] == 255, "{pixel:?} at {x}, {y}, and not {level}");
    }
}

#[test]
fn saved_pictures_are_those_of_the_definition() {
    let folder = folder("saved");
    for (name, file) in [("a.npy", singles()), ("b.npy", foreign_doubles())] {
        let path = folder.join(name);
        std::fs::write(&path, &file).unwrap();
        let over = |x, y| (number(x, y) + 1.0) / 3.0;
        assert_near(&saved(&path, None, &["--range", "-1,2"]), over);
        assert_near(&saved(&path, Some(&file), &["--range", "-1,2"]), over);
        let bright = saved(&path, None, &["--range", "-1,2", "--exposure", "1", "--gamma", "2"]);
        assert_near(&bright, |x, y| (2.0 * over(x, y)).max(0.0).sqrt());
        let colours = saved(&path, None, &["--range", "-9,0", "--colormap", "viridis"]);
        // The last colour of the map.
        assert!(colours.enumerate_pixels().all(|(x, y, pixel)| number(x, y) < 0.0 || pixel.0 == [253, 231, 37, 255]));
        let turned = saved(&path, None, &["--layout", "WH", "--range", "-1,2"]);
        assert_eq!(
            image::imageops::rotate90(&image::imageops::flip_vertical(&turned)),
            saved(&path, None, &["--range", "-1,2"])
        );
    }
}

#[test]
fn a_picture_that_is_viewed_is_itself() {
    let path = folder("itself").join("a.png");
    let picture = RgbaImage::from_fn(20, 10, |x, y| Rgba([x as u8, y as u8, (x * y) as u8, 255]));
    picture.save(&path).unwrap();
    assert!(saved(&path, None, &[]) == picture && saved(&path, Some(&std::fs::read(&path).unwrap()), &[]) == picture);
    let red = saved(&path, None, &["--channel", "0"]);
    assert!(red.enumerate_pixels().all(|(x, _, pixel)| pixel.0 == [x as u8, x as u8, x as u8, 255]));
}

#[test]
fn of_a_video_the_first_frame_is_saved() {
    let (path, file) =
        (folder("video").join("a.y4m"), video(3).iter().map(|byte| byte.max(&8)).copied().collect::<Vec<_>>());
    std::fs::write(&path, &file).unwrap();
    for input in [None, Some(&file[..])] {
        assert!(saved(&path, input, &[]).pixels().all(|pixel| pixel.0 == [8, 8, 8, 255]));
    }
}

#[test]
fn a_user_pauses_a_video_and_steps() {
    let path = folder("video").join("played.y4m");
    std::fs::write(&path, video(60)).unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let mut window = RunningChild::start(&["view", path.to_str().unwrap(), "--keep", "60"], &server);
    wait_for(&mut window, &viewer, "playing", |at| at(325, 205) >= [3; 3] && at(325, 205)[0] % 3 == 0);
    viewer.focus((5, 5)).unwrap();
    viewer.point((165, 315)).unwrap();
    wait_for(&mut window, &viewer, "pointer in a video", |at| bright(at, 455..480) > 400);
    // Space, comma, full stop. Frames that were on their way may come with the pause, so the steps begin at the first one.
    viewer.key(65).unwrap();
    wait_for(&mut window, &viewer, "paused", |at| bright(at, 0..20) > 60);
    (0..60).for_each(|_| viewer.key(59).unwrap());
    let steps = [
        (None, "the first frame", 0),
        (Some(60), "one after", 3),
        (Some(60), "two after", 6),
        (Some(59), "one before", 3),
    ];
    for (key, name, wanted) in steps {
        key.into_iter().for_each(|key| viewer.key(key).unwrap());
        wait_for(&mut window, &viewer, name, |at| at(325, 205) == [wanted; 3] && bright(at, 0..20) > 60);
    }
    viewer.key(65).unwrap();
    wait_for(&mut window, &viewer, "the last frame", |at| at(325, 205) == [177; 3] && bright(at, 0..20) == 0);
    ends(&mut window, &viewer);
}

#[test]
fn files_that_are_no_arrays_end_with_a_line_that_says_so() {
    let folder = folder("wrong");
    let good = singles();
    let cut = |bytes: usize| good[..bytes].to_vec();
    let with = |descr: &str, shape: &str| npy(descr, false, shape, &[0; 64]);
    let files: [(Vec<u8>, &str); 21] = [
        (video(2)[..200].to_vec(), "ends at byte 200, within frame 0"),
        (b"YUV4MPEG2 W64 H48 C420p10\n".to_vec(), "\"420p10\""),
        (b"PK\x03\x04 an archive".to_vec(), ".npz"),
        (Vec::new(), "neither a NumPy array"),
        (cut(6), "invalid .npy header"),
        (cut(9), "invalid .npy header"),
        (cut(40), "invalid .npy header"),
        (cut(good.len() - 1), "needs 12288, but there are 12287"),
        (with("|O", "(8,)"), "non-numeric elements"),
        (with("<U4", "(2, 2)"), "non-numeric elements"),
        (with("<f16", "(2, 2)"), "128 bits"),
        (with("<f4", "(4000000000, 4000000000)"), "larger than any memory"),
        (with("<f4", "(40000, 40000)"), "needs 6400000000, but"),
        (with("<f4", "(99999999999999999999,)"), "non-negative integer"),
        (with("<f4", "(-1, 4)"), "non-negative integer"),
        (npy("<f4", false, "(0, 4)", &[]), "is empty"),
        (npy("<f4", false, "(4,)", &[0; 16]), "x[None, :]"),
        (with("<f4", &"(".repeat(60000)), "invalid entry"),
        (with("<f4", "(3,,)"), "non-negative integer"),
        (npy_of("[('a', '<f4'), ('b', '<f4')]", false, "(2,)", &[0; 16]), "non-numeric elements"),
        (with("<f4', 'more': 'x", "(2, 2)"), "unexpected key 'more'"),
    ];
    for (at, (bytes, said)) in files.iter().enumerate() {
        let path = folder.join(format!("{at}.npy"));
        std::fs::write(&path, bytes).unwrap();
        let output =
            pixelferry(&["view", path.to_str().unwrap(), "--save"]).arg(folder.join("x.png")).output().unwrap();
        let text = &texts(&output)[1];
        assert!(output.status.code() == Some(1) && text.contains(said) && text.lines().count() == 1, "{at}: {text}");
        assert!(text.contains(&format!("{at}.npy: ")), "{text}");
        // By a pipe, whose length nobody knows, it is the same.
        let mut piped =
            pixelferry(&["view", "-", "--explain"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Who has refused it reads no more.
        let _ = piped.stdin.take().unwrap().write_all(bytes);
        let output = piped.wait_with_output().unwrap();
        assert!(output.status.code() == Some(1) && texts(&output)[1].contains(said), "{at}: {}", texts(&output)[1]);
    }
    let refused = pixelferry(&["view", "a.npy", "--range", "wide"]).output().unwrap();
    assert!(refused.status.code() == Some(2) && texts(&refused)[1].contains("minmax"), "{}", texts(&refused)[1]);
}

#[test]
fn pictures_of_each_format_that_messages_name_are_shown_and_others_get_the_list() {
    let folder = folder("formats");
    let picture = RgbaImage::from_fn(20, 12, |x, y| Rgba([x as u8 * 10, y as u8 * 10, 7, 255]));
    let wrong = folder.join("a.txt");
    std::fs::write(&wrong, "no array").unwrap();
    let output = pixelferry(&["view", wrong.to_str().unwrap(), "--explain"]).output().unwrap();
    let [_, refused] = texts(&output);
    assert!(output.status.code() == Some(1) && refused.lines().count() == 1, "{refused}");
    for (ending, name) in [("png", "PNG"), ("jpg", "JPEG"), ("webp", "WebP"), ("tif", "TIFF"), ("bmp", "BMP")] {
        let path = folder.join(format!("a.{ending}"));
        image::DynamicImage::from(picture.clone()).into_rgb8().save(&path).unwrap();
        // As a picture, even where GStreamer would play it.
        let [said, error] = texts(&pixelferry(&["view", path.to_str().unwrap(), "--explain"]).output().unwrap());
        assert!(said.contains("uint8 as HWC, 20x12"), "{ending}: {said}{error}");
        assert!(refused.contains(name), "{name}: {refused}");
    }
    for name in [".npy", ".npz", "OpenEXR", "Y4M"] {
        assert!(refused.contains(name), "{name}: {refused}");
    }
    let [help, _] = texts(&pixelferry(&["view", "--help"]).output().unwrap());
    for ending in [".npy", ".npz", ".png", ".jpg", ".webp", ".tif", ".bmp", ".exr", ".y4m"] {
        assert!(help.contains(ending), "{ending}: {help}");
    }
}

#[test]
fn what_an_array_is_taken_for_is_explained() {
    let path = folder("explain").join("a.npy");
    std::fs::write(&path, singles()).unwrap();
    let output = pixelferry(&["view", path.to_str().unwrap(), "--explain", "--range=1%,99%"]).output().unwrap();
    let [said, _] = texts(&output);
    assert!(said.contains("float32 as HW, 64x48; range -") && said.contains("(measured)"), "{said}");
    assert!(said.contains("layouts that are guessed"), "{said}");
}

/// A screen that a test waits for; it is left beside the test, to be looked at.
pub fn wait_for(
    running: &mut RunningChild,
    viewer: &Viewer,
    name: &str,
    mut seen: impl FnMut(&dyn Fn(u32, u32) -> Rgb) -> bool,
) {
    let mut patience = Patience::new();
    loop {
        let pixels = running.screen(viewer, WINDOW);
        let at = |x: u32, y: u32| pixels[(y * u32::from(WINDOW.0) + x) as usize];
        let found = seen(&at);
        if found || patience.is_over() {
            let picture = image::RgbImage::from_fn(WINDOW.0.into(), WINDOW.1.into(), |x, y| image::Rgb(at(x, y)));
            picture.save(folder("screens").join(format!("{name}.png"))).unwrap();
        }
        if found {
            return;
        }
        assert!(!patience.is_over(), "never seen: {name}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Pixels of text in some rows.
pub fn bright(at: &dyn Fn(u32, u32) -> Rgb, rows: std::ops::Range<u32>) -> usize {
    rows.flat_map(|y| (0..u32::from(WINDOW.0)).map(move |x| (x, y))).filter(|(x, y)| at(*x, *y)[1] > 190).count()
}

#[test]
fn a_user_looks_closely() {
    let path = folder("window").join("a.npy");
    std::fs::write(&path, singles()).unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let mut window = RunningChild::start(&["view", path.to_str().unwrap(), "--range", "-4,3"], &server);
    let level = |x, y, exposure: f64| (number(x, y) + 4.0) / 7.0 * exposure * 255.0;
    // What the exposure cuts off is marked; a number at the limit may be either.
    let near = |found: Rgb, level: f64| {
        let is_grey = found.iter().all(|part| (f64::from(*part) - level.min(255.0)).abs() <= 1.0);
        (level > 254.9 && found == [255, 0, 0]) || (level < 255.1 && is_grey)
    };
    // Ten window pixels for each of the array's, with a frame around.
    let shows = |at: &dyn Fn(u32, u32) -> Rgb, exposure: f64| {
        (0..64).all(|x| near(at(x * 10 + 5, 15), level(x, 1, exposure)))
            && (0..40).all(|y| near(at(325, y * 10 + 5), level(32, y, exposure)))
    };
    let framed = |at: &dyn Fn(u32, u32) -> Rgb| {
        (1..40).all(|y| {
            let (inside, frame) = (at(325, y * 10 + 5), at(325, y * 10));
            inside != frame && at(325, y * 10 + 1) == inside && at(325, y * 10 + 9) == inside
        })
    };
    wait_for(&mut window, &viewer, "fitted", |at| shows(at, 1.0) && framed(at) && bright(at, 455..480) > 100);
    viewer.focus((5, 5)).unwrap();
    viewer.point((155, 205)).unwrap();
    wait_for(&mut window, &viewer, "pointer", |at| bright(at, 455..480) > 400);
    viewer.key(26).unwrap();
    wait_for(&mut window, &viewer, "brighter", |at| shows(at, 2.0_f64.sqrt()));
    viewer.key(54).unwrap();
    wait_for(&mut window, &viewer, "colours", |at| at(155, 205)[0] != at(155, 205)[1]);
    // Ten steps for five clicks: the pixel under the pointer stays there, is 62 window pixels large, and has its number in it.
    (0..5).for_each(|_| viewer.click(4).unwrap());
    wait_for(&mut window, &viewer, "numbers", |at| {
        let colour = at(132, 182);
        let others = (130..180).filter(|x| at(*x, 205) != colour).count();
        [at(178, 182), at(132, 228), at(178, 228)] == [colour; 3] && at(200, 182) != colour && others > 10
    });
    viewer.key(19).unwrap();
    wait_for(&mut window, &viewer, "own size", |at| at(5, 5) == at(600, 200) && at(5, 5) == [26, 26, 26]);
    viewer.key(67).unwrap();
    wait_for(&mut window, &viewer, "help", |at| bright(at, 125..200) > 400 && bright(at, 280..355) > 400);
    ends(&mut window, &viewer);
}

/// Escape closes the window.
pub fn ends(window: &mut RunningChild, viewer: &Viewer) {
    viewer.key(9).unwrap();
    let mut patience = Patience::new();
    while window.0.try_wait().unwrap().is_none() {
        assert!(!patience.is_over(), "Escape closes nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(window.0.wait().unwrap().success());
}

#[test]
fn a_user_compares_arrays() {
    let folder = folder("compared");
    let doubled = |n: u32, factor: f64| (number(n % SIDES.0, n / SIDES.0) * factor) as f32;
    let files = [1.0, 0.75, 0.5].map(|factor| {
        let path = folder.join(format!("times {factor}.npy"));
        let numbers: Vec<u8> = (0..SIDES.0 * SIDES.1).flat_map(|n| doubled(n, factor).to_le_bytes()).collect();
        std::fs::write(&path, npy("<f4", false, "(48, 64)", &numbers)).unwrap();
        path
    });
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let [a, b, c] = files.each_ref().map(|path| path.to_str().unwrap());
    let mut window = RunningChild::start(&["view", a, b, c, "--range", "-4,3"], &server);
    let shows = |at: &dyn Fn(u32, u32) -> Rgb, factor: f64, (low, high): (f64, f64)| {
        // The bar of the colours covers the last columns.
        (0..54).all(|x| {
            let level = ((number(x, 35) * factor - low) / (high - low) * 255.0).clamp(0.0, 255.0);
            at(x * 10 + 5, 355).iter().all(|part| (f64::from(*part) - level).abs() <= 1.0)
        })
    };
    let asked = (-4.0, 3.0);
    wait_for(&mut window, &viewer, "first of three", |at| shows(at, 1.0, asked) && bright(at, 0..20) > 60);
    viewer.focus((5, 5)).unwrap();
    viewer.point((165, 315)).unwrap();
    // A key that comes together with the focus may be lost.
    wait_for(&mut window, &viewer, "pointer in the first", |at| bright(at, 455..480) > 400);
    // Right, Page Down, Left; the keys of a board are the same where brackets need others.
    for (key, factor) in [(114, 0.75), (117, 0.5), (113, 0.75)] {
        viewer.key(key).unwrap();
        wait_for(&mut window, &viewer, "another of three", |at| shows(at, factor, asked));
    }
    viewer.key(40).unwrap();
    // The second minus the third, whose middle is white.
    wait_for(&mut window, &viewer, "difference", |at| {
        let (zero, high, low) = (at(5, 355), at(95, 45), at(285, 45));
        zero.iter().all(|part| *part > 230)
            && high[2] > high[0].saturating_add(60)
            && low[0] > low[2].saturating_add(60)
    });
    // From -4 - 7/16 to 3 + 7/16 in 320 pixels; of a difference, whose range is all there is, the ends are in the same places.
    let column = |number: f64| 314 + (320.0 * (number + 4.0 + 7.0 / 16.0) / 7.875) as i16;
    let (end, one) = (column(3.0), column(1.0));
    let has_end = |at: &dyn Fn(u32, u32) -> Rgb| at(end as u32, 40) == [255, 196, 92] && bright(at, 110..130) > 60;
    viewer.key(43).unwrap();
    wait_for(&mut window, &viewer, "histogram of a difference", has_end);
    viewer.key(40).unwrap();
    wait_for(&mut window, &viewer, "histogram", |at| shows(at, 0.75, asked) && has_end(at));
    // The upper end goes to where about 1 is.
    viewer.drag((end, 40), (one, 40)).unwrap();
    let high = -4.0 - 7.0 / 16.0 + f64::from(one - 314) / 320.0 * 7.875;
    wait_for(&mut window, &viewer, "dragged range", |at| shows(at, 0.75, (-4.0, high)));
    ends(&mut window, &viewer);
}

#[test]
fn programs_send_images() {
    let refused = pixelferry(&["view", "--listen", "--save", "a.png"]).output().unwrap();
    assert!(refused.status.code() == Some(2) && texts(&refused)[1].contains("--listen"), "{}", texts(&refused)[1]);
    let refused = pixelferry(&["view", "--listen=127.0.0.1:http"]).output().unwrap();
    assert!(texts(&refused)[1].contains("--listen=127.0.0.1:http: invalid port"), "{}", texts(&refused)[1]);
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let mut command = pixelferry(&["view", "--listen=127.0.0.1:0"]);
    command.env("DISPLAY", server.display()).env_remove("PIXELFERRY_LOG").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut window = RunningChild(command.spawn().unwrap());
    let mut said = String::new();
    BufReader::new(window.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let mut stream = TcpStream::connect(said.trim().strip_prefix("listening on ").unwrap()).unwrap();
    // 2 x 1 pixels, 320 x 320 of the window for each, below and above 80 rows of another colour.
    let mut numbers = b"\x2f\0\0\0\x05\0a\0\x02\0\0\0G\0R\0\0\0\0\0\0\0\0\0\x02\0\0\0\x01\0\0\0".to_vec();
    numbers.extend([0.2_f32, 1.0, 0.6, 0.4].iter().flat_map(|number| number.to_le_bytes()));
    numbers[0] = numbers.len() as u8;
    let create = b"\x1a\0\0\0\x04\x01a\0\x02\0\0\0\x01\0\0\0\x03\0\0\0R\0G\0B\0";
    stream.write_all(create).unwrap();
    let shows = |at: &dyn Fn(u32, u32) -> Rgb, colours: [Rgb; 2]| {
        [at(100, 150), at(500, 150)] == colours && at(100, 40) == [26, 26, 26] && at(500, 440) == [26, 26, 26]
    };
    wait_for(&mut window, &viewer, "created", |at| shows(at, [[0; 3]; 2]));
    stream.write_all(&numbers).unwrap();
    wait_for(&mut window, &viewer, "updated", |at| shows(at, [[153, 51, 0], [102, 255, 0]]));
    // In a pause it stays, and what comes is counted.
    viewer.focus((5, 5)).unwrap();
    viewer.point((165, 315)).unwrap();
    wait_for(&mut window, &viewer, "pointer in an image", |at| bright(at, 455..480) > 400);
    viewer.key(65).unwrap();
    let (paused, words) = ([[153, 51, 0], [102, 255, 0]], Cell::new(0));
    wait_for(&mut window, &viewer, "an image paused", |at| words.replace(bright(at, 0..20)) > 60 && shows(at, paused));
    let at = numbers.len() - 16;
    numbers[at..].copy_from_slice(&[0.0_f32, 0.2, 1.0, 0.8].map(f32::to_le_bytes).concat());
    stream.write_all(&numbers).unwrap();
    wait_for(&mut window, &viewer, "a newer one", |at| bright(at, 0..20) > words.get() + 20 && shows(at, paused));
    viewer.key(65).unwrap();
    wait_for(&mut window, &viewer, "the newer one", |at| shows(at, [[255, 0, 0], [204, 51, 0]]));
    stream.write_all(b"\x0b\0\0\0\x00\x01/etc\0\x07\0\0\0\x02a\0\x05\0\0\0\x09").unwrap();
    wait_for(&mut window, &viewer, "closed", |at| at(100, 40) == [0; 3]);
    let mut log = BufReader::new(window.0.stderr.take().unwrap()).lines();
    assert!(log.next().unwrap().unwrap().contains("does not open files by name (\"/etc\")"));
    assert!(log.next().unwrap().unwrap().contains("is closed: "));
    viewer.focus((5, 5)).unwrap();
    ends(&mut window, &viewer);
}

#[test]
fn arrays_are_served_to_browsers() {
    let refused = pixelferry(&["view", "--serve", "--save", "a.png", "a.npy"]).output().unwrap();
    assert!(refused.status.code() == Some(2) && texts(&refused)[1].contains("--serve"), "{}", texts(&refused)[1]);
    let refused = pixelferry(&["view", "--serve", "--listen=127.0.0.1:0", "--range", "1,1"]).output().unwrap();
    assert!(!refused.status.success() && !texts(&refused)[0].contains("open"), "{:?}", texts(&refused));
    let Some(_) = need(Need::Egl, pixelferry::api::gl::GlDisplay::headless(Default::default())) else { return };
    let mut command = pixelferry(&["view", "--serve", "--listen=127.0.0.1:0"]);
    command.env_remove("DISPLAY").stdout(Stdio::piped());
    let mut served = RunningChild(command.spawn().unwrap());
    let mut said = BufReader::new(served.0.stdout.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().starts_with("listening on 127.0.0.1:"));
    let line = said.next().unwrap().unwrap();
    let (address, query) = line.strip_prefix("open http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("page.js"), "{answer}");
}

#[test]
fn several_files_are_explained_each_and_one_is_saved() {
    let folder = folder("several");
    let [one, two] = ["a.npy", "b.npy"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    std::fs::write(&one, singles()).unwrap();
    std::fs::write(&two, foreign_doubles()).unwrap();
    let [said, _] = texts(&pixelferry(&["view", &one, &two, "--explain"]).output().unwrap());
    assert!(said.contains("a.npy:\n  array: float32") && said.contains("b.npy:\n  array: float64"), "{said}");
    let refused = pixelferry(&["view", &one, &two, "--save", &format!("{one}.png")]).output().unwrap();
    assert!(refused.status.code() == Some(1) && texts(&refused)[1].contains("one FILE"), "{}", texts(&refused)[1]);
    let refused = pixelferry(&["view", &one, &two, "--layout", "NHW"]).output().unwrap();
    assert!(
        texts(&refused)[1].contains("a.npy: an array of shape [48, 64] has 2 dimensions"),
        "{}",
        texts(&refused)[1]
    );
}

#[test]
fn what_does_not_fit_an_array_is_refused_with_what_to_do() {
    let file = folder("unfit").join("a.npy");
    let path = file.to_str().unwrap();
    let refused = |bytes: &[u8], options: &[&str]| {
        std::fs::write(&file, bytes).unwrap();
        let output = pixelferry(&["view", path, "--explain"]).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{:?}", texts(&output));
        texts(&output)[1].clone()
    };
    let said = refused(&[singles(), vec![0; 7]].concat(), &[]);
    assert!(said.contains("too many bytes: an array of shape [48, 64] needs 12288, but there are 12295"), "{said}");
    let said = refused(&singles(), &["--layout", "HWC"]);
    assert!(said.contains("[48, 64] has 2 dimensions, but layout=\"HWC\" names 3; use layout=\"HW\""), "{said}");
    // More may follow in a stream, so it is read no further.
    saved(&file, Some(&[singles(), vec![0; 7]].concat()), &[]);
}

#[test]
fn an_invalid_limit_of_memory_is_said() {
    let file = folder("limit").join("a.png");
    image::GrayImage::new(3, 2).save(&file).unwrap();
    let mut command = pixelferry(&["view", file.to_str().unwrap(), "--explain"]);
    let output = command.env("PIXELFERRY_MEMORY_MIB", "much").output().unwrap();
    let [shown, said] = texts(&output);
    assert!(output.status.success() && shown.contains("uint8"), "{shown}{said}");
    assert_eq!(said.matches("PIXELFERRY_MEMORY_MIB='much' is invalid").count(), 1, "{said}");
}

#[test]
fn a_layer_is_shown_alone() {
    let folder = folder("layers");
    let view = |file: &str, bytes: &[u8], layer: &str| {
        let (file, saved) = (folder.join(file), folder.join("saved.png"));
        std::fs::write(&file, bytes).unwrap();
        let options = ["view", file.to_str().unwrap(), "--layer", layer, "--save", saved.to_str().unwrap()];
        let output = pixelferry(&options).output().unwrap();
        let picture = output.status.success().then(|| image::open(saved).unwrap().into_rgb8().get_pixel(2, 1).0);
        (picture, texts(&output)[1].clone())
    };
    let (picture, said) = view("a.npy", &singles(), "diffuse");
    assert!(picture.is_none() && said.contains("unknown layer \"diffuse\": the file has no layers"), "{said}");
    // Two layers of 5 x 3: diffuse is red, depth has 0.5 everywhere.
    let layers = include_bytes!("layers.exr");
    if !cfg!(feature = "exr") {
        let (picture, said) = view("a.exr", layers, "depth");
        return assert!(picture.is_none() && said.contains("feature `exr`"), "{said}");
    }
    for (layer, pixel) in [("diffuse", [255, 0, 0]), ("depth", [128; 3])] {
        assert_eq!(view("a.exr", layers, layer), (Some(pixel), String::new()), "{layer}");
    }
    let (picture, said) = view("a.exr", layers, "normal");
    assert!(picture.is_none() && said.contains("unknown layer \"normal\": the file has diffuse, depth"), "{said}");
}
