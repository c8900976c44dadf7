//! Names of GL objects, their counts by kind, and their deletion.

use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::raw::RawFns;
use crate::api::semaphore_object::SemaphoreObject;
use glow::HasContext as _;
use interop_core::HostBlock;
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A name of any kind.
#[derive(Clone, Copy)]
pub enum Name {
    Texture(glow::Texture),
    Buffer(glow::Buffer),
    Framebuffer(glow::Framebuffer),
    Program(glow::Program),
    VertexArray(glow::VertexArray),
    Sampler(glow::Sampler),
    Sync(glow::Fence),
    Query(glow::Query),
    MemoryObject(MemoryObject),
    Semaphore(SemaphoreObject),
}

// SAFETY: only the context follows the pointer behind a fence's name, on the thread on which it is current.
unsafe impl Send for Name {}
// SAFETY: as above.
unsafe impl Sync for Name {}

/// Counts of the existing GL objects that this display and the backends in its context created. For leak tests and
/// reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ObjectCounts {
    /// Textures, including buffer textures.
    pub textures: usize,
    /// Buffer objects.
    pub buffers: usize,
    /// Framebuffer objects.
    pub framebuffers: usize,
    /// Shader programs.
    pub programs: usize,
    /// Vertex array objects.
    pub vertex_arrays: usize,
    /// Sampler objects.
    pub samplers: usize,
    /// Fence sync objects.
    pub syncs: usize,
    /// Timer queries.
    pub queries: usize,
    /// Memory of compute devices that is open here (`GL_EXT_memory_object`).
    pub memory_objects: usize,
    /// Semaphores (`GL_EXT_semaphore`).
    pub semaphores: usize,
    /// Number of all these objects that wait to be deleted until their context is current.
    pub awaiting_context: usize,
}

/// A dropped object whose context was not current.
pub(crate) enum DeferredDelete {
    /// A GL object, and the host memory that it reads.
    Gl { name: Name, memory: Option<HostBlock> },
    /// A compute-side object that must be dropped while the context is current.
    Other(Box<dyn Any + Send + Sync>),
}

/// Conversion of glow's names.
pub trait GlName: Copy + 'static {
    fn name(self) -> Name;
}

macro_rules! gl_names {
    ($($ty:ty => $variant:ident),* $(,)?) => {
        $(impl GlName for $ty {
            fn name(self) -> Name {
                Name::$variant(self)
            }
        })*
    };
}
gl_names!(
    glow::NativeTexture => Texture,
    glow::NativeBuffer => Buffer,
    glow::NativeFramebuffer => Framebuffer,
    glow::NativeProgram => Program,
    glow::NativeVertexArray => VertexArray,
    glow::NativeSampler => Sampler,
    glow::NativeFence => Sync,
    glow::NativeQuery => Query,
    MemoryObject => MemoryObject,
    SemaphoreObject => Semaphore,
);

impl DeferredDelete {
    /// Discards an object whose context is gone.
    pub(crate) fn abandon(self, counts: &Counts) {
        match self {
            Self::Gl { name, .. } => counts.change(name, -1),
            // Drivers need the context to unregister an object.
            Self::Other(object) => std::mem::forget(object),
        }
    }

    /// Deletes the object with functions of its context, which must be current. `software` says that a CPU draws there.
    pub(crate) fn delete(self, gl: &glow::Context, raw: &RawFns, software: bool, counts: &Counts) {
        let (name, memory) = match self {
            Self::Gl { name, memory } => (name, memory),
            Self::Other(object) => return drop(object),
        };
        // SAFETY: the context is current and the name was made in it and is deleted once.
        unsafe {
            if memory.is_some() {
                // The GPU may still be reading the pages that are freed below.
                gl.finish();
            }
            match name {
                Name::Texture(n) => gl.delete_texture(n),
                Name::Buffer(n) => gl.delete_buffer(n),
                Name::Framebuffer(n) => gl.delete_framebuffer(n),
                Name::Program(n) => gl.delete_program(n),
                Name::VertexArray(n) => gl.delete_vertex_array(n),
                Name::Sampler(n) => gl.delete_sampler(n),
                Name::Sync(n) => gl.delete_sync(n),
                Name::Query(n) => gl.delete_query(n),
                Name::MemoryObject(n) => {
                    if let Some(functions) = &raw.memory_objects {
                        delete_memory(gl, functions, n, software);
                    }
                }
                Name::Semaphore(n) => {
                    if let Some(functions) = &raw.semaphores {
                        functions.delete(n);
                    }
                }
            }
        }
        counts.change(name, -1);
    }
}

/// Deletes imported memory with functions of its context.
///
/// # Safety
/// The context is current, and `name` was made in it and is deleted once.
pub(crate) unsafe fn delete_memory(
    gl: &glow::Context,
    functions: &MemoryObjectFns,
    name: MemoryObject,
    software: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if software {
            // llvmpipe unmaps the memory at once, even under draws in progress.
            gl.finish();
        }
        functions.delete(name);
    }
}

/// Counters behind [`ObjectCounts`].
#[derive(Default)]
pub(crate) struct Counts([AtomicUsize; 10]);

impl Counts {
    pub(crate) fn change(&self, name: Name, by: isize) {
        let slot = match name {
            Name::Texture(_) => 0,
            Name::Buffer(_) => 1,
            Name::Framebuffer(_) => 2,
            Name::Program(_) => 3,
            Name::VertexArray(_) => 4,
            Name::Sampler(_) => 5,
            Name::Sync(_) => 6,
            Name::MemoryObject(_) => 7,
            Name::Semaphore(_) => 8,
            Name::Query(_) => 9,
        };
        // A count below 0 cannot be: each object adds itself first.
        self.0[slot].fetch_add(by.cast_unsigned(), Ordering::Relaxed);
    }

    pub(crate) fn read(&self, awaiting_context: usize) -> ObjectCounts {
        let count = |i: usize| self.0[i].load(Ordering::Relaxed);
        ObjectCounts {
            textures: count(0),
            buffers: count(1),
            framebuffers: count(2),
            programs: count(3),
            vertex_arrays: count(4),
            samplers: count(5),
            syncs: count(6),
            memory_objects: count(7),
            semaphores: count(8),
            queries: count(9),
            awaiting_context,
        }
    }
}
