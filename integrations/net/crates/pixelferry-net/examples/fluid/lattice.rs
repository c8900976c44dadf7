//! Air that flows past a cylinder, by the lattice Boltzmann method with nine directions (D2Q9): one part of the channel, and
//! around it a ring of cells that are its neighbours'.

use pixelferry::{Extent, Region};
use std::ops::Range;

/// Densities that move in each direction; the first rests.
type Cell = [f32; 9];

const DIRECTIONS: [(i32, i32); 9] = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
const WEIGHTS: Cell =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];
/// Number of the direction against each.
const BACK: [usize; 9] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
/// Number of each direction in a mirror that lies along x.
const MIRRORED: [usize; 9] = [0, 1, 4, 3, 2, 8, 7, 6, 5];

/// Cells a step that the air comes in with.
const SPEED: f32 = 0.1;
/// The cylinder's diameter in cells times the speed, by the viscosity: vortices part from the cylinder from 47 on.
const REYNOLDS: f32 = 150.0;
/// Bytes of a cell, as it is stored.
const CELL_BYTES: usize = 36;

/// The whole channel.
#[derive(Clone, Copy)]
pub struct Channel(pub Extent);

impl Channel {
    fn radius(self) -> f32 {
        self.0.height as f32 / 12.0
    }

    fn is_solid(self, x: u32, y: u32) -> bool {
        // Not in the middle, so that the vortices begin sooner.
        let (dx, dy) = (x as f32 - self.0.width as f32 / 5.0, y as f32 - self.0.height as f32 / 2.0 - 1.5);
        dx * dx + dy * dy < self.radius() * self.radius()
    }

    fn omega(self) -> f32 {
        let viscosity = SPEED * 2.0 * self.radius() / REYNOLDS;
        1.0 / (3.0 * viscosity + 0.5)
    }
}

/// One part of the channel.
pub struct Part {
    channel: Channel,
    region: Region,
    /// Rows of the region and of the ring around it.
    cells: Vec<Cell>,
    next: Vec<Cell>,
}

impl Part {
    /// At step 0: all air moves alike.
    pub fn new(channel: Channel, region: Region) -> Self {
        let count = (region.width as usize + 2) * (region.height as usize + 2);
        let cells = vec![balance(1.0, (SPEED, 0.0)); count];
        Self { channel, region, next: cells.clone(), cells }
    }

    fn pitch(&self) -> usize {
        self.region.width as usize + 2
    }

    /// Tells where a cell of the channel lies here; it is of the part or of its ring.
    fn index(&self, x: i64, y: i64) -> usize {
        let (column, row) = (x - i64::from(self.region.x) + 1, y - i64::from(self.region.y) + 1);
        row as usize * self.pitch() + column as usize
    }

    /// One step. The ring is of the step before it.
    pub fn advance(&mut self) {
        let (omega, Region { x: left, y: top, width, height }) = (self.channel.omega(), self.region);
        for y in top..top + height {
            for x in left..left + width {
                let index = self.index(x.into(), y.into());
                self.next[index] = self.cell(x, y, omega);
            }
        }
        std::mem::swap(&mut self.cells, &mut self.next);
    }

    fn cell(&self, x: u32, y: u32, omega: f32) -> Cell {
        let mut came = [0.0; 9];
        for (direction, part) in came.iter_mut().enumerate() {
            *part = self.from(x, y, direction);
        }
        if self.channel.is_solid(x, y) {
            // Fluid that reaches the cylinder goes back.
            return BACK.map(|direction| came[direction]);
        }
        if x == 0 {
            return balance(1.0, (SPEED, 0.0));
        }
        let (density, velocity) = moments(&came);
        let balanced = balance(density, velocity);
        for (part, balanced) in came.iter_mut().zip(balanced) {
            *part += omega * (balanced - *part);
        }
        came
    }

    /// Returns what comes to a cell in a direction: from the cell before it, at the far end from the cell itself, and at the walls from
    /// where it slid along.
    fn from(&self, x: u32, y: u32, direction: usize) -> f32 {
        let (dx, dy) = DIRECTIONS[direction];
        let Extent { width, height } = self.channel.0;
        let (mut from_x, mut from_y) = (i64::from(x) - i64::from(dx), i64::from(y) - i64::from(dy));
        if !(0..i64::from(width)).contains(&from_x) {
            from_x = x.into();
        }
        let mut direction = direction;
        if !(0..i64::from(height)).contains(&from_y) {
            (from_y, direction) = (y.into(), MIRRORED[direction]);
        }
        self.cells[self.index(from_x, from_y)][direction]
    }

    /// The part's cells next to the neighbour that lies so many parts to the right and down, or those of the ring that are the
    /// neighbour's.
    fn border(&self, towards: (i32, i32), is_ring: bool) -> impl Iterator<Item = usize> + use<> {
        let span = |towards: i32, len: u32| -> Range<usize> {
            let len = len as usize;
            match (towards, is_ring) {
                (0, _) => 1..len + 1,
                (..0, false) => 1..2,
                (..0, true) => 0..1,
                (_, false) => len..len + 1,
                (_, true) => len + 1..len + 2,
            }
        };
        let (columns, rows) = (span(towards.0, self.region.width), span(towards.1, self.region.height));
        let pitch = self.pitch();
        rows.flat_map(move |row| columns.clone().map(move |column| row * pitch + column))
    }

    /// Returns what a neighbour needs of this part.
    pub fn edge(&self, towards: (i32, i32)) -> Vec<u8> {
        store(self.border(towards, false).map(|index| &self.cells[index]))
    }

    /// Takes what a neighbour gave. `false` where it is of another length.
    pub fn set_ring(&mut self, towards: (i32, i32), edge: &[u8]) -> bool {
        let ring: Vec<_> = self.border(towards, true).collect();
        self.load_at(&ring, edge)
    }

    fn load_at(&mut self, places: &[usize], bytes: &[u8]) -> bool {
        if bytes.len() != places.len() * CELL_BYTES {
            return false;
        }
        for (&index, bytes) in places.iter().zip(bytes.chunks_exact(CELL_BYTES)) {
            for (part, bytes) in self.cells[index].iter_mut().zip(bytes.as_chunks().0) {
                *part = f32::from_le_bytes(*bytes);
            }
        }
        true
    }

    /// All that the part knows, but its ring.
    pub fn state(&self) -> Vec<u8> {
        store(self.own().map(|index| &self.cells[index]))
    }

    /// Takes what [`Part::state`] gave. `false` where it is of another length.
    pub fn load(&mut self, state: &[u8]) -> bool {
        let own: Vec<_> = self.own().collect();
        self.load_at(&own, state)
    }

    fn own(&self) -> impl Iterator<Item = usize> + use<> {
        self.border((0, 0), false)
    }

    /// The part's pixels: air that turns left is blue, air that turns right is red. The ring is of this step.
    pub fn draw(&self, pixels: &mut [u8]) {
        let Region { x: left, y: top, width, height } = self.region;
        let places = (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y)));
        for ((x, y), pixel) in places.zip(pixels.as_chunks_mut::<4>().0) {
            *pixel = self.pixel(x, y);
        }
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        if self.channel.is_solid(x, y) {
            return [40, 44, 52, 255];
        }
        let Extent { width, height } = self.channel.0;
        let velocity = |x: i64, y: i64| {
            let (x, y) = (x.clamp(0, i64::from(width) - 1), y.clamp(0, i64::from(height) - 1));
            moments(&self.cells[self.index(x, y)]).1
        };
        let (x, y) = (i64::from(x), i64::from(y));
        let turn = (velocity(x + 1, y).1 - velocity(x - 1, y).1) - (velocity(x, y + 1).0 - velocity(x, y - 1).0);
        let strength = (turn / SPEED * 4.0).clamp(-1.0, 1.0);
        let (colour, part) =
            if strength < 0.0 { ([28.0, 92.0, 178.0], -strength) } else { ([196.0, 52.0, 38.0], strength) };
        let [red, green, blue] = colour.map(|channel: f32| (248.0 + (channel - 248.0) * part) as u8);
        [red, green, blue, 255]
    }
}

fn store<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<u8> {
    cells.flatten().flat_map(|part| part.to_le_bytes()).collect()
}

/// Density and velocity of a cell.
fn moments(cell: &Cell) -> (f32, (f32, f32)) {
    let density: f32 = cell.iter().sum();
    let along = |side: fn(&(i32, i32)) -> i32| {
        let sum: f32 = cell.iter().zip(&DIRECTIONS).map(|(part, direction)| part * side(direction) as f32).sum();
        sum / density
    };
    (density, (along(|direction| direction.0), along(|direction| direction.1)))
}

/// Returns what air of this density and velocity is when it has settled.
fn balance(density: f32, (vx, vy): (f32, f32)) -> Cell {
    let square = 1.5 * (vx * vx + vy * vy);
    let mut cell = WEIGHTS;
    for (part, (dx, dy)) in cell.iter_mut().zip(DIRECTIONS) {
        let along = 3.0 * (dx as f32 * vx + dy as f32 * vy);
        *part *= density * (1.0 + along + 0.5 * along * along - square);
    }
    cell
}
