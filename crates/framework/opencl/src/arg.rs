//! [`Arg`]: values of kernel parameters, and whether they fit what the kernel declares.

use super::{Buffer, Context, Image, ImageType, Param, Sampler};
use crate::Element;
use crate::ffi::Mem;
use crate::sorts::{ParamSort, type_size};
use interop_core::Result;
use std::any::TypeId;

/// Names of OpenCL C's image types.
const IMAGES: [&str; 6] =
    ["image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image3d_t"];

const fn image_name(image: ImageType) -> &'static str {
    match image {
        ImageType::D1 => IMAGES[0],
        ImageType::D1Array => IMAGES[1],
        ImageType::D1Buffer => IMAGES[2],
        ImageType::D2 => IMAGES[3],
        ImageType::D2Array => IMAGES[4],
        ImageType::D3 => IMAGES[5],
    }
}

const fn name_of(sort: ParamSort) -> &'static str {
    match sort {
        ParamSort::Buffer => "a buffer or null",
        ParamSort::Local => "local memory (Arg::Local)",
        ParamSort::Image => "an image",
        ParamSort::Sampler => "a sampler",
        ParamSort::Value => "a value",
        ParamSort::Other => "a type that arguments cannot have (declare images by their own type)",
    }
}

/// Value of one kernel parameter (`clSetKernelArg`).
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// For `__global` and `__constant` pointers: a `cl_mem`.
    Buffer(&'a Buffer),
    /// A null pointer instead of a buffer's `cl_mem`.
    Null,
    /// For image parameters: a `cl_mem`.
    Image(&'a Image),
    /// For `sampler_t`: a `cl_sampler`.
    Sampler(&'a Sampler),
    /// Size in bytes of a `__local` pointer: `clSetKernelArg` with a size and no address.
    Local(usize),
    /// A scalar, vector or structure, which `clSetKernelArg` copies; made by [`Arg::value`] or `From`.
    Value(Value<'a>),
}

/// Bytes of a value for `clSetKernelArg`, and their type in Rust.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    bytes: Bytes<'a>,
    /// The type's names in OpenCL C, if it is a number.
    names: &'static [&'static str],
    rust: &'static str,
}

#[derive(Clone, Copy)]
enum Bytes<'a> {
    Own([u8; 8], usize),
    Borrowed(&'a [u8]),
}

impl Value<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Own(bytes, len) => &bytes[..*len],
            Bytes::Borrowed(bytes) => bytes,
        }
    }
}

impl<'a> Arg<'a> {
    /// Wraps a value of any plain type for `clSetKernelArg`: a number, an array as a vector, or a structure with C
    /// layout. `[f32; 4]` is a `float4`; vectors of 3 take the space of 4. Its size must be that of the parameter, and
    /// so must the type of a number.
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

    /// Checks the argument for a parameter; the error is the reason. `fits` reports whether a type that the program
    /// defines has this number of bytes, or otherwise its number of bytes, if it has a size.
    pub(super) fn check(
        &self,
        param: &Param,
        fits: impl FnOnce(&str, usize) -> Result<(), Option<usize>>,
    ) -> Result<(), String> {
        let wanted = param.sort();
        let given = match self {
            Self::Buffer(_) | Self::Null => ParamSort::Buffer,
            Self::Image(_) => ParamSort::Image,
            Self::Sampler(_) => ParamSort::Sampler,
            Self::Local(_) => ParamSort::Local,
            Self::Value(_) => ParamSort::Value,
        };
        let name = param.type_name();
        let refuse = |why: String| Err(format!("'{}', declared {name}, {why}; {} given", param.name(), self.kind()));
        if wanted != given {
            return refuse(format!("takes {}", name_of(wanted)));
        }
        match self {
            Self::Local(0) => refuse("takes at least 1 byte".into()),
            Self::Value(value) if value.bytes().is_empty() => refuse("takes at least 1 byte".into()),
            Self::Image(image) => match image_name(image.image_type()) {
                own if own == name || !IMAGES.contains(&name) => Ok(()),
                own => refuse(format!("takes another image type than {own}")),
            },
            Self::Value(value) => {
                let given = value.bytes().len();
                let fits = match type_size(name).or(param.bytes) {
                    Some(size) if size == given => Ok(()),
                    Some(size) => Err(Some(size)),
                    None => fits(name, given),
                };
                match fits {
                    Ok(()) => {}
                    Err(Some(size)) => return refuse(format!("takes {size} bytes")),
                    Err(None) => {
                        let why = "is not known to be a plain value (declare samplers as sampler_t; state the types of \
                                   a program without source by Kernel::with_params)";
                        return refuse(why.into());
                    }
                }
                let scalar = type_size(name).is_some() && !name.ends_with(|c: char| c.is_ascii_digit());
                if scalar && !value.names.is_empty() && !value.names.contains(&name) {
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
            Self::Buffer(buffer) => Some((buffer.context(), "buffer")),
            Self::Image(image) => Some((image.context(), "image")),
            Self::Sampler(sampler) => Some((&sampler.context, "sampler")),
            Self::Null | Self::Local(_) | Self::Value(_) => None,
        }
    }

    /// Returns a copy without borrows, for a later `clSetKernelArg`.
    pub fn keep(&self) -> KeptArg {
        KeptArg(match *self {
            Self::Buffer(buffer) => StoredArg::Buffer(buffer.clone()),
            Self::Null => StoredArg::Null,
            Self::Image(image) => StoredArg::Image(image.clone()),
            Self::Sampler(sampler) => StoredArg::Sampler(sampler.clone()),
            Self::Local(bytes) => StoredArg::Local(bytes),
            Self::Value(Value { bytes: Bytes::Own(bytes, len), names, rust }) => {
                StoredArg::Number(Value { bytes: Bytes::Own(bytes, len), names, rust })
            }
            Self::Value(Value { bytes: Bytes::Borrowed(bytes), names, rust }) => {
                StoredArg::Value { bytes: bytes.into(), names, rust }
            }
        })
    }

    /// Returns the memory object, if it is one.
    pub(crate) fn mem(&self) -> Option<&'a Mem> {
        match *self {
            Self::Buffer(buffer) => Some(&buffer.raw),
            Self::Image(image) => Some(&image.raw),
            _ => None,
        }
    }
}

/// An argument with the objects that it refers to, for a later `clSetKernelArg`.
pub struct KeptArg(StoredArg);

enum StoredArg {
    Buffer(Buffer),
    Null,
    Image(Image),
    Sampler(Sampler),
    Local(usize),
    Number(Value<'static>),
    Value { bytes: Box<[u8]>, names: &'static [&'static str], rust: &'static str },
}

impl KeptArg {
    /// Returns the value, for `clSetKernelArg`.
    pub fn arg(&self) -> Arg<'_> {
        match &self.0 {
            StoredArg::Buffer(buffer) => Arg::Buffer(buffer),
            StoredArg::Null => Arg::Null,
            StoredArg::Image(image) => Arg::Image(image),
            StoredArg::Sampler(sampler) => Arg::Sampler(sampler),
            StoredArg::Local(bytes) => Arg::Local(*bytes),
            StoredArg::Number(value) => Arg::Value(*value),
            StoredArg::Value { bytes, names, rust } => Arg::Value(Value { bytes: Bytes::Borrowed(bytes), names, rust }),
        }
    }
}

/// Returns the names of a Rust number type in OpenCL C; empty for other types.
fn c_names<T: 'static>() -> &'static [&'static str] {
    let is = |id: TypeId| TypeId::of::<T>() == id;
    let names: [(TypeId, &[&str]); 10] = [
        (TypeId::of::<i8>(), &["char"]),
        (TypeId::of::<u8>(), &["uchar", "unsigned char"]),
        (TypeId::of::<i16>(), &["short"]),
        // Rust's library has no half-precision type.
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
    use crate::AddressSpace;

    fn param(type_name: &str, space: AddressSpace) -> Param {
        Param::declare("p", type_name, space)
    }

    /// In a program whose type `vertex` has 12 bytes, and with no other plain type.
    fn check(arg: &Arg<'_>, param: &Param) -> Result<(), String> {
        arg.check(param, |name, bytes| match (name, bytes) {
            ("vertex", 12) => Ok(()),
            ("vertex", _) => Err(Some(12)),
            _ => Err(None),
        })
    }

    #[test]
    fn values_must_have_the_size_and_numbers_the_type() {
        let private = |name| param(name, AddressSpace::Private);
        assert!(check(&Arg::from(1.0f32), &private("float")).is_ok());
        assert!(check(&Arg::from(1u32), &private("unsigned int")).is_ok());
        assert!(check(&Arg::value(&[0f32; 4]), &private("float4")).is_ok());
        assert!(check(&Arg::value(&[0f32; 4]), &private("float3")).is_ok());
        assert!(check(&Arg::value(&[0f32; 3]), &private("vertex")).is_ok());
        for (arg, name, word) in [
            (Arg::from(1i32), "float", "another type"),
            (Arg::from(1.0f64), "float", "4 bytes"),
            (Arg::value(&[0f32; 3]), "float3", "16 bytes"),
            (Arg::Null, "float", "a value"),
            (Arg::Local(4), "float", "a value"),
            (Arg::value(&[0f32; 4]), "vertex", "12 bytes"),
            (Arg::from(0u64), "mine", "not known to be a plain value"),
            (Arg::value(&()), "vertex", "at least 1 byte"),
        ] {
            let error = check(&arg, &private(name)).unwrap_err();
            assert!(error.contains("'p'") && error.contains(word), "{error}");
        }
    }

    #[test]
    fn pointers_and_objects_are_told_apart() {
        let global = |name| param(name, AddressSpace::Global);
        assert!(check(&Arg::Null, &global("float*")).is_ok());
        assert!(check(&Arg::from(1u64), &global("float*")).unwrap_err().contains("a buffer"));
        assert!(check(&Arg::Null, &global("image2d_t")).unwrap_err().contains("an image"));
        assert!(check(&Arg::Null, &param("sampler_t", AddressSpace::Private)).unwrap_err().contains("a sampler"));
        assert!(check(&Arg::Null, &global("pipe_of_int")).unwrap_err().contains("arguments cannot have"));
        assert!(check(&Arg::Null, &global("picture")).unwrap_err().contains("declare images by their own type"));
        let local = param("int*", AddressSpace::Local);
        assert!(check(&Arg::Local(16), &local).is_ok());
        assert!(check(&Arg::Local(0), &local).is_err());
        assert!(check(&Arg::Null, &local).unwrap_err().contains("Arg::Local"));
    }
}
