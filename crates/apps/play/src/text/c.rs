//! OpenCL C and CUDA C++: a kernel whose parameters after the target name its inputs.

use super::tokens::{Token, token_is, tokens, without_comments};
use crate::error::{Fault, PlayError};
use crate::input::{CHANNELS, Param, named, names};
use crate::log::Origin;
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::Slider;

/// Makes a pass of OpenCL C or CUDA C++.
pub fn pass(
    piece: &Piece,
    common: Option<&Piece>,
    sliders: &[Slider],
    language: PassLanguage,
) -> Result<Pass, PlayError> {
    let bare = without_comments(&piece.text);
    let mark = if language == PassLanguage::OpenClC { "kernel" } else { "__global__" };
    let head = head(&bare, &tokens(&bare), mark).ok_or_else(|| {
        let text = format!("there is no kernel; write one as {mark} void picture(PF_IMAGE(uchar4, out), float iTime)");
        Fault::new(&piece.file, None, text)
    })?;
    let line = Some(1 + bare[..head.at].matches('\n').count() as u32);
    let mut given = head.parameters.iter();
    if !given.next().is_some_and(|target| target.starts_with("PF_IMAGE")) {
        let text =
            format!("the kernel '{}' has no target: its first parameter must be PF_IMAGE(uchar4, out)", head.name);
        return Err(Fault::new(&piece.file, line, text).into());
    }
    let params = given
        .map(|declared| param(declared, sliders).map_err(|why| Fault::new(&piece.file, line, why)))
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
    Ok(Pass::of_kernel(kernel, language, text, params, origin))
}

/// Declaration of a kernel.
struct Head<'a> {
    at: usize,
    name: &'a str,
    parameters: Vec<&'a str>,
}

/// Finds the first kernel in a text whose comments are blanked.
fn head<'a>(text: &'a str, tokens: &[Token<'a>], mark: &str) -> Option<Head<'a>> {
    let is_mark = |token: &Token<'_>| token.text == mark || token.text.strip_prefix("__") == Some(mark);
    let first = tokens.iter().position(is_mark)?;
    let is_open = |at: &usize| tokens[*at].text == "(" && token_is(tokens, tokens[*at].next, "{");
    let open = (first + 1..tokens.len()).find(is_open)?;
    let (mut parameters, mut at, mut begin) = (Vec::new(), open + 1, open + 1);
    while at < tokens[open].next {
        if at + 1 == tokens[open].next || tokens[at].text == "," {
            parameters.push(text[tokens[begin].start..tokens[at].start].trim());
            begin = at + 1;
        }
        at = tokens[at].next;
    }
    Some(Head { at: tokens[first].start, name: tokens[open - 1].text, parameters })
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
    let number = named(name, sliders).ok_or_else(|| {
        let known = names(sliders);
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
        let head = head(&bare, &tokens(&bare), "kernel").unwrap();
        assert_eq!((head.name, head.parameters), ("rings", vec!["PF_IMAGE(uchar4, out)", "float iTime", "int iFrame"]));
    }

    #[test]
    fn parameters_are_given_by_their_names() {
        let sliders = [Slider {
            name: "speed".into(),
            kind: crate::slider::SliderKind::Float,
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
