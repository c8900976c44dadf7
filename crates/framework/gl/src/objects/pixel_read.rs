//! Reads pixels of the framebuffer that is bound for reading to the host.

use crate::context::context_state::ContextState;
use crate::objects::state_guards::{Framebuffers, Pack};
use glow::{HasContext as _, PixelPackData};
use half::f16;
use interop_core::Region;

/// True where `glReadPixels` supports these channels of this type. Desktop OpenGL converts to any; OpenGL ES supports
/// four channels of few types, and one more pair that the framebuffer determines (OpenGL ES 3.2, section 16.1.2). The
/// context must be current.
pub(crate) fn is_direct(shared: &ContextState, channels: u32, ty: u32) -> bool {
    if !shared.features.es || (channels == glow::RGBA && ty != glow::HALF_FLOAT) {
        return true;
    }
    let queries = [glow::IMPLEMENTATION_COLOR_READ_FORMAT, glow::IMPLEMENTATION_COLOR_READ_TYPE];
    // SAFETY: the context is current; both are single integers of a framebuffer that is complete.
    queries.map(|query| unsafe { shared.gl.get_parameter_i32(query) } as u32) == [channels, ty]
}

/// Reads a region into tight rows of these channels and this type; `into` has exactly their size.
///
/// # Safety
/// The context is current, a complete framebuffer with such pixels is bound for reading, and the region lies inside.
pub(crate) unsafe fn read(shared: &ContextState, at: Region, channels: u32, ty: u32, into: &mut [u8]) {
    let _pack = Pack::tight(shared);
    let get = |channels, ty, into: &mut [u8]| {
        let [x, y, width, height] = [at.x, at.y, at.width, at.height].map(|n| n as i32);
        // SAFETY: the caller's promise; `into` is as large as the rows, and no pack buffer is bound.
        unsafe { shared.gl.read_pixels(x, y, width, height, channels, ty, PixelPackData::Slice(Some(into))) }
    };
    if is_direct(shared, channels, ty) {
        return get(channels, ty, into);
    }
    let halves = ty == glow::HALF_FLOAT;
    let mut wide = vec![0; at.width as usize * at.height as usize * 4 * if halves { 4 } else { bytes(ty) }];
    get(glow::RGBA, if halves { glow::FLOAT } else { ty }, &mut wide);
    narrow(&wide, channels, ty, into);
}

/// Runs `read` while the framebuffer that is bound for drawing, or the window's own, is bound for reading, with the
/// first draw buffer as the read buffer.
///
/// # Safety
/// The context is current.
pub(crate) unsafe fn of_drawn<T>(shared: &ContextState, read: impl FnOnce() -> T) -> T {
    let gl = &shared.gl;
    // SAFETY: the context is current, and names come from it.
    unsafe {
        let _bound = Framebuffers::to_read(shared, gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING));
        let before = gl.get_parameter_i32(glow::READ_BUFFER) as u32;
        gl.read_buffer(gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32);
        let read = read();
        gl.read_buffer(before);
        read
    }
}

/// Returns the bytes of one channel.
const fn bytes(ty: u32) -> usize {
    match ty {
        glow::UNSIGNED_BYTE => 1,
        glow::FLOAT => 4,
        _ => 2,
    }
}

/// Keeps `channels` of four channels; half floats were read as floats, exactly.
fn narrow(wide: &[u8], channels: u32, ty: u32, into: &mut [u8]) {
    let (kept, bytes) = (kept(channels), bytes(ty));
    let read = if ty == glow::HALF_FLOAT { 4 } else { bytes };
    for (pixel, to) in wide.chunks_exact(4 * read).zip(into.chunks_exact_mut(kept.len() * bytes)) {
        for (channel, to) in kept.iter().zip(to.chunks_exact_mut(bytes)) {
            match (&pixel[channel * read..][..read], ty) {
                (&[a, b, c, d], glow::HALF_FLOAT) => {
                    to.copy_from_slice(&f16::from_f32(f32::from_ne_bytes([a, b, c, d])).to_ne_bytes());
                }
                (value, _) => to.copy_from_slice(value),
            }
        }
    }
}

/// Returns the indices of the channels to keep, among red, green, blue and alpha.
const fn kept(channels: u32) -> &'static [usize] {
    match channels {
        glow::RED => &[0],
        glow::RG => &[0, 1],
        glow::BGRA => &[2, 1, 0, 3],
        _ => &[0, 1, 2, 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_picked_and_halves_narrowed() {
        let wide = [1, 2, 3, 4, 5, 6, 7, 8];
        for (channels, expected) in
            [(glow::RED, &[1, 5][..]), (glow::RG, &[1, 2, 5, 6]), (glow::BGRA, &[3, 2, 1, 4, 7, 6, 5, 8])]
        {
            let mut found = vec![0; expected.len()];
            narrow(&wide, channels, glow::UNSIGNED_BYTE, &mut found);
            assert_eq!(found, expected);
        }
        let mut word = [0; 2];
        narrow(&wide, glow::RED, glow::UNSIGNED_SHORT, &mut word);
        assert_eq!(word, [1, 2]);
        let floats: Vec<u8> = [0.5_f32, -2.0, f32::INFINITY, 65504.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        let mut halves = [0; 8];
        narrow(&floats, glow::RGBA, glow::HALF_FLOAT, &mut halves);
        let expected = [0.5, -2.0, f32::INFINITY, 65504.0].map(|v| f16::from_f32(v).to_ne_bytes());
        assert_eq!(halves, expected.concat()[..]);
    }
}
