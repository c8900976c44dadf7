//! ISF: a fragment shader that begins with a comment in JSON. Its inputs become sliders and channels, and its passes
//! buffers.
//!
//! Supported from the specification (version 2, isf.video): the inputs `float`, `bool`, `long`, `event`, `color`,
//! `point2D` and `image`, and passes with `TARGET`. All passes have the picture's size, store floats, and read their
//! previous frame while they run. Images are channels in order of declaration, followed by targets. Unsupported: sound,
//! imports and vertex shaders.

use super::parts::few;
use super::shadertoy::{self, TextWrapper};
use crate::error::{Fault, PlayError};
use crate::input::CHANNELS;
use crate::pass::{BUFFERS, Channel, Pass, PassLanguage, Piece, Source};
use crate::slider::{Slider, SliderKind};
use serde_json::Value;
use std::fmt::Write as _;

/// Defines ISF's names with Shadertoy's.
const WORDS: &str = "#define TIME iTime
#define TIMEDELTA iTimeDelta
#define FRAMEINDEX iFrame
#define DATE iDate
#define RENDERSIZE iResolution.xy
vec4 pf_FragColor; vec2 isf_FragNormCoord;
#define vv_FragNormCoord isf_FragNormCoord
#define IMG_SIZE(image) vec2(pf_extent(image))
#define IMG_PIXEL(image, at) pf_texel(image, ivec2(floor(at)))
#define IMG_NORM_PIXEL(image, at) pf_sample(image, at)
#define IMG_THIS_PIXEL(image) pf_sample(image, isf_FragNormCoord)
#define IMG_THIS_NORM_PIXEL(image) pf_sample(image, isf_FragNormCoord)
#define main pf_main
#define mainImage pf_theirs
";
/// Calls the shader's `main`. The shader may also have a function `mainImage`, as Shadertoy's shaders do.
const CALL: &str = "#undef main
#undef mainImage
void mainImage(out vec4 colour, in vec2 at) {
  isf_FragNormCoord = at / iResolution.xy; pf_FragColor = vec4(0.0);
  pf_main();
  colour = pf_FragColor;
}
";

/// Inputs that were read so far.
#[derive(Default)]
struct Inputs {
    sliders: Vec<Slider>,
    images: Vec<String>,
    declared: String,
}

/// Returns all passes of a shader, and its sliders.
pub fn passes(piece: &Piece, language: PassLanguage) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    let fault =
        |text: String| PlayError::Faults(vec![Fault { file: piece.file.clone(), line: None, column: None, text }]);
    let json = header(&piece.text).map_err(fault)?;
    let mut inputs = Inputs::default();
    for input in array(&json, "INPUTS") {
        inputs.add(input).map_err(fault)?;
    }
    few(&inputs.sliders)?;
    let all = array(&json, "PASSES");
    let targets = targets(all).map_err(fault)?;
    let names: Vec<_> = inputs.images.iter().chain(&targets).cloned().collect();
    if names.len() > CHANNELS {
        return Err(fault(format!(
            "the shader reads {} images and passes, but there are only {CHANNELS} channels",
            names.len()
        )));
    }
    let mut piece = Piece {
        text: piece.text.clone(),
        file: piece.file.clone(),
        channels: piece.channels.clone(),
        sliders: Vec::new(),
    };
    for (buffer, place) in piece.channels.iter_mut().skip(inputs.images.len()).take(targets.len()).enumerate() {
        *place = Some(Channel { source: Source::Buffer(buffer), is_linear: true, repeats: false });
    }
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(inputs.declared, "const int {name} = {at};");
    }
    // The last pass computes the picture, whatever its name.
    let count = all.len().max(1);
    let pass = |at: usize| {
        let buffer = Some(at).filter(|at| at + 1 < count);
        let before = format!("{WORDS}{}#define PASSINDEX {at}\n", inputs.declared);
        let around = TextWrapper { before, behind: CALL };
        let made = shadertoy::pass(&piece, None, &inputs.sliders, language, buffer.is_some(), &around);
        Pass { buffer, channels: piece.channels.clone(), ..made }
    };
    Ok(((0..count).map(pass).collect(), inputs.sliders))
}

/// Returns the JSON in the first comment.
fn header(text: &str) -> Result<Value, String> {
    let json = text.trim_start().strip_prefix("/*").and_then(|rest| Some(rest.split_once("*/")?.0));
    let json = json.ok_or("the first comment is not JSON, which ISF needs: /*{ \"INPUTS\": [] }*/")?;
    serde_json::from_str(json.trim()).map_err(|error| format!("the first comment is not valid JSON: {error}"))
}

fn array<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(json: &'a Value, name: &str) -> &'a str {
    json.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Names of the targets of all passes but the last.
fn targets(passes: &[Value]) -> Result<Vec<String>, String> {
    let count = passes.len().saturating_sub(1);
    if count > BUFFERS.len() {
        return Err(format!("too many passes: {}, at most {} are supported", passes.len(), BUFFERS.len() + 1));
    }
    if passes.iter().any(|pass| pass.get("WIDTH").or_else(|| pass.get("HEIGHT")).is_some()) {
        return Err("a pass has its own size, which is unsupported: every pass has the picture's size".into());
    }
    passes.iter().take(count).map(|pass| name(text(pass, "TARGET"))).collect()
}

/// Checks that a name is a valid identifier.
fn name(name: &str) -> Result<String, String> {
    let is_name =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.starts_with(|c: char| !c.is_ascii_digit());
    if is_name { Ok(name.to_owned()) } else { Err(format!("'{name}' is not a valid name for an input or a pass")) }
}

fn number(json: Option<&Value>, usual: f32) -> f32 {
    let read = json.and_then(|json| json.as_f64().or_else(|| json.as_bool().map(f64::from)));
    read.map_or(usual, |number| number as f32)
}

impl Inputs {
    fn add(&mut self, input: &Value) -> Result<(), String> {
        let (own, of) = (name(text(input, "NAME"))?, text(input, "TYPE"));
        let part = |key: &str, at: usize, usual: f32| {
            let found = input.get(key);
            number(found.and_then(|found| found.get(at)).or(found), usual)
        };
        let mut slide = |suffix: &str, kind: SliderKind, at: usize, [least, most, usual]: [f32; 3]| {
            let limits = [part("MIN", at, least), part("MAX", at, most)];
            let slider = Slider { name: format!("{own}{suffix}"), kind, limits, value: part("DEFAULT", at, usual) };
            if limits[0] >= limits[1] {
                return Err(format!(
                    "the range of input '{own}' is empty: its MIN is {}, its MAX {}",
                    limits[0], limits[1]
                ));
            }
            self.sliders.push(Slider { value: slider.nearest(slider.value), ..slider });
            Ok(())
        };
        match of {
            "float" => slide("", SliderKind::Float, 0, [0.0, 1.0, 0.0]),
            "bool" | "event" => slide("", SliderKind::Bool, 0, [0.0, 1.0, 0.0]),
            "long" => {
                let values: Vec<f32> = array(input, "VALUES").iter().map(|value| number(Some(value), 0.0)).collect();
                let least = values.iter().copied().reduce(f32::min).unwrap_or(0.0);
                slide("", SliderKind::Int, 0, [least, values.iter().copied().fold(least + 1.0, f32::max), least])
            }
            "color" => {
                let _ = writeln!(self.declared, "vec4 {own};");
                (0..4).try_for_each(|at| slide([".r", ".g", ".b", ".a"][at], SliderKind::Float, at, [0.0, 1.0, 1.0]))
            }
            "point2D" => {
                let _ = writeln!(self.declared, "vec2 {own};");
                (0..2).try_for_each(|at| slide([".x", ".y"][at], SliderKind::Float, at, [0.0, 1.0, 0.0]))
            }
            "image" => {
                self.images.push(own);
                Ok(())
            }
            other => Err(format!(
                "input '{own}' has the unsupported type '{other}'; use float, bool, long, event, color, \
                             point2D or image"
            )),
        }
    }
}
