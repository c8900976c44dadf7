//! A channel that is cut into parts, a worker for each.

use pixelferry::{Extent, Region};
use pixelferry_net::Grid;

/// Parts in columns and rows, counted row by row.
pub struct Parts {
    grid: Grid,
    columns: u32,
    rows: u32,
}

impl Parts {
    /// Cuts a channel into so many parts, in about as many rows as columns.
    pub fn new(channel: Extent, count: u32) -> Result<Self, String> {
        let fits = |columns: &u32| columns * columns >= count && count.is_multiple_of(*columns);
        let columns = (1..=count).find(fits).ok_or("there is at least one part")?;
        let rows = count / columns;
        let grid = Grid::new(channel, Extent::new(channel.width.div_ceil(columns), channel.height.div_ceil(rows)))?;
        if grid.len() != count {
            return Err(format!("{channel} cannot be cut into {columns}x{rows} parts"));
        }
        Ok(Self { grid, columns, rows })
    }

    /// Size of a part that is not cut off: a tile of the picture.
    pub fn tile(&self) -> Extent {
        self.grid.tile()
    }

    /// Numbers of all parts.
    pub fn all(&self) -> std::ops::Range<u32> {
        0..self.grid.len()
    }

    /// Tells where a part lies.
    pub fn region(&self, part: u32) -> Option<Region> {
        self.grid.region(part)
    }

    /// The parts around one, and how far to the right and down each lies.
    pub fn around(&self, part: u32) -> Vec<(u32, (i32, i32))> {
        let (column, row) = (part % self.columns, part / self.columns);
        let near = [-1, 0, 1];
        let places = near.into_iter().flat_map(|dy| near.map(|dx| (dx, dy))).filter(|&place| place != (0, 0));
        let neighbour = |(dx, dy): (i32, i32)| {
            let column = column.checked_add_signed(dx).filter(|&column| column < self.columns)?;
            let row = row.checked_add_signed(dy).filter(|&row| row < self.rows)?;
            Some((row * self.columns + column, (dx, dy)))
        };
        places.filter_map(neighbour).collect()
    }
}
