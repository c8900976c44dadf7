//! ISF: a fragment shader that begins with a comment in JSON. Its inputs become sliders and channels, and its passes
//! buffers.
//!
//! Supported is all of the specification (version 2, isf.video) except sound: inputs of the types `audio` and
//! `audioFFT` are silent. Images are channels in order of declaration.

use super::fragment::{OLD, TextWrapper, colour, fragment};
use super::parts::names;
use crate::error::{Fault, PlayError};
use crate::gl::{RENAMED, SamplerState};
use crate::pass::{Channel, FragmentInfo, Pass, Piece, Source};
use crate::slider::{Slider, SliderKind};
use serde_json::Value;
use std::fmt::Write as _;

/// Declares the inputs of both stages.
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

/// Declarations of one stage.
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
/// Names that are valid in ISF but reserved in GLSL.
const RESERVED: [&str; 8] = ["half", "fixed", "input", "output", "filter", "active", "sample", "buffer"];

/// Inputs that were read so far.
#[derive(Default)]
struct Inputs {
    sliders: Vec<Slider>,
    /// Names of images, and their channels.
    images: Vec<(String, Option<Channel>)>,
    silent: Vec<String>,
    declared: String,
}

/// Returns all passes of a shader, and its sliders. `vertices` is its vertex shader, if it has one.
pub fn passes(piece: &Piece, vertices: Option<&Piece>) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    let fault = |text: String| Fault::new(&piece.file, None, text);
    let json = header(&piece.text).map_err(fault)?;
    let mut inputs = Inputs::default();
    for input in array(&json, "INPUTS") {
        inputs.add(input, piece).map_err(fault)?;
    }
    let no_pass = [Value::Null];
    let all = Some(array(&json, "PASSES")).filter(|all| !all.is_empty()).unwrap_or(&no_pass);
    let mut targets: Vec<&str> = Vec::new();
    for target in all.iter().map(|pass| text(pass, "TARGET")).filter(|target| !target.is_empty()) {
        if !targets.contains(&target) {
            targets.push(name(target).map_err(fault)?);
        }
    }
    let is_filter = !inputs.images.is_empty();
    for (at, target) in targets.iter().enumerate() {
        inputs.images.push(((*target).to_owned(), Some(channel(Source::Buffer(at)))));
    }
    inputs.add_imported(&json, piece).map_err(fault)?;
    inputs.images.extend(std::mem::take(&mut inputs.silent).into_iter().map(|name| (name, None)));
    let declared = inputs.declared(&[Some(piece), vertices]);
    let vertex = vertices.map(|piece| {
        let around = TextWrapper { before: format!("{OLD}{declared}{VERTEX}"), entry: ("main", "") };
        let made = fragment(piece, None, &around, FragmentInfo::default());
        (made.text, made.origin)
    });
    let (names, channels): (Vec<_>, Vec<_>) = inputs.images.into_iter().unzip();
    let wrapped = |piece: &Piece| {
        let (colour, entry) = colour(&piece.text);
        let around = TextWrapper { before: format!("{OLD}{declared}{FRAGMENT}{colour}"), entry };
        let own = FragmentInfo { names: names.clone(), vertex: vertex.clone(), is_filter, ..FragmentInfo::default() };
        Pass { channels: channels.clone(), ..fragment(piece, None, &around, own) }
    };
    let made = wrapped(piece);
    let mut passes: Vec<Pass> = Vec::new();
    for (index, pass) in all.iter().enumerate() {
        let target = text(pass, "TARGET");
        let old = json.get("PERSISTENT_BUFFERS").and_then(|all| all.get(target));
        let size = ["WIDTH", "HEIGHT"].map(|side| match pass.get(side).or_else(|| old?.get(side)) {
            Some(Value::String(text)) => text.clone(),
            Some(number) => number.to_string(),
            None => String::new(),
        });
        let is_float = [Some(pass), old].into_iter().flatten().any(|of| of.get("FLOAT").is_some_and(truth));
        let buffer = targets.iter().position(|known| *known == target);
        passes.push(Pass { buffer, ..made.clone() });
        if let Some(Pass { fragment, .. }) = passes.last_mut() {
            (fragment.size, fragment.is_float, fragment.index) = (size, is_float, index);
        }
    }
    // The picture is the output of the last pass, even if that has a target.
    if let Some(target) = passes.last().and_then(|pass| targets.get(pass.buffer?)) {
        let text = format!("void main() {{ gl_FragColor = IMG_THIS_NORM_PIXEL({target}); }}");
        let mut copy = wrapped(&Piece { text, ..piece.clone() });
        copy.fragment.vertex = None;
        passes.push(copy);
    }
    Ok((passes, inputs.sliders))
}

fn channel(source: Source) -> Channel {
    Channel { source, sampling: SamplerState::PLAIN, is_turned: false }
}

fn truth(json: &Value) -> bool {
    json.as_bool().unwrap_or_else(|| json.as_f64().is_some_and(|number| number != 0.0))
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

/// Checks that a name is a valid identifier.
fn name(name: &str) -> Result<&str, String> {
    let is_name =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.starts_with(|c: char| !c.is_ascii_digit());
    if is_name { Ok(name) } else { Err(format!("'{name}' is not a valid name for an input or a pass")) }
}

fn number(json: Option<&Value>, usual: f32) -> f32 {
    let read = json.and_then(|json| json.as_f64().or_else(|| json.as_bool().map(f64::from)));
    read.map_or(usual, |number| number as f32)
}

impl Inputs {
    /// Declares all of them, for shaders that use the optional names.
    fn declared(&self, texts: &[Option<&Piece>]) -> String {
        let mut declared = INPUTS.to_owned();
        let own = self.sliders.iter().map(|slider| slider.name.as_str());
        for reserved in
            RESERVED.iter().filter(|reserved| own.clone().chain(self.images()).any(|name| name == **reserved))
        {
            let _ = writeln!(declared, "#define {reserved} {RENAMED}{reserved}");
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

    /// Adds the pictures that come with the shader.
    fn add_imported(&mut self, json: &Value, piece: &Piece) -> Result<(), String> {
        let folder = piece.file.parent().unwrap_or(std::path::Path::new(""));
        let all: Vec<(&str, &Value)> = match json.get("IMPORTED") {
            Some(Value::Object(all)) => all.iter().map(|(name, import)| (name.as_str(), import)).collect(),
            Some(Value::Array(all)) => all.iter().map(|import| (text(import, "NAME"), import)).collect(),
            _ => Vec::new(),
        };
        for (own, import) in all {
            let source = Source::Picture(folder.join(text(import, "PATH")));
            self.images.push((name(own)?.to_owned(), Some(channel(source))));
        }
        Ok(())
    }

    fn add(&mut self, input: &Value, piece: &Piece) -> Result<(), String> {
        let (own, of) = (name(text(input, "NAME"))?.to_owned(), text(input, "TYPE"));
        let part = |key: &str, at: usize, usual: f32| {
            let found = input.get(key);
            number(found.and_then(|found| found.get(at)).or(found), usual)
        };
        let mut slide = |suffix: &str, kind: SliderKind, at: usize, [least, most, usual]: [f32; 3]| {
            let value = part("DEFAULT", at, usual);
            let (least, most) = (part("MIN", at, least), part("MAX", at, most));
            // An initial value outside of the limits extends them.
            let limits = [least.min(most).min(value), most.max(least).max(value)];
            let limits = if limits[0] < limits[1] { limits } else { [limits[0], limits[0] + 1.0] };
            self.sliders.push(Slider { name: format!("{own}{suffix}"), kind, limits, value, menu: Vec::new() });
        };
        match of {
            "float" => slide("", SliderKind::Float, 0, [0.0, 1.0, 0.0]),
            "bool" => slide("", SliderKind::Bool, 0, [0.0, 1.0, 0.0]),
            "event" => slide("", SliderKind::Event, 0, [0.0, 1.0, 0.0]),
            "long" => {
                let values: Vec<f32> = array(input, "VALUES").iter().map(|value| number(Some(value), 0.0)).collect();
                let least = values.iter().copied().reduce(f32::min).unwrap_or(0.0);
                slide("", SliderKind::Int, 0, [least, values.iter().copied().fold(least + 1.0, f32::max), least]);
                let label = |(at, value): (usize, &f32)| {
                    let label = array(input, "LABELS").get(at).and_then(Value::as_str);
                    (*value, label.map_or_else(|| value.to_string(), str::to_owned))
                };
                if let Some(slider) = self.sliders.last_mut() {
                    slider.menu = values.iter().enumerate().map(label).collect();
                    slider.value = slider.nearest(slider.value);
                }
            }
            "color" => {
                let _ = writeln!(self.declared, "uniform vec4 {own};");
                (0..4).for_each(|at| slide([".r", ".g", ".b", ".a"][at], SliderKind::Float, at, [0.0, 1.0, 1.0]));
            }
            "point2D" => {
                let _ = writeln!(self.declared, "uniform vec2 {own};");
                (0..2).for_each(|at| slide([".x", ".y"][at], SliderKind::Float, at, [0.0, 1.0, 0.0]));
            }
            "image" => {
                let shown = piece.channels.get(self.images.len()).cloned().flatten();
                self.images.push((own, shown));
            }
            "audio" | "audioFFT" => self.silent.push(own),
            other => {
                return Err(format!(
                    "input '{own}' has the unknown type '{other}'; use float, bool, long, event, color, point2D, \
                     image, audio or audioFFT"
                ));
            }
        }
        Ok(())
    }
}
