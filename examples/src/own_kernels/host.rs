//! A function on the host, which writes through a pointer.

use pixelferry::ImageView;

/// Returns the pixel that every kernel writes at column `x` and row `y`.
pub const fn pixel(x: u32, y: u32, t: u32) -> [u8; 4] {
    [(x.wrapping_mul(7).wrapping_add(t)) as u8, (x ^ y) as u8, (y.wrapping_mul(3).wrapping_add(t)) as u8, 255]
}

/// Writes the view of the memory at `address`.
///
/// # Safety
/// The view lies inside the memory at `address`, which nothing else uses in the meantime.
pub unsafe fn write(address: *mut u8, view: &ImageView, t: u32) {
    for y in 0..view.extent.height {
        for x in 0..view.extent.width {
            let at = view.row_start(y) + x as usize * size_of::<[u8; 4]>();
            // SAFETY: inside the view, by the caller's promise; rows may begin at any byte.
            unsafe { address.add(at).cast::<[u8; 4]>().write_unaligned(pixel(x, y, t)) };
        }
    }
}
