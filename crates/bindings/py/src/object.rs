//! Textures and buffers of the program, as Python names them.

use crate::failure::{Failure, answer};
use crate::option_names;
use pixelferry::{Extent, ImageDesc, PixelFormat, SurfaceDesc};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// A texture or buffer of the program's OpenGL context.
#[derive(Clone, Copy)]
pub struct Object {
    pub name: u32,
    pub desc: SurfaceDesc,
}

impl Object {
    /// From OpenGL's name, or an object that has it as `glo` or `name`; `size` defaults to the object's own.
    pub fn new(object: &Bound<'_, PyAny>, size: Option<Bound<'_, PyAny>>, format: PixelFormat) -> PyResult<Self> {
        Ok(Self { name: name_of(object)?, desc: desc_of(object, size, format)? })
    }

    /// Width and height in pixels, or bytes.
    pub fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.desc {
            SurfaceDesc::Image(ImageDesc { extent: Extent { width, height }, .. }) => {
                Ok((width, height).into_pyobject(py)?.into_any())
            }
            desc => Ok(desc.byte_len().map_err(Failure::from)?.into_pyobject(py)?.into_any()),
        }
    }

    /// Python's name of a texture's format.
    pub fn format(&self) -> Option<String> {
        match self.desc {
            SurfaceDesc::Image(image) => Some(option_names::name_of(image.format)),
            _ => None,
        }
    }
}

/// Returns OpenGL's name: a number, or the `glo` of moderngl's objects and the `name` of ours.
fn name_of(object: &Bound<'_, PyAny>) -> PyResult<u32> {
    let py = object.py();
    let attribute = |name| object.getattr_opt(name);
    let name = match object.cast::<PyInt>() {
        Ok(number) => Some(number.clone().into_any()),
        Err(_) => attribute(intern!(py, "glo"))?.or(attribute(intern!(py, "name"))?),
    };
    let none = || {
        let what = object.get_type().name().map_or_else(|_| "it".into(), |name| name.to_string());
        Failure::Dtype(format!(
            "'{what}' is not a texture or buffer of OpenGL; give the number that glGenTextures \
                                returned"
        ))
    };
    Ok(answer(py, name.ok_or_else(none)?.extract())?.map_err(|_| none())?)
}

/// As given, or the object's own: width and height of a texture, or the number of bytes of a buffer.
fn desc_of(object: &Bound<'_, PyAny>, size: Option<Bound<'_, PyAny>>, format: PixelFormat) -> PyResult<SurfaceDesc> {
    let py = object.py();
    let size = match size {
        Some(size) => Some(size),
        None => match object.getattr_opt(intern!(py, "size"))? {
            Some(size) => Some(size),
            None => object.getattr_opt(intern!(py, "nbytes"))?,
        },
    };
    let wrong = |what: &str| {
        Failure::Shape(format!("size={what} is neither (width, height) of a texture nor a buffer's size in bytes"))
    };
    let size = size.ok_or_else(|| wrong("None"))?;
    let refused = |_| wrong(&size.to_string());
    if size.cast::<PyTuple>().is_ok() {
        let (width, height): (u32, u32) = size.extract().map_err(refused)?;
        return Ok(SurfaceDesc::Image(ImageDesc::new(width, height, format)));
    }
    Ok(SurfaceDesc::buffer(size.extract().map_err(refused)?))
}
