//! ISF: a fragment shader whose first comment is JSON. Its inputs are sliders and channels, its passes buffers.
//!
//! Of the specification (version 2, isf.video) there is all but sound: inputs of `audio` and `audioFFT` are silent. Images are channels in
//! their order.

use super::fragment::{Around, OLD, colour, fragment};
use super::parts::names;
use crate::error::{Fault, PlayError};
use crate::gl::{PLAIN, RENAMED};
use crate::pass::{Channel, Fragment, Pass, Piece, Source};
use crate::slider::{Kind, Slider};
use serde_json::Value;
use std::fmt::Write as _;

/// Numbers that both stages may name.
const INPUTS: &str = "uniform int PASSINDEX, FRAMEINDEX;
uniform vec2 RENDERSIZE;
uniform float TIME, TIMEDELTA;
uniform vec4 DATE;
#define vv_FragNormCoord isf_FragNormCoord
#define IMG_SIZE(image) vec2(textureSize(image, 0))
#define IMG_PIXEL(image, at) texture(image, (at) / vec2(textureSize(image, 0)))
#define IMG_NORM_PIXEL(image, at) texture(image, at)
#define IMG_THIS_PIXEL(image) texture(image, isf_FragNormCoord)
#define IMG_THIS_NORM_PIXEL(image) texture(image, isf_FragNormCoord)
";

/// What each stage has besides.
const FRAGMENT: &str = "#define varying in
in vec2 isf_FragNormCoord;
";
const VERTEX: &str = "#define varying out
#define vv_vertShaderInit isf_vertShaderInit
out vec2 isf_FragNormCoord;
vec2 isf_fragCoord;
void isf_vertShaderInit() {
  isf_FragNormCoord = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  isf_fragCoord = floor(isf_FragNormCoord * RENDERSIZE);
  gl_Position = vec4(2.0 * isf_FragNormCoord - 1.0, 0.0, 1.0);
}
";
/// Names that ISF gives freely and GLSL keeps for itself.
const KEPT: [&str; 8] = ["half", "fixed", "input", "output", "filter", "active", "sample", "buffer"];

/// Inputs as they are read so far.
#[derive(Default)]
struct Inputs {
    sliders: Vec<Slider>,
    /// Images with what they show.
    images: Vec<(String, Option<Channel>)>,
    silent: Vec<String>,
    declared: String,
}

/// All passes of a text, and its sliders. `vertices` is the text of its vertex shader, where it has one.
pub fn passes(piece: &Piece, vertices: Option<&Piece>) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    let fault =
        |text: String| PlayError::Faults(vec![Fault { file: piece.file.clone(), line: None, column: None, text }]);
    let json = header(&piece.text).map_err(fault)?;
    let mut inputs = Inputs::default();
    for input in array(&json, "INPUTS") {
        inputs.add(input, piece).map_err(fault)?;
    }
    let empty = Value::Null;
    let all: Vec<&Value> = array(&json, "PASSES").iter().collect();
    let all = if all.is_empty() { vec![&empty] } else { all };
    let mut targets: Vec<String> = Vec::new();
    for target in all.iter().map(|pass| text(pass, "TARGET")).filter(|target| !target.is_empty()) {
        let target = name(target).map_err(fault)?;
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let shown = |source| Some(Channel { source, sampling: PLAIN, is_turned: false });
    let is_filter = !inputs.images.is_empty();
    inputs.images.extend(targets.iter().enumerate().map(|(at, name)| (name.clone(), shown(Source::Buffer(at)))));
    inputs.imported(&json, piece).map_err(fault)?;
    inputs.images.extend(std::mem::take(&mut inputs.silent).into_iter().map(|name| (name, None)));
    let declared = inputs.declared(&[Some(piece), vertices]);
    let (colour, first) = colour(&piece.text);
    let around = Around { before: format!("{OLD}{declared}{FRAGMENT}{colour}"), first };
    let (names, channels): (Vec<_>, Vec<_>) = inputs.images.into_iter().unzip();
    let vertex = vertices.map(|piece| {
        let before = format!("{OLD}{declared}{VERTEX}");
        let made = fragment(piece, None, &Around { before, first: "" }, Fragment::default());
        (made.text, made.origin)
    });
    let mut made = fragment(piece, None, &around, Fragment::default());
    made.channels = channels;
    let pass = |(at, pass): (usize, &&Value)| {
        let target = text(pass, "TARGET");
        let buffer = targets.iter().position(|known| known == target);
        let old = json.get("PERSISTENT_BUFFERS").and_then(|all| all.get(target));
        let size = ["WIDTH", "HEIGHT"].map(|side| match pass.get(side).or_else(|| old?.get(side)) {
            Some(Value::String(text)) => text.clone(),
            Some(number) => number.to_string(),
            None => String::new(),
        });
        let is_float = [Some(*pass), old].into_iter().flatten().any(|of| of.get("FLOAT").is_some_and(truth));
        let own = Fragment {
            is_strict: false,
            names: names.clone(),
            vertex: vertex.clone(),
            size,
            is_filter,
            is_float,
            index: at as i32,
        };
        Pass { buffer, fragment: own, ..made.clone() }
    };
    Ok((all.iter().enumerate().map(pass).collect(), inputs.sliders))
}

fn truth(json: &Value) -> bool {
    json.as_bool().unwrap_or_else(|| json.as_f64().is_some_and(|number| number != 0.0))
}

/// The JSON in the first comment.
fn header(text: &str) -> Result<Value, String> {
    let json = text.trim_start().strip_prefix("/*").and_then(|rest| Some(rest.split_once("*/")?.0));
    let json = json.ok_or("its first comment is no JSON, as ISF has it: /*{ \"INPUTS\": [] }*/")?;
    serde_json::from_str(json.trim()).map_err(|error| format!("its first comment is no JSON: {error}"))
}

fn array<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(json: &'a Value, name: &str) -> &'a str {
    json.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A name that a text can have.
fn name(name: &str) -> Result<String, String> {
    let is_name =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.starts_with(|c: char| !c.is_ascii_digit());
    if is_name { Ok(name.to_owned()) } else { Err(format!("'{name}' is no name of an input or a pass")) }
}

fn number(json: Option<&Value>, usual: f32) -> f32 {
    let read = json.and_then(|json| json.as_f64().or_else(|| json.as_bool().map(f64::from)));
    read.map_or(usual, |number| number as f32)
}

impl Inputs {
    /// Declares all of them, for texts that name the rest.
    fn declared(&self, texts: &[Option<&Piece>]) -> String {
        let mut declared = INPUTS.to_owned();
        let own = self.sliders.iter().map(|slider| slider.name.as_str());
        for kept in KEPT.iter().filter(|kept| own.clone().chain(self.images()).any(|name| name == **kept)) {
            let _ = writeln!(declared, "#define {kept} {RENAMED}{kept}");
        }
        declared.extend(self.sliders.iter().map(Slider::declared));
        declared += &self.declared;
        for name in self.images() {
            let _ = writeln!(declared, "uniform sampler2D {name};");
            for (suffix, value) in [
                ("imgRect", "vec4(0.0, 0.0, 1.0, 1.0)".to_owned()),
                ("imgSize", format!("vec2(textureSize({name}, 0))")),
                ("flip", "false".to_owned()),
                ("normTexCoord", "isf_FragNormCoord".to_owned()),
                ("texCoord", "isf_FragNormCoord".to_owned()),
            ] {
                let word = format!("_{name}_{suffix}");
                if texts.iter().flatten().any(|piece| names(&piece.text, &word)) {
                    let _ = writeln!(declared, "#define {word} {value}");
                }
            }
        }
        declared
    }

    fn images(&self) -> impl Iterator<Item = &str> + Clone {
        self.images.iter().map(|(name, _)| name.as_str())
    }

    /// Pictures that the text brings with it.
    fn imported(&mut self, json: &Value, piece: &Piece) -> Result<(), String> {
        let folder = piece.file.parent().unwrap_or(std::path::Path::new(""));
        let all: Vec<(&str, &Value)> = match json.get("IMPORTED") {
            Some(Value::Object(all)) => all.iter().map(|(name, import)| (name.as_str(), import)).collect(),
            Some(Value::Array(all)) => all.iter().map(|import| (text(import, "NAME"), import)).collect(),
            _ => Vec::new(),
        };
        for (own, import) in all {
            let own = name(own)?;
            let source = Source::Picture(folder.join(text(import, "PATH")));
            self.images.push((own, Some(Channel { source, sampling: PLAIN, is_turned: false })));
        }
        Ok(())
    }

    fn add(&mut self, input: &Value, piece: &Piece) -> Result<(), String> {
        let (own, of) = (name(text(input, "NAME"))?, text(input, "TYPE"));
        let part = |key: &str, at: usize, usual: f32| {
            let found = input.get(key);
            number(found.and_then(|found| found.get(at)).or(found), usual)
        };
        let mut slide = |suffix: &str, kind: Kind, at: usize, [least, most, usual]: [f32; 3]| {
            let value = part("DEFAULT", at, usual);
            let (least, most) = (part("MIN", at, least), part("MAX", at, most));
            // A number at first that is beyond them is one, too.
            let limits = [least.min(most).min(value), most.max(least).max(value)];
            let limits = if limits[0] < limits[1] { limits } else { [limits[0], limits[0] + 1.0] };
            self.sliders.push(Slider { name: format!("{own}{suffix}"), kind, limits, value });
        };
        match of {
            "float" => slide("", Kind::Float, 0, [0.0, 1.0, 0.0]),
            "bool" => slide("", Kind::Bool, 0, [0.0, 1.0, 0.0]),
            "event" => slide("", Kind::Event, 0, [0.0, 1.0, 0.0]),
            "long" => {
                let values: Vec<f32> = array(input, "VALUES").iter().map(|value| number(Some(value), 0.0)).collect();
                let least = values.iter().copied().reduce(f32::min).unwrap_or(0.0);
                slide("", Kind::Int, 0, [least, values.iter().copied().fold(least + 1.0, f32::max), least]);
            }
            "color" => {
                let _ = writeln!(self.declared, "uniform vec4 {own};");
                (0..4).for_each(|at| slide([".r", ".g", ".b", ".a"][at], Kind::Float, at, [0.0, 1.0, 1.0]));
            }
            "point2D" => {
                let _ = writeln!(self.declared, "uniform vec2 {own};");
                (0..2).for_each(|at| slide([".x", ".y"][at], Kind::Float, at, [0.0, 1.0, 0.0]));
            }
            "image" => {
                let shown = piece.channels.get(self.images.len()).cloned().flatten();
                self.images.push((own, shown));
            }
            "audio" | "audioFFT" => self.silent.push(own),
            other => {
                return Err(format!(
                    "the input '{own}' is a '{other}'; take float, bool, long, event, color, point2D, image, audio or audioFFT"
                ));
            }
        }
        Ok(())
    }
}
