//! A kernel's parameters: those of the prelude's macros, and the user's own.

use interop_core::describe::words::counted;
use interop_core::{Arg, PixelFormat};
use pixelferry_opencl::{Param, ParamSort, type_size};

/// Kind of target that the first parameters describe.
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

    /// Returns what the macro declares after the pointer: the suffixes of the target's name, and the bytes of each
    /// number.
    const fn numbers(self) -> &'static [(&'static str, usize)] {
        match self {
            Self::Image => &[("_offset", 8), ("_pitch", 4), ("_width", 4), ("_height", 4)],
            Self::Buffer => &[("_offset", 8), ("_bytes", 8)],
        }
    }
}

/// A kernel's parameters, split into the target's and the user's.
#[derive(Debug)]
pub struct Params {
    pub target: TargetKind,
    /// Type of one element of the target, as written in the source.
    pub element: String,
    /// The user's own parameters.
    pub user: Vec<UserParam>,
}

/// A parameter of the user.
#[derive(Debug)]
pub struct UserParam {
    pub info: Param,
    /// Bytes of its type, where that is a plain number.
    bytes: Option<usize>,
}

impl Params {
    /// Splits the parameters. `Err` says what the first parameters must be. `size_of` returns the bytes of the
    /// program's own types, where these are plain numbers.
    pub fn new(all: &[Param], size_of: impl Fn(&str) -> Option<usize>) -> Result<Self, String> {
        let Some(target) = [TargetKind::Image, TargetKind::Buffer].into_iter().find(|kind| begins_with(all, *kind))
        else {
            return Err(format!(
                "the first parameter must be PF_IMAGE(T, name) or PF_BUFFER(T, name); the parameters are ({})",
                list(all.iter())
            ));
        };
        let mut all = all.iter().cloned();
        let element = all.next().map(|p| p.type_name().trim_end_matches(['*', ' ']).to_owned()).unwrap_or_default();
        let user = all.skip(target.numbers().len()).map(|info| {
            let bytes = (info.sort() == ParamSort::Value)
                .then(|| type_size(info.type_name()).or_else(|| size_of(info.type_name())))
                .flatten();
            UserParam { info, bytes }
        });
        Ok(Self { target, element, user: user.collect() })
    }

    /// Returns the bytes of one element of the target, where its type is a built-in one.
    pub fn element_size(&self) -> Option<usize> {
        type_size(&self.element)
    }

    /// Returns the bytes of the target's type, if it suits images of `format`.
    pub fn writes(&self, format: PixelFormat) -> Option<usize> {
        self.element_size().filter(|_| self.element == format.info().c_type)
    }

    /// Checks the arguments; `Err` names the first that does not fit.
    pub fn check_args(&self, args: &[Arg<'_>]) -> Result<(), String> {
        if args.len() != self.user.len() {
            return Err(format!(
                "takes {} after its target ({}), but {} were given",
                counted(self.user.len(), "argument"),
                list(self.user.iter().map(|param| &param.info)),
                args.len()
            ));
        }
        for (index, (param, arg)) in self.user.iter().zip(args).enumerate() {
            let wanted = match wanted(param) {
                Ok(kinds) if kinds.contains(&arg.kind()) => continue,
                Ok(kinds) => kinds.join(" or "),
                Err(why) => format!("no value that a launch can pass: {why}"),
            };
            return Err(format!(
                "argument {index}, '{}', is declared {} and takes {wanted}, but {} was given",
                param.info.name(),
                param.info.type_name(),
                arg.kind()
            ));
        }
        Ok(())
    }
}

const MEMORY: &str = "memory";

/// Returns the kinds of arguments for a parameter; `Err` says what to declare instead where there are none.
fn wanted(param: &UserParam) -> Result<&'static [&'static str], &'static str> {
    match param.info.sort() {
        ParamSort::Local => Err("declare it inside the kernel"),
        // The launch checks whether it is an image's memory.
        ParamSort::Buffer | ParamSort::Image => Ok(&[MEMORY]),
        ParamSort::Other => Err("use a pointer to __global memory"),
        ParamSort::Sampler => Err("declare a constant sampler in the source"),
        ParamSort::Value => match (param.info.type_name(), param.bytes) {
            ("int", _) => Ok(&["i32"]),
            ("uint" | "unsigned int" | "unsigned", _) => Ok(&["u32"]),
            ("float", _) => Ok(&["f32"]),
            ("long", _) => Ok(&["i64"]),
            ("ulong" | "unsigned long", _) => Ok(&["u64"]),
            ("double", _) => Ok(&["f64"]),
            (name, Some(4)) if type_size(name).is_none() => Ok(&["i32", "u32", "f32"]),
            (name, Some(8)) if type_size(name).is_none() => Ok(&["i64", "u64", "f64"]),
            (_, Some(_)) => Err("use int, uint, long, ulong, float, double or memory"),
            (_, None) => Err("its type is not a known number; use int, uint, long, ulong, float, double or memory"),
        },
    }
}

fn begins_with(all: &[Param], kind: TargetKind) -> bool {
    let Some(first) = all.first().filter(|p| p.type_name().ends_with('*')) else { return false };
    let numbers = kind.numbers();
    let declares = |(p, (suffix, bytes)): (&Param, &(&str, usize))| {
        p.name().strip_prefix(first.name()) == Some(suffix) && type_size(p.type_name()) == Some(*bytes)
    };
    all.len() > numbers.len() && all[1..].iter().zip(numbers).all(declares)
}

fn list<'a>(params: impl Iterator<Item = &'a Param>) -> String {
    params.map(|p| format!("{} {}", p.type_name(), p.name())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry_opencl::AddressSpace::{Global, Private};

    fn param(type_name: &str, name: &str) -> Param {
        let space = if type_name.ends_with('*') || type_name == "image2d_t" { Global } else { Private };
        Param::declare(name, type_name, space)
    }

    fn buffer(user: &[(&str, &str)]) -> Params {
        let target = [("vertex_t*", "v"), ("ulong", "v_offset"), ("ulong", "v_bytes")];
        let sizes = |name: &str| (name == "real").then_some(4);
        let all: Vec<_> = target.iter().chain(user).map(|(t, n)| param(t, n)).collect();
        Params::new(&all, sizes).unwrap()
    }

    #[test]
    fn targets_are_told_apart_by_their_parameters() {
        let image: Vec<_> = [("uchar4*", "o"), ("long", "o_offset"), ("int", "o_pitch"), ("int", "o_width")]
            .iter()
            .map(|(t, n)| param(t, n))
            .chain([param("int", "o_height"), param("float", "t")])
            .collect();
        let params = Params::new(&image, |_| None).unwrap();
        assert_eq!((params.target, params.element_size(), params.user.len()), (TargetKind::Image, Some(4), 1));
        let params = buffer(&[]);
        assert_eq!((params.target, params.element_size()), (TargetKind::Buffer, None));
        let disguised = vec![param("float*", "v"), param("mine", "v_offset"), param("ulong", "v_bytes")];
        for wrong in [vec![], vec![param("int", "n")], vec![param("float*", "a"), param("float*", "b")], disguised] {
            assert!(Params::new(&wrong, |_| None).unwrap_err().contains("PF_IMAGE"));
        }
    }

    #[test]
    fn arguments_are_checked_by_number_and_kind() {
        let params = buffer(&[("float", "scale"), ("uint", "n"), ("real", "own"), ("float*", "from")]);
        let error = params.check_args(&[Arg::F32(1.0)]).unwrap_err();
        assert!(
            error.contains("float scale, uint n, real own, float* from") && error.contains("1 were given"),
            "{error}"
        );
        let error = params.check_args(&[Arg::F32(0.0), Arg::I32(1), Arg::F32(0.0), Arg::U32(0)]).unwrap_err();
        assert!(error.contains("'n'") && error.contains("u32, but i32 was given"), "{error}");
        let error = params.check_args(&[Arg::F32(0.0), Arg::U32(1), Arg::F32(0.0), Arg::U32(0)]).unwrap_err();
        assert!(error.contains("'from'") && error.contains("memory, but u32 was given"), "{error}");
        let error = buffer(&[("short", "d")]).check_args(&[Arg::F32(0.0)]).unwrap_err();
        assert!(error.contains("'d'") && error.contains("use int, uint, long, ulong, float"), "{error}");
        let image = buffer(&[("image2d_t", "i")]);
        assert!(image.check_args(&[Arg::U32(0)]).unwrap_err().contains("takes memory, but u32 was given"));
        let error = buffer(&[("real", "r")]).check_args(&[Arg::F64(0.0)]).unwrap_err();
        assert!(error.contains("i32 or u32 or f32, but f64 was given"), "{error}");
        for sampler in ["sampler_t", "mine"] {
            let error = buffer(&[(sampler, "s")]).check_args(&[Arg::U64(0)]).unwrap_err();
            assert!(error.contains("'s'") && error.contains("no value that a launch can pass"), "{error}");
        }
    }
}
