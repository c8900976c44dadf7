//! The kernels' work on one cell, in Rust.

use pixelferry::{Error, Extent, Result};
use std::f32::consts::PI;

/// Number of jets, which push the fluid and emit dye.
pub const JETS: usize = 3;

const COLOURS: [[f32; 3]; JETS] = [[1.9, 0.5, 0.03], [0.04, 0.6, 1.9], [1.0, 0.06, 1.5]];

/// Values of all cells, row by row.
pub struct CellField<'a, T> {
    values: &'a [T],
    cells: Extent,
}

impl<'a, T: Copy> CellField<'a, T> {
    /// Refuses memory that is too small for the cells, and an empty field.
    pub fn of(values: &'a [T], cells: Extent) -> Result<Self> {
        if cells.pixels() == 0 || (values.len() as u64) < cells.pixels() {
            return Err(Error::invalid("fluid", format!("{} values do not match {cells} cells", values.len())));
        }
        Ok(Self { values, cells })
    }

    fn rows(&self) -> f32 {
        self.cells.height as f32
    }

    /// Value of the nearest cell.
    fn at(&self, x: i32, y: i32) -> T {
        let x = x.clamp(0, self.cells.width as i32 - 1) as usize;
        let y = y.clamp(0, self.cells.height as i32 - 1) as usize;
        self.values[y * self.cells.width as usize + x]
    }

    fn is_inside(&self, x: i32, y: i32) -> bool {
        x >= 0 && y >= 0 && x < self.cells.width as i32 && y < self.cells.height as i32
    }
}

impl CellField<'_, [f32; 4]> {
    /// Interpolates between cells; positions count from the centre of the first.
    fn sample(&self, px: f32, py: f32) -> [f32; 4] {
        let (px, py) = (px.clamp(0.0, self.cells.width as f32 - 1.0), py.clamp(0.0, self.rows() - 1.0));
        let (x, y) = (px as i32, py as i32);
        let (u, v) = (px - x as f32, py - y as f32);
        let [a, b, c, d] = [self.at(x, y), self.at(x + 1, y), self.at(x, y + 1), self.at(x + 1, y + 1)];
        let blend = |a: f32, b: f32, t: f32| a + t * (b - a);
        let channel = |i: usize| blend(blend(a[i], b[i], u), blend(c[i], d[i], u), v);
        [channel(0), channel(1), channel(2), 0.0]
    }

    /// Returns the value that was at the cell's origin one step ago.
    fn carried(&self, x: u32, y: u32, by: [f32; 4], dt: f32) -> [f32; 4] {
        self.sample(x as f32 - dt * self.rows() * by[0], y as f32 - dt * self.rows() * by[1])
    }

    /// Flow of the nearest cell along this axis; nothing flows through walls.
    fn flow(&self, x: i32, y: i32, axis: usize) -> f32 {
        if self.is_inside(x, y) { self.at(x, y)[axis] } else { 0.0 }
    }
}

/// Position and direction of a jet.
pub fn jet(i: usize, aspect: f32, t: f32) -> [f32; 4] {
    let i = i as f32;
    let place = 2.094_395_1 * i + 0.3 * t;
    let aim = place + PI + 0.9 * (1.3 * t + 2.0 * i).sin();
    [0.5 * aspect + 0.36 * place.cos(), 0.5 + 0.36 * place.sin(), aim.cos(), aim.sin()]
}

fn reach(jet: &[f32; 4], x: u32, y: u32, rows: f32) -> f32 {
    let (dx, dy) = ((x as f32 + 0.5) / rows - jet[0], (y as f32 + 0.5) / rows - jet[1]);
    let d = dx * dx + dy * dy;
    if d < 0.01 { (-1500.0 * d).exp() } else { 0.0 }
}

pub fn push(flow: &CellField<'_, [f32; 4]>, jets: &[[f32; 4]], x: u32, y: u32, dt: f32) -> [f32; 4] {
    let mut v = flow.carried(x, y, flow.at(x as i32, y as i32), dt);
    for jet in jets {
        let force = 36.0 * dt * reach(jet, x, y, flow.rows());
        v[0] += force * jet[2];
        v[1] += force * jet[3];
    }
    v
}

pub fn divergence(flow: &CellField<'_, [f32; 4]>, x: u32, y: u32) -> f32 {
    let (x, y) = (x as i32, y as i32);
    let out = flow.flow(x + 1, y, 0) - flow.flow(x - 1, y, 0) + flow.flow(x, y + 1, 1) - flow.flow(x, y - 1, 1);
    0.5 * flow.rows() * out
}

pub fn jacobi(pressure: &CellField<'_, f32>, divergence: &CellField<'_, f32>, x: u32, y: u32) -> f32 {
    let (x, y, rows) = (x as i32, y as i32, pressure.rows());
    let around = pressure.at(x - 1, y) + pressure.at(x + 1, y) + pressure.at(x, y - 1) + pressure.at(x, y + 1);
    0.25 * (around - divergence.at(x, y) / (rows * rows))
}

pub fn project(flow: &CellField<'_, [f32; 4]>, pressure: &CellField<'_, f32>, x: u32, y: u32) -> [f32; 4] {
    let (x, y, rows) = (x as i32, y as i32, flow.rows());
    let mut v = flow.at(x, y);
    v[0] -= 0.5 * rows * (pressure.at(x + 1, y) - pressure.at(x - 1, y));
    v[1] -= 0.5 * rows * (pressure.at(x, y + 1) - pressure.at(x, y - 1));
    v
}

pub fn carry(
    dye: &CellField<'_, [f32; 4]>,
    flow: &CellField<'_, [f32; 4]>,
    jets: &[[f32; 4]],
    x: u32,
    y: u32,
    dt: f32,
) -> [f32; 4] {
    let mut c = dye.carried(x, y, flow.at(x as i32, y as i32), dt);
    let fade = 1.0 - 0.35 * dt;
    (0..3).for_each(|channel| c[channel] *= fade);
    for (jet, colour) in jets.iter().zip(COLOURS) {
        let feed = 9.0 * dt * reach(jet, x, y, dye.rows());
        (0..3).for_each(|channel| c[channel] += feed * colour[channel]);
    }
    c
}

/// Light of a pixel in a picture of `shown` pixels, and how much the dye hides of what is behind it.
pub fn light(dye: &CellField<'_, [f32; 4]>, shown: Extent, x: u32, y: u32) -> ([f32; 3], f32) {
    let at = |i: u32, cells: u32, pixels: u32| (i as f32 + 0.5) * cells as f32 / pixels as f32 - 0.5;
    let d = dye.sample(at(x, dye.cells.width, shown.width), at(y, dye.cells.height, shown.height));
    let thick = d[0] + d[1] + d[2];
    ([0.004 + 2.2 * d[0], 0.0045 + 2.2 * d[1], 0.008 + 2.2 * d[2]], thick / (thick + 0.1))
}
