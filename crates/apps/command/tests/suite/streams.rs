//! Streams from process to process: a scene that is published, the list, and a window that shows it live.

use crate::view::{SIDES, bright, ends, folder, wait_for};
use crate::window::RunningChild;
use crate::{pixelferry, texts};
use image::{GrayImage, Luma, RgbaImage};
use pixelferry_tests::{Need, Patience, Rgb, Viewer, Xvfb, need};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A user with no streams yet: a folder of its own for their sockets.
struct User(PathBuf);

impl User {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("pixelferry-{name}-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder).unwrap();
        Self(folder)
    }

    fn runs(&self, arguments: &[&str]) -> Command {
        let mut command = pixelferry(arguments);
        command.env("XDG_RUNTIME_DIR", &self.0);
        command
    }

    /// The edges of a picture that is white from there on, published as `edges`; and as a picture of this process.
    fn publish(&self, name: &str, is_white: impl Fn(u32, u32) -> bool) -> (RunningChild, RgbaImage) {
        let input = folder("published").join(format!("{name}.png"));
        let picture = GrayImage::from_fn(SIDES.0, SIDES.1, |x, y| Luma([if is_white(x, y) { 255 } else { 0 }]));
        picture.save(&input).unwrap();
        let out = input.with_extension("out.png");
        let scene = ["demo", "filter", "--backend", "cpu", "--input", input.to_str().unwrap()];
        let mut command = pixelferry(&scene);
        let made =
            command.args(["--plain", "--display", "memory", "--frames", "1", "--out"]).arg(&out).output().unwrap();
        assert!(made.status.success(), "{}", texts(&made)[1]);
        let mut command = self.runs(&scene);
        let process = command.args(["--publish", "edges"]).stdout(Stdio::null()).spawn().unwrap();
        (RunningChild(process), image::open(out).unwrap().into_rgba8())
    }

    fn list(&self) -> (Option<i32>, String) {
        let output = self.runs(&["streams"]).output().unwrap();
        (output.status.code(), texts(&output)[0].clone())
    }

    fn save(&self, name: &str) -> RgbaImage {
        let out = folder("attached").join(format!("{name}.png"));
        let output = self.runs(&["view", "--attach", "edges", "--save", out.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{}", texts(&output)[1]);
        image::open(out).unwrap().into_rgba8()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_published_is_listed_and_saved() {
    let user = User::new("lists");
    let (code, said) = user.list();
    assert!(code == Some(6) && said.contains("no stream is published") && said.contains("--publish"), "{said}");
    let (mut publisher, expected) = user.publish("listed", |x, _| x >= 32);
    assert!(user.save("listed") == expected, "the picture that was published");
    let process = publisher.0.id();
    assert_eq!(user.list(), (Some(0), format!("edges  process {process} (pixelferry)\n")));
    let [json, _] = texts(&user.runs(&["streams", "--json"]).output().unwrap());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["schema"], &json["streams"][0]["process"]), (&"pixelferry-streams".into(), &process.into()));
    let [said, _] = texts(&user.runs(&["view", "--attach", "edges", "--explain"]).output().unwrap());
    assert!(said.starts_with("edges:\n  array: uint8 as HWC, 64x48"), "{said}");
    let taken = user.runs(&["demo", "plasma", "--backend", "cpu", "--publish", "edges"]).output().unwrap();
    assert!(taken.status.code() == Some(1) && texts(&taken)[1].contains("choose another name"), "{:?}", texts(&taken));
    publisher.0.kill().unwrap();
    publisher.0.wait().unwrap();
    assert_eq!(user.list().0, Some(6));
}

#[test]
fn what_cannot_be_attached_is_said() {
    let user = User::new("refused");
    let refused = |arguments: &[&str], code, said: &str| {
        let output = user.runs(arguments).output().unwrap();
        assert!(output.status.code() == Some(code) && texts(&output)[1].contains(said), "{:?}", texts(&output));
    };
    refused(&["view", "--attach", "a/b"], 1, "invalid stream name");
    refused(&["view", "--attach", "a", "--layout", "HW"], 2, "--layout");
    refused(&["view", "--attach", "a", "a.npy", "--save", "a.png"], 1, "one FILE or one stream");
    refused(&["demo", "plasma", "--publish", "a", "--headless"], 2, "--headless");
    refused(&["demo", "sine", "--backend", "cpu", "--publish", "a"], 1, "no picture to publish");
    let output = user.runs(&["view", "--attach", "a", "--save", "a.png"]).output().unwrap();
    let [_, said] = texts(&output);
    let is_whole = said.contains("stream \"a\": no process publishes it") && said.contains("Start the publisher first");
    assert!(output.status.code() == Some(1) && is_whole, "{said}");
}

#[test]
fn a_stream_is_shown_live_and_joined_again() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let user = User::new("live");
    let viewer = Viewer::of(server.display()).unwrap();
    let window = user.runs(&["view", "--attach", "edges"]).env("DISPLAY", server.display()).spawn().unwrap();
    let mut window = RunningChild(window);
    // Pixels of the window's rows 0 to 20 are words; the picture has ten for each of its own.
    wait_for(&mut window, &viewer, "no stream is published", |at| bright(at, 0..20) > 60);
    let shows = |picture: &RgbaImage, at: &dyn Fn(u32, u32) -> Rgb| {
        (0..64).all(|x| (3..45).all(|y| at(10 * x + 5, 10 * y + 5) == picture.get_pixel(x, y).0[..3]))
    };
    let (mut first, one) = user.publish("first", |x, y| x >= 32 && y >= 8);
    wait_for(&mut window, &viewer, "a first publisher", |at| shows(&one, at) && bright(at, 0..20) == 0);
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    wait_for(&mut window, &viewer, "an end", |at| shows(&one, at) && bright(at, 0..20) > 60);
    // A window that is drawn again says it still.
    viewer.focus((5, 5)).unwrap();
    viewer.point((165, 315)).unwrap();
    wait_for(&mut window, &viewer, "an end still", |at| bright(at, 455..480) > 400 && bright(at, 0..20) > 60);
    let (_second, two) = user.publish("second", |x, y| y >= 24 && x >= 8);
    assert!(one != two);
    wait_for(&mut window, &viewer, "a second publisher", |at| shows(&two, at) && bright(at, 0..20) == 0);
    ends(&mut window, &viewer);
}

/// A subscriber that stops in the middle holds nobody up: the scene goes on, and is shown by another.
#[test]
fn a_viewer_that_is_stopped_holds_nobody_up() {
    let user = User::new("stopped");
    let (_publisher, expected) = user.publish("stopped", |x, _| x >= 16);
    let mut command = user.runs(&["view", "--attach", "edges", "--serve"]);
    let stopped = RunningChild(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let mut patience = Patience::new();
    while user.list().0 != Some(0) {
        assert!(!patience.is_over(), "never published");
        std::thread::sleep(Duration::from_millis(20));
    }
    let stop = Command::new("kill").args(["-STOP", &stopped.0.id().to_string()]).status().unwrap();
    assert!(stop.success());
    for _ in 0..3 {
        assert!(user.save("stopped") == expected);
    }
}
