//! [`Arg`]: values of kernel parameters, and whether they fit what the kernel declares.

use super::{Buffer, Context, Image, Sampler};
use crate::ffi::{ArgValue, Element, ParamInfo};
use crate::params::type_size;
use cl3::kernel as k;
use interop_core::Result;
use std::any::TypeId;

/// Where a parameter points to (`CL_KERNEL_ARG_ADDRESS_QUALIFIER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// A buffer or image: `CL_KERNEL_ARG_ADDRESS_GLOBAL`.
    Global,
    /// A buffer that kernels only read: `CL_KERNEL_ARG_ADDRESS_CONSTANT`.
    Constant,
    /// Memory of a work group: `CL_KERNEL_ARG_ADDRESS_LOCAL`.
    Local,
    /// A value: `CL_KERNEL_ARG_ADDRESS_PRIVATE`.
    Private,
}

/// What a kernel may do with an image (`CL_KERNEL_ARG_ACCESS_QUALIFIER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageAccess {
    /// Not an image: `CL_KERNEL_ARG_ACCESS_NONE`.
    None,
    /// `read_only`: `CL_KERNEL_ARG_ACCESS_READ_ONLY`.
    ReadOnly,
    /// `write_only`: `CL_KERNEL_ARG_ACCESS_WRITE_ONLY`.
    WriteOnly,
    /// `read_write`: `CL_KERNEL_ARG_ACCESS_READ_WRITE`.
    ReadWrite,
}

/// One parameter of a kernel, as the compiler saw it (`clGetKernelArgInfo`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub(crate) raw: ParamInfo,
}

impl Param {
    /// Its name (`CL_KERNEL_ARG_NAME`).
    pub fn name(&self) -> &str {
        &self.raw.name
    }

    /// Its type as written, e.g. `float4*` (`CL_KERNEL_ARG_TYPE_NAME`).
    pub fn type_name(&self) -> &str {
        &self.raw.type_name
    }

    /// Where it points to (`CL_KERNEL_ARG_ADDRESS_QUALIFIER`).
    pub fn address_space(&self) -> AddressSpace {
        match self.raw.address {
            k::CL_KERNEL_ARG_ADDRESS_GLOBAL => AddressSpace::Global,
            k::CL_KERNEL_ARG_ADDRESS_CONSTANT => AddressSpace::Constant,
            k::CL_KERNEL_ARG_ADDRESS_LOCAL => AddressSpace::Local,
            _ => AddressSpace::Private,
        }
    }

    /// For images (`CL_KERNEL_ARG_ACCESS_QUALIFIER`).
    pub fn access(&self) -> ImageAccess {
        match self.raw.access {
            k::CL_KERNEL_ARG_ACCESS_READ_ONLY => ImageAccess::ReadOnly,
            k::CL_KERNEL_ARG_ACCESS_WRITE_ONLY => ImageAccess::WriteOnly,
            k::CL_KERNEL_ARG_ACCESS_READ_WRITE => ImageAccess::ReadWrite,
            _ => ImageAccess::None,
        }
    }

    /// `const` of what a pointer points to (`CL_KERNEL_ARG_TYPE_CONST`).
    pub fn is_const(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_CONST)
    }

    /// `restrict` (`CL_KERNEL_ARG_TYPE_RESTRICT`).
    pub fn is_restrict(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_RESTRICT)
    }

    /// `volatile` (`CL_KERNEL_ARG_TYPE_VOLATILE`).
    pub fn is_volatile(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_VOLATILE)
    }

    fn has(&self, bit: u32) -> bool {
        self.raw.qualifiers & u64::from(bit) != 0
    }

    fn wanted(&self) -> Wanted {
        let name = self.type_name();
        match self.address_space() {
            AddressSpace::Local => Wanted::Local,
            _ if is_image(name) => Wanted::Image,
            _ if name == "sampler_t" => Wanted::Sampler,
            AddressSpace::Global | AddressSpace::Constant => Wanted::Buffer,
            AddressSpace::Private => Wanted::Value,
        }
    }
}

/// One of OpenCL C's types of images, `image2d_array_msaa_depth_t` among them, and no type of the program's.
fn is_image(type_name: &str) -> bool {
    let mut words = type_name.strip_suffix("_t").unwrap_or_default().split('_');
    words.next().is_some_and(|first| ["image1d", "image2d", "image3d"].contains(&first))
        && words.all(|word| ["array", "buffer", "msaa", "depth"].contains(&word))
}

#[derive(PartialEq)]
enum Wanted {
    Buffer,
    Local,
    Image,
    Sampler,
    Value,
}

impl Wanted {
    const fn name(&self) -> &'static str {
        match self {
            Self::Buffer => "a buffer or null",
            Self::Local => "local memory (Arg::Local)",
            Self::Image => "an image",
            Self::Sampler => "a sampler",
            Self::Value => "a value",
        }
    }
}

/// Value of one kernel parameter (`clSetKernelArg`).
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// For `__global` and `__constant` pointers: a `cl_mem`.
    Buffer(&'a Buffer),
    /// A null pointer in the place of a buffer's `cl_mem`.
    Null,
    /// For image parameters: a `cl_mem`.
    Image(&'a Image),
    /// For `sampler_t`: a `cl_sampler`.
    Sampler(&'a Sampler),
    /// So many bytes for a `__local` pointer: `clSetKernelArg` with a size and no address.
    Local(usize),
    /// A scalar, vector or structure, which `clSetKernelArg` copies; made by [`Arg::value`] or `From`.
    Value(Value<'a>),
}

/// Bytes of a value for `clSetKernelArg`, and what they were in Rust.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    bytes: Bytes<'a>,
    /// Names that OpenCL C has for the type, if it is a number.
    names: &'static [&'static str],
    rust: &'static str,
}

#[derive(Clone, Copy)]
enum Bytes<'a> {
    Own([u8; 8], usize),
    Borrowed(&'a [u8]),
}

impl Value<'_> {
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Own(bytes, len) => &bytes[..*len],
            Bytes::Borrowed(bytes) => bytes,
        }
    }
}

impl<'a> Arg<'a> {
    /// A value of any plain type for `clSetKernelArg`: a number, an array as a vector (`[f32; 4]` for `float4`; vectors
    /// of 3 take the room of 4), a structure laid out as in C. Its size must be the parameter's, and a number's type,
    /// too.
    pub fn value<T: Element>(value: &'a T) -> Self {
        let bytes = Bytes::Borrowed(bytemuck::bytes_of(value));
        Self::Value(Value { bytes, names: c_names::<T>(), rust: std::any::type_name::<T>() })
    }

    fn of_number<T: Element>(value: T) -> Self {
        let source = bytemuck::bytes_of(&value);
        let mut bytes = [0; 8];
        bytes[..source.len()].copy_from_slice(source);
        Self::Value(Value {
            bytes: Bytes::Own(bytes, source.len()),
            names: c_names::<T>(),
            rust: std::any::type_name::<T>(),
        })
    }

    fn kind(&self) -> String {
        match self {
            Self::Buffer(_) => "a buffer".into(),
            Self::Null => "null".into(),
            Self::Image(_) => "an image".into(),
            Self::Sampler(_) => "a sampler".into(),
            Self::Local(_) => "local memory".into(),
            Self::Value(value) => format!("a value {} of {} bytes", value.rust, value.bytes().len()),
        }
    }

    /// `Err` says what is wrong with this for a parameter.
    pub(super) fn check(&self, param: &Param) -> Result<(), String> {
        let wanted = param.wanted();
        let given = match self {
            Self::Buffer(_) | Self::Null => Wanted::Buffer,
            Self::Image(_) => Wanted::Image,
            Self::Sampler(_) => Wanted::Sampler,
            Self::Local(_) => Wanted::Local,
            Self::Value(_) => Wanted::Value,
        };
        let refuse = |why: String| {
            Err(format!("'{}', declared {}, {why}; {} given", param.name(), param.type_name(), self.kind()))
        };
        if wanted != given {
            return refuse(format!("takes {}", wanted.name()));
        }
        match self {
            Self::Local(0) => refuse("takes at least 1 byte".into()),
            Self::Value(value) => {
                if let Some(size) = type_size(param.type_name()).filter(|size| *size != value.bytes().len()) {
                    return refuse(format!("takes {size} bytes"));
                }
                let scalar = type_size(param.type_name()).is_some()
                    && !param.type_name().ends_with(|c: char| c.is_ascii_digit());
                if scalar && !value.names.is_empty() && !value.names.contains(&param.type_name()) {
                    return refuse("takes another type".into());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The context that it belongs to, and what it is.
    pub(super) fn owner(&self) -> Option<(&Context, &'static str)> {
        match self {
            Self::Buffer(buffer) => Some((&buffer.context, "buffer")),
            Self::Image(image) => Some((&image.context, "image")),
            Self::Sampler(sampler) => Some((&sampler.context, "sampler")),
            Self::Null | Self::Local(_) | Self::Value(_) => None,
        }
    }

    pub(super) fn raw(&self) -> ArgValue<'_> {
        match self {
            Self::Buffer(buffer) => ArgValue::Mem(&buffer.raw),
            Self::Null => ArgValue::Null,
            Self::Image(image) => ArgValue::Mem(&image.raw),
            Self::Sampler(sampler) => ArgValue::Sampler(&sampler.raw),
            Self::Local(bytes) => ArgValue::Local(*bytes),
            Self::Value(value) => ArgValue::Bytes(value.bytes()),
        }
    }
}

/// What OpenCL C calls a number type of Rust; empty for other types.
fn c_names<T: 'static>() -> &'static [&'static str] {
    let is = |id: TypeId| TypeId::of::<T>() == id;
    let names: [(TypeId, &[&str]); 10] = [
        (TypeId::of::<i8>(), &["char"]),
        (TypeId::of::<u8>(), &["uchar", "unsigned char"]),
        (TypeId::of::<i16>(), &["short"]),
        // Halves have no type in Rust's own library.
        (TypeId::of::<u16>(), &["ushort", "unsigned short", "half"]),
        (TypeId::of::<i32>(), &["int"]),
        (TypeId::of::<u32>(), &["uint", "unsigned int", "unsigned"]),
        (TypeId::of::<i64>(), &["long"]),
        (TypeId::of::<u64>(), &["ulong", "unsigned long"]),
        (TypeId::of::<f32>(), &["float"]),
        (TypeId::of::<f64>(), &["double"]),
    ];
    names.into_iter().find(|(id, _)| is(*id)).map_or(&[], |(_, names)| names)
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl From<$type> for Arg<'_> {
            fn from(value: $type) -> Self {
                Self::of_number(value)
            }
        }
    )*};
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

macro_rules! objects {
    ($($type:ident),*) => {$(
        impl<'a> From<&'a $type> for Arg<'a> {
            fn from(object: &'a $type) -> Self {
                Self::$type(object)
            }
        }
    )*};
}

objects!(Buffer, Image, Sampler);

#[cfg(test)]
mod tests {
    use super::*;

    fn param(type_name: &str, address: u32) -> Param {
        let raw = ParamInfo { name: "p".into(), type_name: type_name.into(), address, access: 0, qualifiers: 0 };
        Param { raw }
    }

    #[test]
    fn values_must_have_the_size_and_numbers_the_type() {
        let private = |name| param(name, k::CL_KERNEL_ARG_ADDRESS_PRIVATE);
        assert!(Arg::from(1.0f32).check(&private("float")).is_ok());
        assert!(Arg::from(1u32).check(&private("unsigned int")).is_ok());
        assert!(Arg::value(&[0f32; 4]).check(&private("float4")).is_ok());
        assert!(Arg::value(&[0f32; 4]).check(&private("float3")).is_ok());
        assert!(Arg::value(&[0f32; 3]).check(&private("vertex")).is_ok());
        for (arg, name, word) in [
            (Arg::from(1i32), "float", "another type"),
            (Arg::from(1.0f64), "float", "4 bytes"),
            (Arg::value(&[0f32; 3]), "float3", "16 bytes"),
            (Arg::Null, "float", "a value"),
            (Arg::Local(4), "float", "a value"),
        ] {
            let error = arg.check(&private(name)).unwrap_err();
            assert!(error.contains("'p'") && error.contains(word), "{error}");
        }
    }

    #[test]
    fn pointers_and_objects_are_told_apart() {
        let global = |name| param(name, k::CL_KERNEL_ARG_ADDRESS_GLOBAL);
        assert!(Arg::Null.check(&global("float*")).is_ok());
        assert!(Arg::from(1u64).check(&global("float*")).unwrap_err().contains("a buffer"));
        assert!(Arg::Null.check(&global("image2d_t")).unwrap_err().contains("an image"));
        assert!(
            Arg::Null.check(&param("sampler_t", k::CL_KERNEL_ARG_ADDRESS_PRIVATE)).unwrap_err().contains("a sampler")
        );
        let local = param("int*", k::CL_KERNEL_ARG_ADDRESS_LOCAL);
        assert!(Arg::Local(16).check(&local).is_ok());
        assert!(Arg::Local(0).check(&local).is_err());
        assert!(Arg::Null.check(&local).unwrap_err().contains("Arg::Local"));
    }
}
