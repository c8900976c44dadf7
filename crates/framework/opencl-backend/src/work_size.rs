//! Sizes of work groups.

use crate::identity::Limits;

/// The largest work group for a kernel on a device, and the one that its source requires.
#[derive(Debug, Clone)]
pub struct GroupLimits {
    /// Largest number of work items (`CL_KERNEL_WORK_GROUP_SIZE`, below the device's own limit).
    pub items: usize,
    /// Largest size in each dimension.
    pub sides: Vec<usize>,
    /// `reqd_work_group_size`, if the source declares it.
    pub required: Option<[usize; 3]>,
}

/// Global and local size of a launch in two dimensions.
#[derive(Debug, PartialEq, Eq)]
pub struct WorkSize {
    pub global: [usize; 2],
    pub local: [usize; 2],
}

/// The preferred group size. It is fixed, so that drivers which compile a kernel again for each group size (PoCL) do so
/// once. Square tiles suit GPUs as well as PoCL, which unrolls rows of 16: they take two thirds of the time of lines of
/// 256.
const TILE: [usize; 2] = [16, 16];
const LINE: [usize; 2] = [256, 1];

impl GroupLimits {
    pub fn new(limits: &Limits, kernel_items: Option<usize>, required: Option<[usize; 3]>) -> Self {
        let device = limits.max_work_group.max(1);
        Self {
            items: kernel_items.filter(|n| *n > 0).map_or(device, |n| n.min(device)),
            sides: limits.max_work_item_sizes.clone(),
            required: required.filter(|r| r.iter().all(|n| *n > 0)),
        }
    }

    /// Returns sizes for at least `items` work items, rounded up to whole groups. `None` on overflow.
    pub fn work_size(&self, items: [usize; 2]) -> Option<WorkSize> {
        let local = match self.required {
            Some([x, y, _]) => [x, y],
            None => self.fit(if items[1] == 1 { LINE } else { TILE }),
        };
        let global = [items[0].checked_next_multiple_of(local[0])?, items[1].checked_next_multiple_of(local[1])?];
        Some(WorkSize { global, local })
    }

    /// Halves the sides, the longer first, until the group is allowed.
    fn fit(&self, mut group: [usize; 2]) -> [usize; 2] {
        for (side, limit) in group.iter_mut().zip(&self.sides) {
            while *side > (*limit).max(1) {
                *side /= 2;
            }
        }
        while group[0] * group[1] > self.items {
            let longer = usize::from(group[1] > group[0]);
            group[longer] /= 2;
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(items: usize, side: usize) -> GroupLimits {
        GroupLimits { items, sides: vec![side; 3], required: None }
    }

    #[test]
    fn work_sizes_cover_the_items_in_whole_groups() {
        for (w, h) in [(1, 1), (17, 5), (1920, 1080), (255, 1), (257, 3)] {
            let WorkSize { global, local } = limits(1024, 1024).work_size([w, h]).unwrap();
            assert!(global[0] >= w && global[1] >= h);
            assert!(global[0] < w + local[0] && global[1] < h + local[1]);
            assert!(global[0] % local[0] == 0 && global[1] % local[1] == 0);
        }
    }

    #[test]
    fn groups_keep_to_the_limits() {
        for items in [1, 2, 3, 64, 100, 256] {
            for side in [1, 2, 8, 300] {
                for rows in [1, 100] {
                    let local = limits(items, side).work_size([100, rows]).unwrap().local;
                    assert!(local[0] * local[1] <= items && local[0] <= side && local[1] <= side, "{local:?}");
                    assert!(local[0] > 0 && local[1] > 0);
                }
            }
        }
    }

    #[test]
    fn a_required_size_is_kept_and_overflow_refused() {
        let limits = GroupLimits { required: Some([7, 3, 1]), ..limits(1, 1) };
        assert_eq!(limits.work_size([8, 3]), Some(WorkSize { global: [14, 3], local: [7, 3] }));
        assert_eq!(limits.work_size([usize::MAX, 1]), None);
    }
}
