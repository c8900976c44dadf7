//! Texture targets and their equivalents in OpenCL.

/// How a texture's size is laid out, and which call writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    Line,
    Plane,
    Volume,
    /// Lines in layers: OpenGL's height counts them.
    Lines,
    /// Planes in layers: OpenGL's depth counts them.
    Planes,
    /// Texels of a buffer object.
    BufferTexels,
    /// A buffer.
    Bytes,
}

/// A target that `clCreateFromGLTexture` supports.
pub struct Target {
    /// As the program names it; for cube maps one of the faces.
    pub name: u32,
    /// Target that a texture of it is bound to.
    pub binding: u32,
    /// `cl_mem_object_type`.
    pub image: u32,
    /// `cl_gl_object_type`.
    pub object: u32,
    pub layout: Layout,
}

const fn target(name: u32, binding: u32, image: u32, object: u32, layout: Layout) -> Target {
    Target { name, binding, image, object, layout }
}

const IMAGE_2D: u32 = 0x10F1;
pub const IMAGE_3D: u32 = 0x10F2;
const CUBE: u32 = 0x8513;
const TEXTURE2D: u32 = 0x2001;

pub static TARGETS: [Target; 13] = [
    target(0x0DE1, 0x0DE1, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x84F5, 0x84F5, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x8515, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x8516, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x8517, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x8518, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x8519, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x851A, CUBE, IMAGE_2D, TEXTURE2D, Layout::Plane),
    target(0x0DE0, 0x0DE0, 0x10F4, 0x200F, Layout::Line),
    target(0x806F, 0x806F, IMAGE_3D, 0x2002, Layout::Volume),
    target(0x8C18, 0x8C18, 0x10F5, 0x2010, Layout::Lines),
    target(0x8C1A, 0x8C1A, 0x10F3, 0x200E, Layout::Planes),
    target(0x8C2A, 0x8C2A, 0x10F6, 0x2011, Layout::BufferTexels),
];

/// Returns the target of that name; `None` if OpenCL cannot share textures of it.
pub fn of(name: u32) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// Target of images that represent renderbuffers.
    pub const RENDERBUFFER: Target = target(0x8D41, 0x8D41, IMAGE_2D, 0x2003, Layout::Plane);

    /// `CL_GL_OBJECT_BUFFER`.
    pub const BUFFER_OBJECT: u32 = 0x2000;
}
