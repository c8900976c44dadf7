//! OpenCL C and CUDA C++: a kernel whose parameters after the target name its inputs.

use crate::error::{Fault, PlayError};
use crate::input::{CHANNELS, Number, Param};
use crate::log::Origin;
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::Slider;

fn fault(piece: &Piece, line: Option<u32>, text: String) -> PlayError {
    PlayError::Faults(vec![Fault { file: piece.file.clone(), line, column: None, text }])
}

/// Makes a pass of OpenCL C or CUDA C++.
pub fn pass(
    piece: &Piece,
    common: Option<&Piece>,
    sliders: &[Slider],
    language: PassLanguage,
) -> Result<Pass, PlayError> {
    let bare = without_comments(&piece.text);
    let mark = if language == PassLanguage::OpenClC { "kernel" } else { "__global__" };
    let head = heads(&bare, mark).next().ok_or_else(|| {
        fault(
            piece,
            None,
            format!("there is no kernel; write one as {mark} void picture(PF_IMAGE(uchar4, out), float iTime)"),
        )
    })?;
    let line = Some(1 + bare[..head.at].matches('\n').count() as u32);
    let mut given = split(head.parameters);
    let target = given.next().unwrap_or_default().trim();
    if !target.starts_with("PF_IMAGE") {
        return Err(fault(
            piece,
            line,
            format!("the kernel '{}' has no target: its first parameter must be PF_IMAGE(uchar4, out)", head.name),
        ));
    }
    let params = given
        .map(|declared| param(declared, sliders).map_err(|why| fault(piece, line, why)))
        .collect::<Result<_, _>>()?;
    let mut origin = Origin::of(piece.file.clone());
    let text = match common {
        None => piece.text.clone(),
        Some(common) => {
            let ahead = common.text.trim_end_matches('\n');
            origin.common = Some((common.file.clone(), 0));
            origin.before = ahead.lines().count() as u32;
            format!("{ahead}\n{}", piece.text)
        }
    };
    let kernel = head.name.to_owned();
    Ok(Pass { kernel, language, text, params, buffer: None, channels: Default::default(), origin })
}

/// Declaration of a kernel.
struct Head<'a> {
    at: usize,
    name: &'a str,
    parameters: &'a str,
}

/// Finds the kernels in a text whose comments are blanked.
fn heads<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = Head<'a>> {
    text.match_indices(mark).filter_map(move |(at, _)| {
        // `__kernel` counts, but a longer word does not.
        let is_longer = text[at + mark.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if is_longer || text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let behind = &text[at + mark.len()..];
        let open = at + mark.len() + behind.find('(')?;
        let name = text[..open].trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        let mut depth = 0_usize;
        let close = text[open..].char_indices().find_map(|(to, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(open + to)
        })?;
        Some(Head { at, name, parameters: &text[open + 1..close] })
    })
}

/// Splits parameters at commas outside of brackets.
fn split(parameters: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    parameters
        .split(move |c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .filter(|part| !part.trim().is_empty())
}

fn channel(name: &str) -> Option<usize> {
    name.strip_prefix("iChannel")?.parse().ok().filter(|channel| *channel < CHANNELS)
}

fn param(declared: &str, sliders: &[Slider]) -> Result<Param, String> {
    let declared = declared.trim();
    let name = declared.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    let kind = declared[..declared.len() - name.len()].trim();
    if kind.contains('*') {
        return channel(name).map(Param::Channel).ok_or_else(|| {
            format!(
                "the parameter '{declared}' is a pointer: only iChannel0 to iChannel3 can be pointers, of type const \
                 float4"
            )
        });
    }
    let number = Number::named(name, sliders).ok_or_else(|| {
        let known = Number::names(sliders);
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

/// Blanks the comments and keeps all positions.
fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        let end = if comment.starts_with("//") { comment.find('\n') } else { comment.find("*/").map(|end| end + 2) };
        let (comment, behind) = comment.split_at(end.unwrap_or(comment.len()));
        bare += before;
        bare.extend(comment.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = behind;
    }
    bare + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_with_their_parameters() {
        let text = "/* kernel void no(int a) */\nfloat f(float x) { return x; }\n__kernel void rings(PF_IMAGE(uchar4, out), float iTime,\n  int iFrame) {}";
        let bare = without_comments(text);
        assert_eq!(bare.len(), text.len());
        let heads: Vec<_> = heads(&bare, "kernel").map(|head| (head.name, split(head.parameters).count())).collect();
        assert_eq!(heads, [("rings", 3)]);
    }

    #[test]
    fn parameters_are_given_by_their_names() {
        let sliders =
            [Slider { name: "speed".into(), kind: crate::slider::SliderKind::Float, limits: [0.0, 1.0], value: 0.5 }];
        let of = |declared: &str| param(declared, &sliders);
        assert_eq!(of("float iTime"), Ok(Param::Float(Number::Time)));
        assert_eq!(of(" const int\n speed "), Ok(Param::Int(Number::Slider(0))));
        assert_eq!(of("global const float4 *iChannel2"), Ok(Param::Channel(2)));
        assert!(of("float wind").unwrap_err().contains("iTime"));
        assert!(of("double iTime").unwrap_err().contains("use float"));
        assert!(of("float *x").unwrap_err().contains("pointer"));
    }
}
