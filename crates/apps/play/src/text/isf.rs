//! ISF: a fragment shader that begins with a comment in JSON. Its inputs become sliders and channels, and its passes
//! buffers.
//!
//! Supported is all of the specification (version 2, isf.video) except sound: inputs of the types `audio` and
//! `audioFFT` are silent. Images are channels in order of declaration.

use super::fragment::{colour, fragment};
use crate::gl::{RENAMED, SamplerState};
use crate::input::{Slider, SliderKind, declarations};
use crate::pass::{Channel, FragmentInfo, Pass, Piece, Source};
use lazy_regex::regex_is_match;
use serde_json::Value;
use std::path::Path;

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
    silent: Vec<(String, Option<Channel>)>,
}

/// Returns all passes of a shader, and its sliders. `vertices` is its vertex shader, if it has one.
///
/// # Errors
/// Describes what is invalid in the first comment.
pub fn passes(piece: &Piece, vertices: Option<&Piece>) -> Result<(Vec<Pass>, Vec<Slider>), String> {
    let json = header(&piece.text)?;
    let mut inputs = Inputs::default();
    array(&json, "INPUTS").iter().try_for_each(|input| inputs.add(input, piece))?;
    let (is_filter, no_pass, mut targets) = (!inputs.images.is_empty(), [Value::Null], Vec::new());
    let all = Some(array(&json, "PASSES")).filter(|all| !all.is_empty()).unwrap_or(&no_pass);
    for target in all.iter().map(|pass| text(pass, "TARGET")).filter(|target| !target.is_empty()) {
        if !targets.contains(&target) {
            inputs.add_image(target, Source::Buffer(targets.len()))?;
            targets.push(target);
        }
    }
    inputs.add_imported(&json, piece.file.parent().unwrap_or(Path::new("")))?;
    inputs.images.append(&mut inputs.silent);
    let declared = inputs.declared();
    let vertex = vertices.map(|piece| {
        let made = fragment(piece, None, &format!("{declared}{VERTEX}"), ("main", ""), FragmentInfo::default());
        (made.text, made.origin)
    });
    let (names, channels): (Vec<_>, Vec<_>) = inputs.images.into_iter().unzip();
    let wrapped = |piece: &Piece| {
        let (colour, entry) = colour(&piece.text);
        let own = FragmentInfo { names: names.clone(), vertex: vertex.clone(), is_filter, ..FragmentInfo::default() };
        let made = fragment(piece, None, &format!("{declared}{FRAGMENT}{colour}"), entry, own);
        Pass { channels: channels.clone(), ..made }
    };
    let (made, mut passes) = (wrapped(piece), Vec::new());
    for pass in all {
        let target = text(pass, "TARGET");
        // Version 1 of the format describes buffers apart from the passes.
        let of = [Some(pass), json.get("PERSISTENT_BUFFERS").and_then(|all| all.get(target))];
        let found = |key: &str| of.into_iter().flatten().find_map(|of| of.get(key));
        let side =
            |key| found(key).map(|side| side.as_str().map_or(side.to_string(), str::to_owned)).unwrap_or_default();
        let (size, is_float) = (["WIDTH", "HEIGHT"].map(side), number(found("FLOAT"), 0.0) != 0.0);
        let fragment = FragmentInfo { size, is_float, ..made.fragment.clone() };
        passes.push(Pass { buffer: targets.iter().position(|known| *known == target), fragment, ..made.clone() });
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
fn name(name: &str) -> Result<String, String> {
    let is_valid = regex_is_match!("^[A-Za-z_][0-9A-Za-z_]*$", name);
    is_valid.then(|| name.to_owned()).ok_or_else(|| format!("'{name}' is not a valid name for an input or a pass"))
}

fn number(json: Option<&Value>, usual: f32) -> f32 {
    let read = json.and_then(|json| json.as_f64().or_else(|| json.as_bool().map(f64::from)));
    read.map_or(usual, |number| number as f32)
}

impl Inputs {
    /// Declares all of them.
    fn declared(&self) -> String {
        let mut declared = INPUTS.to_owned();
        let images = self.images.iter().map(|(name, _)| name.as_str());
        let all: Vec<_> = self.sliders.iter().map(|slider| slider.name.as_str()).chain(images.clone()).collect();
        for reserved in RESERVED.iter().filter(|reserved| all.contains(reserved)) {
            declared += &format!("#define {reserved} {RENAMED}{reserved}\n");
        }
        declared += &declarations(&self.sliders);
        for name in images {
            declared += &format!(
                "uniform sampler2D {name};
#define _{name}_imgRect vec4(0.0, 0.0, 1.0, 1.0)
#define _{name}_imgSize vec2(textureSize({name}, 0))
#define _{name}_flip false
#define _{name}_normTexCoord isf_FragNormCoord
#define _{name}_texCoord isf_FragNormCoord\n"
            );
        }
        declared
    }

    fn add_image(&mut self, own: &str, source: Source) -> Result<(), String> {
        let channel = Channel { source, sampling: SamplerState::PLAIN, is_turned: false };
        self.images.push((name(own)?, Some(channel)));
        Ok(())
    }

    /// Adds the pictures that come with the shader.
    fn add_imported(&mut self, json: &Value, folder: &Path) -> Result<(), String> {
        let all: Vec<(&str, &Value)> = match json.get("IMPORTED") {
            Some(Value::Object(all)) => all.iter().map(|(name, import)| (name.as_str(), import)).collect(),
            _ => array(json, "IMPORTED").iter().map(|import| (text(import, "NAME"), import)).collect(),
        };
        all.into_iter()
            .try_for_each(|(own, import)| self.add_image(own, Source::Picture(folder.join(text(import, "PATH")))))
    }

    fn add(&mut self, input: &Value, piece: &Piece) -> Result<(), String> {
        let own = name(text(input, "NAME"))?;
        let (kind, suffixes, usual): (_, &[&str], _) = match text(input, "TYPE") {
            "float" => (SliderKind::Float, &[""], 0.0),
            "bool" => (SliderKind::Bool, &[""], 0.0),
            "event" => (SliderKind::Event, &[""], 0.0),
            "long" => (SliderKind::Int, &[""], 0.0),
            "color" => (SliderKind::Float, &[".r", ".g", ".b", ".a"], 1.0),
            "point2D" => (SliderKind::Float, &[".x", ".y"], 0.0),
            "image" => {
                let shown = piece.channels.get(self.images.len()).cloned().flatten();
                self.images.push((own, shown));
                return Ok(());
            }
            "audio" | "audioFFT" => {
                self.silent.push((own, None));
                return Ok(());
            }
            other => {
                let known = "float, bool, long, event, color, point2D, image, audio or audioFFT";
                return Err(format!("input '{own}' has the unknown type '{other}'; use {known}"));
            }
        };
        let label = |(at, value): (usize, &Value)| {
            let (value, label) = (number(Some(value), 0.0), array(input, "LABELS").get(at).and_then(Value::as_str));
            (value, label.map_or_else(|| value.to_string(), str::to_owned))
        };
        let values = if kind == SliderKind::Int { array(input, "VALUES") } else { &[] };
        let menu: Vec<_> = values.iter().enumerate().map(label).collect();
        let least = menu.iter().map(|(value, _)| *value).reduce(f32::min);
        let (least, usual) = (least.unwrap_or(0.0), least.unwrap_or(usual));
        let most = menu.iter().map(|(value, _)| *value).fold(least + 1.0, f32::max);
        for (at, suffix) in suffixes.iter().enumerate() {
            let part = |key: &str, usual: f32| {
                let found = input.get(key);
                number(found.and_then(|found| found.get(at)).or(found), usual)
            };
            let (value, least, most) = (part("DEFAULT", usual), part("MIN", least), part("MAX", most));
            // An initial value outside of the limits extends them.
            let limits = [least.min(most).min(value), most.max(least).max(value)];
            let limits = if limits[0] < limits[1] { limits } else { [limits[0], limits[0] + 1.0] };
            let slider = Slider { name: format!("{own}{suffix}"), kind, limits, value, menu: menu.clone() };
            self.sliders.push(if menu.is_empty() { slider } else { Slider { value: slider.nearest(value), ..slider } });
        }
        Ok(())
    }
}
