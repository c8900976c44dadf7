//! Kernels. Those in GLSL and WGSL have their own entry points, and their inputs are numbers by index: macros in GLSL, and
//! functions in WGSL, which has no macros. In OpenCL C and CUDA C++, the parameters after the target name the inputs.

use super::tokens::{names, without_comments, without_version};
use crate::dialect::Dialect;
use crate::error::{COMMON, Fault, NOBODYS, PlayError, line_mark};
use crate::input::{self, CHANNELS, MOST_SLIDERS, PLACES, Param, Slider, SliderKind, by_place, named};
use crate::pass::{Pass, Piece};
use lazy_regex::{Lazy, Regex, lazy_regex, regex_captures};

/// Inputs of languages that read numbers by index: name, type in WGSL, and expression.
const INPUTS: [(&str, &str, &str); 7] = [
    ("iTime", "f32", "pf_arg_f32(0)"),
    ("iTimeDelta", "f32", "pf_arg_f32(1)"),
    ("iFrameRate", "f32", "pf_arg_f32(2)"),
    ("iFrame", "i32", "pf_arg_i32(3)"),
    ("iMouse", "vec4<f32>", "vec4(pf_arg_f32(4), pf_arg_f32(5), pf_arg_f32(6), pf_arg_f32(7))"),
    ("iDate", "vec4<f32>", "vec4(pf_arg_f32(8), pf_arg_f32(9), pf_arg_f32(10), pf_arg_f32(11))"),
    ("iResolution", "vec3<f32>", "vec3(vec2<f32>(pf_size()), 1.0)"),
];

/// Returns those inputs, and the sliders in the same form.
///
/// # Errors
/// A launch has no room for this many sliders.
fn inputs(sliders: &[Slider]) -> Result<Vec<(&str, &'static str, String)>, PlayError> {
    let count = sliders.len();
    if count > MOST_SLIDERS {
        return Err(PlayError::Option(format!("too many sliders: {count}, this language has at most {MOST_SLIDERS}")));
    }
    let sliders = (PLACES..).zip(sliders).map(|(at, slider)| match slider.kind {
        SliderKind::Float => (slider.name.as_str(), "f32", format!("pf_arg_f32({at})")),
        SliderKind::Int => (slider.name.as_str(), "i32", format!("pf_arg_i32({at})")),
        SliderKind::Bool | SliderKind::Event => (slider.name.as_str(), "bool", format!("(pf_arg_i32({at}) != 0)")),
    });
    Ok(INPUTS.iter().map(|(name, of, text)| (*name, *of, (*text).to_owned())).chain(sliders).collect())
}

/// Channels of a file that are set.
fn bound(piece: &Piece) -> impl Iterator<Item = usize> + '_ {
    (0..CHANNELS).filter(|at| matches!(piece.channels.get(*at), Some(Some(_))))
}

/// Makes a pass of a compute shader.
pub fn glsl_pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let mut text = line_mark(NOBODYS);
    for (name, _, value) in inputs(sliders)? {
        text += &format!("#define {name} {}\n", value.replace("<f32>", ""));
    }
    let common_text = common.map(|common| line_mark(COMMON) + &common.text + "\n").unwrap_or_default();
    // The driver reports only buffers that are read.
    let is_read = |at: &usize| [&piece.text, &common_text].iter().any(|text| names(text, &format!("iChannel{at}")));
    let read: Vec<_> = bound(piece).filter(is_read).collect();
    for (place, at) in (1..).zip(&read) {
        let size = 12 + at;
        text += &format!(
            "layout(std430, binding = {place}) readonly buffer PfChannel{at} {{ vec4 pf_texels{at}[]; }};
ivec2 iChannel{at}_size() {{ uint size = pf_arg_u32({size}); return max(ivec2(size & 65535u, size >> 16u), ivec2(1)); }}
vec4 iChannel{at}(ivec2 xy) {{
  ivec2 size = iChannel{at}_size();
  xy = clamp(xy, ivec2(0), size - 1);
  return pf_texels{at}[xy.y * size.x + xy.x];
}}\n"
        );
    }
    text += &(common_text + &line_mark(0) + &without_version(&piece.text));
    let params = by_place(sliders, read.into_iter());
    Ok(Pass::of_kernel("main".to_owned(), Dialect::Glsl, text, params, piece.origin(common, COMMON)))
}

/// Makes a pass of WGSL. Appends only what the shader uses.
pub fn wgsl_pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let (_, kernel) = regex_captures!(r"(?s)@compute\b.*?\bfn\s+(\w+)", &piece.text).ok_or_else(|| {
        Fault::new(&piece.file, None, "there is no entry point; add a function '@compute ... fn NAME'")
    })?;
    // The common file follows, so that line numbers stay.
    let origin = piece.origin(common, piece.text.lines().count() as u32);
    let own = common.map_or_else(|| piece.text.clone(), |common| piece.text.clone() + &common.text);
    let mut text = own.clone();
    for (name, of, value) in inputs(sliders)?.iter().filter(|(name, ..)| names(&own, name)) {
        text += &format!("fn {name}() -> {of} {{ return {value}; }}\n");
    }
    for (place, at) in bound(piece).enumerate() {
        let size = 12 + at;
        text += &format!(
            "@group(1) @binding({place}) var<storage, read> pf_texels_{at}c: array<vec4<f32>>;
fn iChannel{at}_size() -> vec2<i32> {{
  return max(vec2<i32>(i32(pf_arg_u32({size}) & 65535u), i32(pf_arg_u32({size}) >> 16u)), vec2<i32>(1));
}}
fn iChannel{at}(xy: vec2<i32>) -> vec4<f32> {{
  let size = iChannel{at}_size();
  let inside = clamp(xy, vec2<i32>(0), size - 1);
  return pf_texels_{at}c[inside.y * size.x + inside.x];
}}\n"
        );
    }
    let params = by_place(sliders, bound(piece));
    Ok(Pass::of_kernel(kernel.to_owned(), Dialect::Wgsl, text, params, origin))
}

/// A kernel's name and its parameters. Attributes, which may have brackets of their own, come before the name.
static KERNEL: Lazy<Regex> =
    lazy_regex!(r"\b(?:(?:__)?kernel|__global__)\b[^{;]*?\b(\w+)\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\s*\{");
static PARAMETER: Lazy<Regex> = lazy_regex!(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+");

/// Makes a pass of OpenCL C or CUDA C++.
pub fn c_pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider], language: Dialect) -> Result<Pass, PlayError> {
    let bare = without_comments(&piece.text);
    let found = KERNEL.captures(&bare).ok_or_else(|| {
        let mark = if language == Dialect::OpenClC { "kernel" } else { "__global__" };
        let text = format!("there is no kernel; write one as {mark} void picture(PF_IMAGE(uchar4, out), float iTime)");
        Fault::new(&piece.file, None, text)
    })?;
    let (kernel, at) = (found[1].to_owned(), found.get(0).map_or(0, |found| found.start()));
    let fault = |text| Fault::new(&piece.file, Some(1 + bare[..at].matches('\n').count() as u32), text);
    let mut given = PARAMETER.find_iter(&found[2]).map(|declared| declared.as_str().trim());
    if !given.next().is_some_and(|target| target.starts_with("PF_IMAGE")) {
        let text = format!("the kernel '{kernel}' has no target: its first parameter must be PF_IMAGE(uchar4, out)");
        return Err(fault(text).into());
    }
    let params = given.map(|declared| param(declared, sliders).map_err(fault)).collect::<Result<_, _>>()?;
    let mut origin = piece.origin(common, 0);
    origin.before = origin.common.as_ref().map_or(0, |(.., lines)| *lines);
    let text = common.map_or_else(String::new, |common| common.text.clone()) + &piece.text;
    Ok(Pass::of_kernel(kernel, language, text, params, origin))
}

fn param(declared: &str, sliders: &[Slider]) -> Result<Param, String> {
    let declared = declared.trim();
    let name = declared.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    let kind = declared[..declared.len() - name.len()].trim();
    if kind.contains('*') {
        let channel = name.strip_prefix("iChannel").and_then(|at| at.parse().ok()).filter(|at| *at < CHANNELS);
        let text = "is a pointer: only iChannel0 to iChannel3 can be pointers, of type const float4";
        return channel.map(Param::Channel).ok_or_else(|| format!("the parameter '{declared}' {text}"));
    }
    let number = named(name, sliders).ok_or_else(|| {
        let known = input::names(sliders);
        format!("unknown parameter '{name}'; available: {known}, and sliders (@slider {name} 0..1)")
    })?;
    let kind = kind.trim_start_matches("const").trim();
    match kind {
        "float" => Ok(Param::Float(number)),
        "int" => Ok(Param::Int(number)),
        "uint" | "unsigned" | "unsigned int" => Ok(Param::Uint(number)),
        _ => Err(format!("the parameter '{declared}' has the type '{kind}'; use float, int or uint")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_with_their_parameters() {
        let text = "/* kernel void no(int a) */\nfloat f(float x) { return x; }\n__kernel void rings(PF_IMAGE(uchar4, out), float iTime,\n  int iFrame) {}";
        let bare = without_comments(text);
        assert_eq!(bare.len(), text.len());
        for bare in [
            bare.clone(),
            bare.replace("void rings", "__attribute__((x(8, 8, 1))) void rings")
                .replace("iFrame)", "iFrame __attribute__((a)))"),
        ] {
            let head = KERNEL.captures(&bare).unwrap();
            let parameters: Vec<_> = PARAMETER.find_iter(&head[2]).map(|found| found.as_str().trim()).collect();
            assert_eq!(&head[1], "rings");
            assert_eq!(parameters[..2], ["PF_IMAGE(uchar4, out)", "float iTime"]);
            assert!(parameters.len() == 3 && parameters[2].starts_with("int iFrame"));
        }
    }

    #[test]
    fn parameters_are_given_by_their_names() {
        let sliders = [Slider {
            name: "speed".into(),
            kind: SliderKind::Float,
            limits: [0.0, 1.0],
            value: 0.5,
            menu: Vec::new(),
        }];
        let of = |declared: &str| param(declared, &sliders);
        assert_eq!(of("float iTime"), Ok(Param::Float(0)));
        assert_eq!(of(" const int\n speed "), Ok(Param::Int(26)));
        assert_eq!(of("global const float4 *iChannel2"), Ok(Param::Channel(2)));
        assert!(of("float wind").unwrap_err().contains("iTime"));
        assert!(of("double iTime").unwrap_err().contains("use float"));
        assert!(of("float *x").unwrap_err().contains("pointer"));
    }
}
