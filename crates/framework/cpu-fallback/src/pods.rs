//! Views of bytes as plain values, whatever their alignment.

use bytemuck::Pod;

/// Sets each item. Trailing bytes that are not a whole item stay unchanged.
pub(crate) fn write_items<T: Pod>(bytes: &mut [u8], mut item: impl FnMut(usize) -> T) {
    let whole = bytes.len() - bytes.len() % size_of::<T>();
    match bytemuck::try_cast_slice_mut::<u8, T>(&mut bytes[..whole]) {
        Ok(items) => items.iter_mut().enumerate().for_each(|(i, slot)| *slot = item(i)),
        Err(_) => bytes.chunks_exact_mut(size_of::<T>()).enumerate().for_each(|(i, slot)| {
            slot.copy_from_slice(bytemuck::bytes_of(&item(i)));
        }),
    }
}

/// Lends `bytes`, a whole number of items, as items: in place where they are aligned, otherwise through a copy.
pub(crate) fn with_items<T: Pod>(bytes: &mut [u8], f: impl FnOnce(&mut [T])) {
    match bytemuck::try_cast_slice_mut::<u8, T>(bytes) {
        Ok(items) => f(items),
        Err(_) => {
            let mut copy: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            f(&mut copy);
            bytes.copy_from_slice(&bytemuck::cast_slice(&copy)[..bytes.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_and_unaligned_bytes_get_the_same_items() {
        for start in 0..8 {
            let mut bytes = [0u8; 31];
            write_items::<f32>(&mut bytes[start..], |i| i as f32 + 0.5);
            let whole = (31 - start) / 4;
            for i in 0..whole {
                let at = start + 4 * i;
                assert_eq!(bytes[at..at + 4], (i as f32 + 0.5).to_ne_bytes());
            }
            assert!(bytes[start + 4 * whole..].iter().all(|b| *b == 0));
            with_items::<f32>(&mut bytes[start..start + 4 * whole], |items| {
                assert_eq!(items.len(), whole);
                items.iter_mut().for_each(|v| *v += 1.0);
            });
            assert_eq!(bytes[start..start + 4], 1.5f32.to_ne_bytes());
        }
    }
}
