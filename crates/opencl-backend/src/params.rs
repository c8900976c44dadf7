//! A kernel's parameters: what the prelude's macros declared, and what the user may pass.

use crate::ffi::ParamInfo;
use interop_core::{Arg, PixelFormat};
use opencl3::kernel::{CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL};

/// What the first parameters describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// `PF_IMAGE`.
    Image,
    /// `PF_BUFFER`.
    Buffer,
}

impl TargetKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Image => "image (PF_IMAGE)",
            Self::Buffer => "buffer (PF_BUFFER)",
        }
    }

    /// What the macro puts after the target's name.
    const fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Image => &["", "_offset", "_pitch", "_width", "_height"],
            Self::Buffer => &["", "_offset", "_bytes"],
        }
    }
}

/// A kernel's parameters, taken apart.
#[derive(Debug)]
pub struct Params {
    pub target: TargetKind,
    /// Type of one element of the target, as written.
    pub element: String,
    /// The user's own parameters.
    pub user: Vec<ParamInfo>,
}

impl Params {
    /// `Err` says what the first parameters should have been.
    pub fn new(all: Vec<ParamInfo>) -> Result<Self, String> {
        let Some(target) = [TargetKind::Image, TargetKind::Buffer].into_iter().find(|kind| begins_with(&all, *kind))
        else {
            return Err(format!(
                "the first parameter must be PF_IMAGE(T, name) or PF_BUFFER(T, name); the parameters are ({})",
                list(&all)
            ));
        };
        let target_len = target.suffixes().len();
        let mut all = all.into_iter();
        let element = all.next().map(|p| p.type_name.trim_end_matches(['*', ' ']).to_owned()).unwrap_or_default();
        Ok(Self { target, element, user: all.skip(target_len - 1).collect() })
    }

    /// Bytes of one element of the target, where its type is one of the language's own.
    pub fn element_size(&self) -> Option<usize> {
        type_size(&self.element)
    }

    /// Bytes of the target's type, where images of `format` can be written as that.
    pub fn writes(&self, format: PixelFormat) -> Option<usize> {
        let type_name = match format {
            PixelFormat::R8 => "uchar",
            PixelFormat::Rg8 => "uchar2",
            PixelFormat::Rgba8 => "uchar4",
            PixelFormat::Rgba16F => "ushort4",
            PixelFormat::R32F => "float",
            PixelFormat::Rgba32F => "float4",
            _ => return None,
        };
        self.element_size().filter(|_| self.element == type_name)
    }

    /// `Err` names the first argument that does not fit.
    pub fn check_args(&self, args: &[Arg<'_>]) -> Result<(), String> {
        if args.len() != self.user.len() {
            return Err(format!(
                "takes {} arguments after its target ({}), {} given",
                self.user.len(),
                list(&self.user),
                args.len()
            ));
        }
        for (index, (param, arg)) in self.user.iter().zip(args).enumerate() {
            let wanted = match wanted(param) {
                Wanted::Kind(kind) if kind == arg.kind() => continue,
                Wanted::Kind(kind) => kind,
                // Whether a type of the user's own has the size is for the driver to say.
                Wanted::Unknown if arg.kind() != MEMORY => continue,
                Wanted::Unknown => "a scalar",
                Wanted::Nothing(why) => why,
            };
            return Err(format!(
                "argument {index}, '{}', is declared {} and takes {wanted}; {} given",
                param.name,
                param.type_name,
                arg.kind()
            ));
        }
        Ok(())
    }
}

const MEMORY: &str = "memory";

enum Wanted {
    Kind(&'static str),
    Unknown,
    Nothing(&'static str),
}

fn wanted(param: &ParamInfo) -> Wanted {
    let pointer = param.type_name.ends_with('*');
    match param.address {
        CL_KERNEL_ARG_ADDRESS_LOCAL => Wanted::Nothing("nothing that a launch can pass: declare it inside the kernel"),
        CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT if pointer => Wanted::Kind(MEMORY),
        CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT => {
            Wanted::Nothing("nothing that a launch can pass: use a pointer to __global memory")
        }
        _ => match param.type_name.as_str() {
            "int" => Wanted::Kind("i32"),
            "uint" | "unsigned int" | "unsigned" => Wanted::Kind("u32"),
            "float" => Wanted::Kind("f32"),
            other if type_size(other).is_some() => {
                Wanted::Nothing("nothing that a launch can pass: use int, uint, float or memory")
            }
            _ => Wanted::Unknown,
        },
    }
}

fn begins_with(all: &[ParamInfo], kind: TargetKind) -> bool {
    let Some(first) = all.first().filter(|p| p.type_name.ends_with('*')) else { return false };
    let suffixes = kind.suffixes();
    all.len() >= suffixes.len()
        && all.iter().zip(suffixes).all(|(p, suffix)| p.name.strip_prefix(&first.name) == Some(suffix))
}

fn list(params: &[ParamInfo]) -> String {
    params.iter().map(|p| format!("{} {}", p.type_name, p.name)).collect::<Vec<_>>().join(", ")
}

/// Size of a scalar or vector type of OpenCL C; vectors of 3 take the room of 4.
pub fn type_size(name: &str) -> Option<usize> {
    let (scalar, lanes) = match name.find(|c: char| c.is_ascii_digit()) {
        Some(at) => (&name[..at], name[at..].parse::<usize>().ok()?),
        None => (name, 1),
    };
    let bytes = match scalar.strip_prefix("unsigned ").unwrap_or(scalar) {
        "char" | "uchar" => 1,
        "short" | "ushort" | "half" => 2,
        "int" | "uint" | "unsigned" | "float" => 4,
        "long" | "ulong" | "double" => 8,
        _ => return None,
    };
    matches!(lanes, 1 | 2 | 3 | 4 | 8 | 16).then(|| bytes * if lanes == 3 { 4 } else { lanes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl3::kernel::CL_KERNEL_ARG_ADDRESS_PRIVATE;

    fn param(type_name: &str, name: &str) -> ParamInfo {
        let address =
            if type_name.ends_with('*') { CL_KERNEL_ARG_ADDRESS_GLOBAL } else { CL_KERNEL_ARG_ADDRESS_PRIVATE };
        ParamInfo { name: name.into(), type_name: type_name.into(), address, access: 0, qualifiers: 0 }
    }

    fn buffer(user: &[(&str, &str)]) -> Params {
        let target = [("vertex_t*", "v"), ("ulong", "v_offset"), ("ulong", "v_bytes")];
        Params::new(target.iter().chain(user).map(|(t, n)| param(t, n)).collect()).unwrap()
    }

    #[test]
    fn targets_are_told_apart_by_their_parameters() {
        let image: Vec<_> = [("uchar4*", "o"), ("long", "o_offset"), ("int", "o_pitch"), ("int", "o_width")]
            .iter()
            .map(|(t, n)| param(t, n))
            .chain([param("int", "o_height"), param("float", "t")])
            .collect();
        let params = Params::new(image).unwrap();
        assert_eq!((params.target, params.element_size(), params.user.len()), (TargetKind::Image, Some(4), 1));
        let params = buffer(&[]);
        assert_eq!((params.target, params.element_size()), (TargetKind::Buffer, None));
        for wrong in [vec![], vec![param("int", "n")], vec![param("float*", "a"), param("float*", "b")]] {
            assert!(Params::new(wrong).unwrap_err().contains("PF_IMAGE"));
        }
    }

    #[test]
    fn arguments_are_checked_by_number_and_kind() {
        let params = buffer(&[("float", "scale"), ("uint", "n"), ("real", "own"), ("float*", "from")]);
        let error = params.check_args(&[Arg::F32(1.0)]).unwrap_err();
        assert!(error.contains("float scale, uint n, real own, float* from") && error.contains("1 given"), "{error}");
        let error = params.check_args(&[Arg::F32(0.0), Arg::I32(1), Arg::F32(0.0), Arg::U32(0)]).unwrap_err();
        assert!(error.contains("'n'") && error.contains("u32; i32 given"), "{error}");
        let error = params.check_args(&[Arg::F32(0.0), Arg::U32(1), Arg::F32(0.0), Arg::U32(0)]).unwrap_err();
        assert!(error.contains("'from'") && error.contains("memory; u32 given"), "{error}");
        let error = buffer(&[("double", "d")]).check_args(&[Arg::F32(0.0)]).unwrap_err();
        assert!(error.contains("'d'") && error.contains("use int, uint, float"), "{error}");
        let mut image = buffer(&[("image2d_t", "i")]);
        image.user[0].address = CL_KERNEL_ARG_ADDRESS_GLOBAL;
        assert!(image.check_args(&[Arg::U32(0)]).unwrap_err().contains("pointer to __global"));
    }

    #[test]
    fn sizes_of_types() {
        for (name, size) in [("uchar4", 4), ("float", 4), ("half4", 8), ("float3", 16), ("unsigned char", 1)] {
            assert_eq!(type_size(name), Some(size), "{name}");
        }
        for name in ["vertex_t", "struct v", "float5", "int99999999999999999999", ""] {
            assert_eq!(type_size(name), None, "{name}");
        }
    }
}
