//! Texts as somebody writes them: changed at random, some without an end. The program lives, and a text that fails its
//! trial leaves the picture as it is.

use crate::suite::{folder, opened, options};
use pixelferry::BackendChoice;
use pixelferry_play::{Player, PlayerOptions};
use pixelferry_testing::{Dice, Need, by_level, wait_until};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Tokens that replace others.
const OTHERS: [&str; 24] = [
    "0", "1", "-1", "2.0", "1e30", "0.0", "(", ")", "{", "}", ";", "+", "-", "*", "/", "%", "<", ">", "=", "x", "y",
    "vec3", "int", "float",
];

/// Tokens and what is between them.
fn tokens(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for c in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        match all.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => all.push(c.to_string()),
        }
    }
    all
}

fn mutated(text: &str, dice: &mut Dice) -> String {
    let mut all = tokens(text);
    for _ in 0..=dice.below(2) {
        let at = dice.below(all.len());
        let other = dice.below(all.len());
        match dice.below(5) {
            0 => _ = all.remove(at),
            1 => all[at] = (*dice.pick(&OTHERS)).to_owned(),
            2 => all.swap(at, other),
            3 => all[at] = all[other].clone(),
            _ => all.insert(at, (*dice.pick(&OTHERS)).to_owned()),
        }
    }
    all.concat()
}

fn shown(player: &mut Player) -> Vec<u8> {
    player.picture().unwrap().into_raw()
}

/// A text, and what makes a loop of one of its lines.
fn soak(name: &str, text: &str, backend: BackendChoice, of: Need, [line, endless]: [&str; 2], limit: u64) {
    let file = folder("mutated").join(name);
    fs::write(&file, text).unwrap();
    let Some(player) =
        opened(PlayerOptions { limit: Duration::from_secs(600), ..options(&file, backend) }, backend, of)
    else {
        return;
    };
    drop(player.unwrap());
    let brief = PlayerOptions { limit: Duration::from_millis(limit), ..options(&file, backend) };
    let mut player = opened(brief, backend, of).unwrap().unwrap();
    player.clock.toggle();
    assert!(text.contains(line));
    let (mut dice, mut passed, mut failed) = (Dice(7), 0, 0);
    let rounds = by_level(24, 100, 1000);
    for round in 0..rounds {
        let wrong = if round % 8 == 3 { text.replace(line, endless) } else { mutated(text, &mut dice) };
        if wrong == fs::read_to_string(&file).unwrap() {
            continue;
        }
        let before = shown(&mut player);
        put(&file, &wrong);
        // While the text is tried, frames of the one before go on.
        wait_until("a text is tried", || {
            let is_known = player.look();
            if !is_known {
                player.again();
                assert_eq!(shown(&mut player), before, "round {round}: the picture is another");
            }
            is_known
        });
        if player.faults().is_empty() {
            passed += 1;
        } else {
            failed += 1;
            assert_eq!(shown(&mut player), before, "round {round}:\n{wrong}");
        }
    }
    println!("{name}: {passed} passed, {failed} failed");
    assert!(passed > 0 && failed > rounds / 8, "{passed} passed, {failed} failed");
    // And a text that is right is shown again, as soon as the machine has time for it.
    wait_until("the right text is shown", || {
        put(&file, &format!("{text}\n"));
        wait_until("it is tried", || player.look());
        player.faults().is_empty()
    });
}

/// Saves a text; its time or length is another then.
fn put(file: &Path, text: &str) {
    std::thread::sleep(Duration::from_millis(10));
    fs::write(file, text).unwrap();
}

#[test]
fn mutated_texts_of_shadertoys_harm_nobody() {
    let text = "float wave(vec2 p, float t) {
    float sum = 0.0;
    for (int i = 0; i < 5; i++) sum += sin(p.x * float(i) + t) * cos(p.y - t);
    return sum;
}
void mainImage(out vec4 c, in vec2 at) {
    vec2 p = 8.0 * at / iResolution.y;
    vec3 colour = vec3(wave(p, iTime), wave(p.yx, 1.0), 0.5);
    c = vec4(0.6 + 0.4 * colour, 1.0);
}";
    let endless =
        ["vec2 p = 8.0", "float z = at.x; while (z > -1.0) z = abs(z) + sin(z) + 1.0; c = vec4(z); vec2 p = 8.0"];
    soak("mutated.glsl", text, BackendChoice::Gl, Need::Egl, endless, 600);
}

#[test]
fn mutated_texts_of_opencl_harm_nobody() {
    let text = "float wave(float x, float y, float t) {
    float sum = 0.0f;
    for (int i = 0; i < 5; i++) sum += sin(x * i + t) * cos(y - t);
    return sum;
}
kernel void mutated(PF_IMAGE(uchar4, out), float iTime) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    float px = 8.0f * x / out_height, py = 8.0f * y / out_height;
    float3 c;
    c.x = 0.6f + 0.4f * wave(px, py, iTime);
    c.y = 0.6f + 0.4f * wave(py, px, 1.0f);
    c.z = 0.8f;
    PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
}";
    let endless = ["float px = 8.0f", "volatile float z = x; while (z > -1.0f) z = fabs(z) + 1.0f; float px = 8.0f"];
    soak("mutated.cl", text, BackendChoice::OpenCl, Need::Pocl, endless, 3000);
}

#[test]
fn mutated_texts_of_wgsl_harm_nobody() {
    let text = "fn wave(p: vec2<f32>, t: f32) -> f32 {
    var sum = 0.0;
    for (var i = 0; i < 5; i++) { sum += sin(p.x * f32(i) + t) * cos(p.y - t); }
    return sum;
}
@compute @workgroup_size(8, 8)
fn mutated(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = 8.0 * vec2<f32>(id.xy) / iResolution().y;
    let colour = vec3(wave(p, iTime()), wave(p.yx, 1.0), 0.5);
    pf_store(id.xy, vec4(0.6 + 0.4 * colour, 1.0));
}";
    let endless = ["let p = 8.0", "var z = f32(id.x); while (z > -1.0) { z = abs(z) + sin(z) + 1.0; } let p = z + 8.0"];
    soak("mutated.wgsl", text, BackendChoice::Gl, Need::Egl, endless, 600);
}
