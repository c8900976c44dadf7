//! Bindings of a linked program, as the driver reports them (OpenGL 4.6 core, section 7.3.1).

use super::device::GlDevice;
use crate::api::functions::functions;
use interop_core::Result;
use std::ptr;

/// Resources that a run must bind, and those that no run binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramShape {
    /// Size of a work group.
    pub group: [u32; 3],
    /// Storage blocks in use: name, binding, and minimum size in bytes. An array of any length counts as one element.
    pub storage: Vec<(String, u32, u64)>,
    /// Uniforms in use other than storage blocks: samplers, images, counters, numbers and uniform blocks.
    pub uniforms: Vec<String>,
}

functions! {
    /// Their signatures are those of OpenGL 4.6 core, sections 7.3.1 and 7.14.
    all Queries {
        program = c"glGetProgramiv", fn(program: u32, parameter: u32, values: *mut i32);
        interface = c"glGetProgramInterfaceiv", fn(program: u32, interface: u32, parameter: u32, value: *mut i32);
        resource = c"glGetProgramResourceiv",
            fn(u32, u32, index: u32, i32, *const u32, i32, *mut i32, values: *mut i32);
        name = c"glGetProgramResourceName", fn(u32, u32, index: u32, size: i32, length: *mut i32, name: *mut u8);
    }
}

impl Queries {
    /// # Safety
    /// The context is current and the program of it, linked.
    unsafe fn active(self, program: u32, interface: u32) -> u32 {
        let mut count = 0;
        // SAFETY: the caller's promise; one integer is written.
        unsafe { (self.interface)(program, interface, glow::ACTIVE_RESOURCES, &raw mut count) };
        u32::try_from(count).unwrap_or(0)
    }

    /// # Safety
    /// The conditions of [`Queries::active`] hold; there are more than `index` resources, and `property` is one
    /// integer.
    unsafe fn value(self, program: u32, interface: u32, index: u32, property: u32) -> i32 {
        let mut value = -1;
        // SAFETY: the caller's promise; room for one integer is given.
        unsafe {
            (self.resource)(program, interface, index, 1, &raw const property, 1, ptr::null_mut(), &raw mut value);
        }
        value
    }

    /// # Safety
    /// The conditions of [`Queries::active`] hold; there are more than `index` resources.
    unsafe fn name(self, program: u32, interface: u32, index: u32) -> String {
        let (mut bytes, mut length) = ([0_u8; 256], 0);
        // SAFETY: the caller's promise; so many bytes are there, and a longer name is cut off.
        unsafe { (self.name)(program, interface, index, bytes.len() as i32, &raw mut length, bytes.as_mut_ptr()) };
        let name = bytes.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

impl ProgramShape {
    /// Returns the shape of a program, without the uniform array `numbers`, which runs set.
    ///
    /// # Safety
    /// The context is current and the program of it, linked, with a compute shader.
    pub(super) unsafe fn of(device: &GlDevice, program: glow::Program, numbers: &str) -> Result<Self> {
        // SAFETY: the caller's promise.
        let queries = unsafe { Queries::load(&mut |name| device.function(name)) }
            .ok_or_else(|| device.unsupported("the driver cannot report the bindings of a program"))?;
        let program = program.0.get();
        let (blocks, plain, uniform_blocks) = (glow::SHADER_STORAGE_BLOCK, glow::UNIFORM, glow::UNIFORM_BLOCK);
        let mut group = [0_i32; 3];
        // SAFETY: the caller's promise; the group's size is three integers, and indices are of what is active.
        unsafe {
            (queries.program)(program, glow::COMPUTE_WORK_GROUP_SIZE, group.as_mut_ptr());
            let storage = (0..queries.active(program, blocks)).map(|index| {
                let value = |property| u32::try_from(queries.value(program, blocks, index, property)).unwrap_or(0);
                let (binding, bytes) = (value(glow::BUFFER_BINDING), value(glow::BUFFER_DATA_SIZE));
                (queries.name(program, blocks, index), binding, u64::from(bytes))
            });
            let loose = (0..queries.active(program, plain))
                .filter(|index| queries.value(program, plain, *index, glow::BLOCK_INDEX) < 0)
                .map(|index| queries.name(program, plain, index))
                .filter(|name| name.split('[').next() != Some(numbers));
            let in_blocks =
                (0..queries.active(program, uniform_blocks)).map(|index| queries.name(program, uniform_blocks, index));
            Ok(Self {
                group: group.map(|side| u32::try_from(side).unwrap_or(0)),
                storage: storage.collect(),
                uniforms: loose.chain(in_blocks).collect(),
            })
        }
    }
}
