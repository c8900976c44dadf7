//! OpenCL C and CUDA C++: a kernel whose parameters after the target name its inputs.

use super::Dialect;
use super::tokens::without_comments;
use crate::error::{Fault, PlayError};
use crate::input::{CHANNELS, Param, named, names};
use crate::log::Origin;
use crate::program::{Pass, Piece};
use crate::slider::Slider;
use lazy_regex::{Lazy, Regex, lazy_regex};

/// A kernel's name and its parameters. Attributes, which may have brackets of their own, come before the name.
static KERNEL: Lazy<Regex> =
    lazy_regex!(r"\b(?:(?:__)?kernel|__global__)\b[^{;]*?\b(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*\{");
static PARAMETER: Lazy<Regex> = lazy_regex!(r"(?:[^,()]|\([^()]*\))+");

/// Makes a pass of OpenCL C or CUDA C++.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider], language: Dialect) -> Result<Pass, PlayError> {
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
    let mut origin = Origin { common: common.map(|common| common.numbered(0)), ..Origin::of(&piece.file, &piece.text) };
    origin.before = origin.common.as_ref().map_or(0, |(.., lines)| *lines);
    let text = common.map_or_else(String::new, |common| common.text.clone()) + &piece.text;
    Ok(Pass::of_kernel(kernel, language, text, params, origin))
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
        for bare in [bare.clone(), bare.replace("void rings", "__attribute__((x(8, 8, 1))) void rings")] {
            let head = KERNEL.captures(&bare).unwrap();
            let parameters: Vec<_> = PARAMETER.find_iter(&head[2]).map(|found| found.as_str().trim()).collect();
            assert_eq!(&head[1], "rings");
            assert_eq!(parameters, ["PF_IMAGE(uchar4, out)", "float iTime", "int iFrame"]);
        }
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
