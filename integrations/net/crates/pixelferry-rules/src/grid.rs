//! A picture cut into tiles.

use pixelferry::{Extent, Region};

/// Maximum number of tiles of a picture.
pub const MOST_TILES: u32 = 65_536;

/// A picture cut into tiles of one size, counted row by row; those at the far edges are cut off.
///
/// ```
/// use pixelferry::{Extent, Region};
/// use pixelferry_rules::grid::Grid;
///
/// let grid = Grid::new(Extent::new(100, 70), Extent::new(64, 64))?;
/// assert_eq!(grid.len(), 4);
/// assert_eq!(grid.region(3), Some(Region::new(64, 64, 36, 6)));
/// assert_eq!(grid.index(Region::new(64, 64, 36, 6)), Some(3));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    image: Extent,
    tile: Extent,
    columns: u32,
    rows: u32,
}

impl Grid {
    /// Divides a picture of `image` pixels.
    ///
    /// # Errors
    /// Describes an invalid size: sides of 0, or more than [`MOST_TILES`] tiles.
    pub fn new(image: Extent, tile: Extent) -> Result<Self, String> {
        if image.width == 0 || image.height == 0 || tile.width == 0 || tile.height == 0 {
            return Err(format!("a picture of {image} in tiles of {tile} has a side of 0"));
        }
        let (columns, rows) = (image.width.div_ceil(tile.width), image.height.div_ceil(tile.height));
        let count = u64::from(columns) * u64::from(rows);
        if count > u64::from(MOST_TILES) {
            return Err(format!("{count} tiles exceed the limit of {MOST_TILES}; use larger tiles"));
        }
        Ok(Self { image, tile, columns, rows })
    }

    /// Size of a tile that is not cut off.
    pub const fn tile(&self) -> Extent {
        self.tile
    }

    /// Number of tiles; at least 1.
    #[allow(clippy::len_without_is_empty)] // never is
    pub const fn len(&self) -> u32 {
        self.columns * self.rows
    }

    /// Tells where a tile lies; `None` past the last.
    pub fn region(&self, index: u32) -> Option<Region> {
        if index >= self.len() {
            return None;
        }
        let (x, y) = (index % self.columns * self.tile.width, index / self.columns * self.tile.height);
        let (width, height) = (self.tile.width.min(self.image.width - x), self.tile.height.min(self.image.height - y));
        Some(Region::new(x, y, width, height))
    }

    /// The tile that is exactly this rectangle.
    pub fn index(&self, region: Region) -> Option<u32> {
        let (column, row) = (region.x / self.tile.width, region.y / self.tile.height);
        if column >= self.columns || row >= self.rows {
            return None;
        }
        let index = row * self.columns + column;
        (self.region(index) == Some(region)).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_each_pixel_once() {
        let image = Extent::new(37, 23);
        let grid = Grid::new(image, Extent::new(8, 5)).unwrap();
        let mut seen = vec![0; image.pixels() as usize];
        for index in 0..grid.len() {
            let region = grid.region(index).unwrap();
            region.check_inside(image).unwrap();
            assert_eq!(grid.index(region), Some(index));
            for y in region.y..region.y + region.height {
                for x in region.x..region.x + region.width {
                    seen[(y * image.width + x) as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&count| count == 1));
        assert_eq!(grid.region(grid.len()), None);
        assert_eq!(grid.index(Region::new(8, 0, 7, 5)), None);
        assert_eq!(grid.index(Region::new(u32::MAX, 0, 8, 5)), None);
    }

    #[test]
    fn impossible_grids_are_refused() {
        assert!(Grid::new(Extent::new(0, 1), Extent::new(8, 8)).is_err());
        assert!(Grid::new(Extent::new(1, 1), Extent::new(8, 0)).is_err());
        assert!(Grid::new(Extent::new(u32::MAX, u32::MAX), Extent::new(1, 1)).is_err());
    }
}
