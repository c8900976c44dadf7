//! [`ParamSort`]: the kind of a parameter, derived from the compiler's name of its type.

use crate::AddressSpace;
use crate::Param;

/// Kind of value that `clSetKernelArg` needs for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamSort {
    /// A buffer's `cl_mem`.
    Buffer,
    /// A size: the parameter is a `__local` pointer, and the address is null.
    Local,
    /// An image's `cl_mem`.
    Image,
    /// A `cl_sampler`.
    Sampler,
    /// The bytes of a value, where the type is one of OpenCL C or is known to be plain.
    Value,
    /// Other objects in global memory: a pipe, or an image under a name that the program defines. PoCL 3.1 treats the
    /// latter as a pointer.
    Other,
}

impl Param {
    /// Derives the kind from the driver's names (`clGetKernelArgInfo`). A sampler under a name that the program defines
    /// appears as [`ParamSort::Value`].
    pub fn sort(&self) -> ParamSort {
        let name = self.type_name();
        match self.address_space() {
            AddressSpace::Local => ParamSort::Local,
            _ if is_image(name) => ParamSort::Image,
            _ if name == "sampler_t" => ParamSort::Sampler,
            AddressSpace::Global | AddressSpace::Constant if name.ends_with('*') => ParamSort::Buffer,
            AddressSpace::Global | AddressSpace::Constant => ParamSort::Other,
            AddressSpace::Private => ParamSort::Value,
        }
    }
}

/// Returns true for OpenCL C's image types, including `image2d_array_msaa_depth_t`, and not for types of the program.
fn is_image(type_name: &str) -> bool {
    let mut words = type_name.strip_suffix("_t").unwrap_or_default().split('_');
    words.next().is_some_and(|first| ["image1d", "image2d", "image3d"].contains(&first))
        && words.all(|word| ["array", "buffer", "msaa", "depth"].contains(&word))
}

/// Returns the bytes of a scalar or vector type of OpenCL C, such as `cl_float3`: vectors of 3 take the space of 4.
/// `None` for every other type.
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
