//! The worked texts: each picture is that of a reference on the processor, or the same by two ways.

use crate::suite::{SIZE, folder, opened, options, pixels};
use pixelferry::BackendChoice;
use pixelferry_play::Player;
use pixelferry_testing::Need;
use std::path::{Path, PathBuf};

pub fn worked(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/play").join(name)
}

/// Frames after which pictures are compared, and seconds, in steps of a quarter.
const FRAMES: u32 = 6;
const TIME: f32 = 0.25 * (FRAMES - 1) as f32;

fn played(file: &Path, backend: BackendChoice, of: Need) -> Option<Player> {
    let mut player = opened(options(file, backend), backend, of)?.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    player.rewind();
    (0..FRAMES).for_each(|_| player.frame(true));
    assert!(player.faults().is_empty(), "{:?}", player.faults());
    Some(player)
}

/// Pixels of which a part differs by more than `most`.
fn different(a: impl Fn(u32, u32) -> [u8; 4], b: impl Fn(u32, u32) -> [u8; 4], most: u8) -> usize {
    let places = (0..SIZE.height).flat_map(|y| (0..SIZE.width).map(move |x| (x, y)));
    places.filter(|(x, y)| a(*x, *y).iter().zip(b(*x, *y)).any(|(a, b)| a.abs_diff(b) > most)).count()
}

fn reference(name: &str, x: u32, y: u32) -> [f32; 3] {
    let (width, height) = (SIZE.width as f32, SIZE.height as f32);
    let [px, py] = [x as f32 + 0.5, height - y as f32 - 0.5];
    let cosines = |t: f32, steps: [f32; 3], turn: f32| steps.map(|step| 0.5 + 0.5 * (turn * (t + step)).cos());
    match name {
        "rings" => {
            let away = (px - 0.5 * width).hypot(py - 0.5 * height);
            let wave = 0.5 + 0.5 * (away * std::f32::consts::TAU / 12.0 - 2.0 * TIME).cos();
            let mix = |a: f32, b: f32| (a + (b - a) * wave) * (-away / height).exp();
            [mix(0.05, 1.0), mix(0.08, 0.75), mix(0.2, 0.35)]
        }
        "plasma" => {
            let [x, y] = [px, py].map(|p| 8.0 * p / height);
            let [cx, cy] = [x + 3.0 * (TIME / 3.0).sin(), y + 3.0 * (TIME / 2.0).cos()];
            let v = (x + TIME).sin() + (0.5 * (y + TIME)).sin() + (0.5 * (x + y + TIME)).sin();
            let v = v + ((cx * cx + cy * cy + 1.0).sqrt() + TIME).sin();
            cosines(0.5 * v, [0.0, 0.33, 0.67], std::f32::consts::PI)
        }
        _ => {
            let [mut zx, mut zy] = [px - 0.5 * width, py - 0.5 * height].map(|p| 2.4 * p / height);
            let [cx, cy] = [(2.2 + 0.3 * TIME).cos(), (2.2 + 0.3 * TIME).sin()].map(|c| 0.7885 * c);
            let mut n = 0;
            while n < 96 && zx * zx + zy * zy < 16.0 {
                (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
                n += 1;
            }
            let smooth = n as f32 - (zx * zx + zy * zy).log2().max(1.0).log2();
            if n == 96 { [0.0; 3] } else { cosines(0.03 * smooth, [0.0, 0.1, 0.2], std::f32::consts::TAU) }
        }
    }
}

#[test]
fn each_language_gives_the_picture_of_the_definition() {
    for (ending, backend, of) in [
        ("glsl", BackendChoice::Gl, Need::Egl),
        ("comp", BackendChoice::Gl, Need::Egl),
        ("wgsl", BackendChoice::Gl, Need::Egl),
        ("wgsl", BackendChoice::Vulkan, Need::Lavapipe),
        ("cl", BackendChoice::OpenCl, Need::OpenCl),
        ("cu", BackendChoice::Cuda, Need::Nvidia),
    ] {
        for (name, most) in [("rings", 0), ("plasma", 0), ("julia", 60)] {
            let Some(mut player) = played(&worked(&format!("{name}.{ending}")), backend, of) else { break };
            let wanted = |x, y| {
                let [red, green, blue] = reference(name, x, y).map(|part| (255.0 * part.clamp(0.0, 1.0) + 0.5) as u8);
                [red, green, blue, 255]
            };
            let count = different(pixels(&mut player), wanted, 2);
            assert!(count <= most, "{name}.{ending} on {backend:?}: {count} pixels");
        }
    }
}

#[test]
fn the_game_of_life_follows_its_rule() {
    let Some(mut player) = played(&worked("life.glsl"), BackendChoice::Gl, Need::Egl) else { return };
    let cells = [SIZE.width / 4, SIZE.height / 4].map(|side| side as usize);
    // A row of pixels is left over, whose cells are no part of the game.
    let alive = |player: &mut Player| -> Vec<bool> {
        let at = pixels(player);
        let cell = |n: usize| at((n % cells[0]) as u32 * 4 + 1, SIZE.height - 1 - ((n / cells[0]) as u32 * 4 + 1));
        (0..cells[0] * cells[1]).map(|n| cell(n)[0] > 200).collect()
    };
    let before = alive(&mut player);
    assert!(before.iter().filter(|cell| **cell).count() > 20);
    player.frame(true);
    let after = alive(&mut player);
    for (n, now) in after.iter().enumerate() {
        let [x, y] = [n % cells[0], n / cells[0]];
        let near = (0..9).filter(|step| *step != 4).filter(|step| {
            let [x, y] = [(x + step % 3 + cells[0] - 1) % cells[0], (y + step / 3 + cells[1] - 1) % cells[1]];
            before[y * cells[0] + x]
        });
        let near = near.count();
        assert_eq!(*now, near == 3 || (near == 2 && before[n]), "cell {x}, {y} with {near} neighbours");
    }
}

#[test]
fn inputs_of_isf_are_sliders() {
    let file = folder("worked").join("inputs.fs");
    let text = "/*{ \"INPUTS\": [
  { \"NAME\": \"tint\", \"TYPE\": \"color\", \"DEFAULT\": [1.0, 0.5, 0.25, 1.0] },
  { \"NAME\": \"dims\", \"TYPE\": \"bool\" },
  { \"NAME\": \"part\", \"TYPE\": \"long\", \"VALUES\": [2, 3, 4], \"DEFAULT\": 4 },
  { \"NAME\": \"at\", \"TYPE\": \"point2D\", \"MIN\": [0.0, 0.0], \"MAX\": [96.0, 54.0], \"DEFAULT\": [48.0, 10.0] } ] }*/
void mainImage(out vec4 colour, in vec2 p) {
    colour = p.x < at.x && p.y > at.y ? tint : vec4(float(part) / 10.0 * (dims ? 0.5 : 1.0));
}
void main() { mainImage(gl_FragColor, gl_FragCoord.xy); }";
    std::fs::write(&file, text).unwrap();
    let set = vec![("dims".to_owned(), 1.0), ("tint.b".to_owned(), 1.0)];
    let options = pixelferry_play::PlayerOptions { set, ..options(&file, BackendChoice::Gl) };
    let Some(player) = opened(options, BackendChoice::Gl, Need::Egl) else { return };
    let mut player = player.unwrap();
    let names: Vec<_> = player.sliders().0.iter().map(|slider| slider.name.clone()).collect();
    assert_eq!(names, ["tint.r", "tint.g", "tint.b", "tint.a", "dims", "part", "at.x", "at.y"]);
    let wanted = |x, y| if x < 48 && y < 44 { [255, 128, 255, 255] } else { [51, 51, 51, 255] };
    assert_eq!(different(pixels(&mut player), wanted, 1), 0);
}

#[test]
fn derivatives_are_differences_within_squares_of_pixels() {
    let file = folder("worked").join("derivative.glsl");
    let text = "vec2 slope(vec2 p) { return p * p; }
void mainImage(out vec4 c, in vec2 at) {
    vec2 v = slope(floor(at) / 16.0);
    vec3 most = fwidth(vec3(at, 0.0));
    c = vec4(dFdx(v).x, dFdy(v.y), 0.5 * most.x * step(most.z, 0.0), 1.0);
}";
    std::fs::write(&file, text).unwrap();
    let Some(mut player) = played(&file, BackendChoice::Gl, Need::Egl) else { return };
    let square = |n: u32| (n as f32 / 16.0).powi(2);
    let slope = |n: u32| (255.0 * (square((n & !1) + 1) - square(n & !1))).min(255.0) as u8;
    let wanted = |x: u32, y: u32| [slope(x), slope(SIZE.height - 1 - y), 128, 255];
    assert_eq!(different(pixels(&mut player), wanted, 1), 0);
}
