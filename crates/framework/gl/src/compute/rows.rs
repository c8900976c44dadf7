//! Copies between textures and rows in memory, on the device. They store like kernels, in the texture's own format,
//! because the proof of a path uses them; [`DeviceCopy`](crate::objects::device_copy) passes integers.

use crate::GlDevice;
use crate::queue::QueueBuffer;
use crate::queue::program::ComputeProgram;
use crate::queue::texture::QueueTexture;
use interop_core::describe::PlainMutex;
use interop_core::describe::format::PerFormat;
use interop_core::{PixelFormat, Region, Result};
use std::collections::HashMap;
use std::sync::Arc;
use wgsl_kernel::shader::CopyMethod;

/// How a pixel `c` is packed into word `w`, byte `b`, and how it is unpacked. A texture stores the bits of blue-first
/// formats as if red were first.
const ROWS: PerFormat<[&str; 2]> = {
    const BYTES: [&str; 2] = ["memory[w] = packUnorm4x8(c);", "unpackUnorm4x8(memory[w])"];
    PerFormat::new([
        (PixelFormat::R8, ["set_part(b, 0xffu, packUnorm4x8(c));", "unpackUnorm4x8(part(b, 0xffu))"]),
        (PixelFormat::Rg8, ["set_part(b, 0xffffu, packUnorm4x8(c));", "unpackUnorm4x8(part(b, 0xffffu))"]),
        (PixelFormat::R16, ["set_part(b, 0xffffu, packUnorm2x16(c.xy));", "unpackUnorm2x16(part(b, 0xffffu)).xyyy"]),
        (PixelFormat::R16F, ["set_part(b, 0xffffu, packHalf2x16(c.xy));", "unpackHalf2x16(part(b, 0xffffu)).xyyy"]),
        (PixelFormat::Rgba8, BYTES),
        (PixelFormat::Bgra8, BYTES),
        (
            PixelFormat::Rgb10A2,
            [
                "uvec4 q = uvec4(c * vec4(1023.0, 1023.0, 1023.0, 3.0) + 0.5); \
                 memory[w] = q.x | q.y << 10u | q.z << 20u | q.w << 30u;",
                "vec4(uvec4(memory[w], memory[w] >> 10u, memory[w] >> 20u, memory[w] >> 30u) & uvec4(1023, 1023, 1023, 3)) \
                 / vec4(1023.0, 1023.0, 1023.0, 3.0)",
            ],
        ),
        (PixelFormat::Rg16F, ["memory[w] = packHalf2x16(c.xy);", "unpackHalf2x16(memory[w]).xyyy"]),
        (PixelFormat::R32F, ["memory[w] = floatBitsToUint(c.x);", "uintBitsToFloat(memory[w]).xxxx"]),
        (
            PixelFormat::Rgba16F,
            [
                "memory[w] = packHalf2x16(c.xy); memory[w + 1u] = packHalf2x16(c.zw);",
                "vec4(unpackHalf2x16(memory[w]), unpackHalf2x16(memory[w + 1u]))",
            ],
        ),
        (
            PixelFormat::Rg32F,
            [
                "memory[w] = floatBitsToUint(c.x); memory[w + 1u] = floatBitsToUint(c.y);",
                "uintBitsToFloat(uvec2(memory[w], memory[w + 1u])).xyyy",
            ],
        ),
        (
            PixelFormat::Rgba32F,
            [
                "for (uint i = 0u; i < 4u; i++) memory[w + i] = floatBitsToUint(c[i]);",
                "uintBitsToFloat(uvec4(memory[w], memory[w + 1u], memory[w + 2u], memory[w + 3u]))",
            ],
        ),
    ])
};

/// Side length of a work group.
const GROUP: u32 = 8;

/// The programs, built at first use.
#[derive(Default)]
pub struct Rows(PlainMutex<HashMap<(PixelFormat, CopyMethod), Arc<ComputeProgram>>>);

impl Rows {
    fn program(
        &self,
        device: &GlDevice,
        texture: &QueueTexture,
        key: (PixelFormat, CopyMethod),
    ) -> Result<Arc<ComputeProgram>> {
        let mut programs = self.0.lock();
        if let Some(program) = programs.get(&key) {
            return Ok(Arc::clone(program));
        }
        let (format, method) = key;
        let ([pack, unpack], layout, pixel) = (ROWS.get(format), texture.format().layout, format.bytes_per_pixel());
        let method = if method == CopyMethod::Load { "#define LOADS\n" } else { "" };
        let text = format!(
            "#version 430 core\n{method}#define LAYOUT {layout}\n#define PIXEL {pixel}u\n#define PACK {pack}\n#define UNPACK {unpack}\n{}",
            include_str!("rows.glsl")
        );
        let built = ComputeProgram::build(device, &text, "numbers")?;
        let program = Arc::new(built.map_err(|log| device.unsupported(format!("its shaders do not build: {log}")))?);
        programs.insert(key, Arc::clone(&program));
        Ok(program)
    }

    /// Queues a copy of a rectangle of the texture to or from rows that begin at a byte of `memory` and are `pitch`
    /// bytes apart. Both are multiples of the pixel's size, or of a word where that is larger.
    pub fn copy(
        &self,
        (texture, region): (&QueueTexture, Region),
        (memory, [first, pitch]): (&QueueBuffer, [usize; 2]),
        format: PixelFormat,
        method: CopyMethod,
    ) -> Result<()> {
        let device = memory.device();
        device.enter()?;
        let program = self.program(device, texture, (format, method))?;
        let bound = texture.bound(if method == CopyMethod::Load { glow::READ_ONLY } else { glow::WRITE_ONLY })?;
        let Region { x, y, width, height } = region;
        // Fits, because the memory has at most 2^31 bytes.
        let numbers = [x, y, width, height, first as u32, pitch as u32, 0, 0];
        let groups = [width.div_ceil(GROUP), height.div_ceil(GROUP)];
        // SAFETY: the program accesses the rectangle and its rows, which lie inside texture and memory because the
        // caller took both from the image's own description; it has one block and one image.
        unsafe { program.run(&[memory], Some(bound), &numbers, groups) }
    }
}
