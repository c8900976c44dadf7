//! The payload of a job: which tiles are wanted, and the arguments.

use crate::grid::Grid;
use crate::hash::Weights;
use pixelferry::Extent;
use pixelferry_media::wire::{HEADER_BYTES, Header, Limits, MessageKind, Numbers, WireError, too_large};

const FIXED: usize = 24;
const WEIGHT_BYTES: usize = 16;

/// Job that a display asks its workers for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobMessage {
    /// Session, frame, time and picture.
    pub header: Header,
    /// The picture's tiles.
    pub grid: Grid,
    /// Tiles that are still missing; empty where all are wanted.
    pub wanted: Vec<u32>,
    /// Speeds of the workers, if the load is balanced.
    pub weights: Weights,
    /// The program's own bytes.
    pub args: Vec<u8>,
}

impl JobMessage {
    /// All tiles of a picture, by workers that are all alike.
    pub fn new(header: Header, grid: Grid, args: Vec<u8>) -> Self {
        Self { header, grid, wanted: Vec::new(), weights: Weights::default(), args }
    }

    /// All bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(FIXED + 4 * self.wanted.len() + self.args.len());
        let tile = self.grid.tile();
        let counts = [self.wanted.len(), self.weights.rows().len(), self.args.len(), 0];
        let counts = counts.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        for number in [tile.width, tile.height].iter().chain(&counts).chain(&self.wanted) {
            payload.extend(number.to_le_bytes());
        }
        for (node, weight) in self.weights.rows() {
            payload.extend(node.to_le_bytes());
            payload.extend(u64::from(*weight).to_le_bytes());
        }
        payload.extend(&self.args);
        let header = Header { kind: MessageKind::Job, payload: payload.len() as u64, ..self.header };
        let mut bytes = header.to_bytes().to_vec();
        bytes.append(&mut payload);
        bytes
    }

    /// Refuses a picture, or tiles of it, that are larger than workers take.
    ///
    /// # Errors
    /// [`WireError`].
    pub fn check(&self, limits: &Limits) -> Result<(), WireError> {
        Header::read(&self.header.to_bytes(), limits)?;
        let (image, tile) = (self.header.image, self.grid.tile());
        let tile = Extent::new(tile.width.min(image.extent.width), tile.height.min(image.extent.height));
        too_large(tile.pixels().saturating_mul(image.format.bytes_per_pixel() as u64), limits.tile)
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// [`WireError`] for anything that no display sends.
    pub fn read(message: &[u8], limits: &Limits) -> Result<Self, WireError> {
        let header = Header::read(message, limits)?;
        header.expect(MessageKind::Job, message.len())?;
        let bad = |problem: &str| WireError::Payload { codec: "job", problem: problem.into() };
        let payload = message.get(HEADER_BYTES..).unwrap_or_default();
        if payload.len() < FIXED {
            return Err(WireError::Short { found: payload.len(), needed: FIXED });
        }
        let mut from = Numbers(payload);
        let tile = Extent::new(from.u32(), from.u32());
        let (wanted, weights, args) = (from.u32() as usize, from.u32() as usize, from.u32() as usize);
        if from.u32() != 0 {
            return Err(bad("a reserved number is not zero"));
        }
        // Sums of 32-bit numbers fit 64 bits.
        let needed = FIXED as u64 + 4 * wanted as u64 + (WEIGHT_BYTES * weights) as u64 + args as u64;
        if needed != payload.len() as u64 {
            return Err(WireError::Length { promised: needed, found: payload.len() as u64 });
        }
        let grid = Grid::new(header.image.extent, tile).map_err(|problem| bad(&problem))?;
        let wanted: Vec<u32> = (0..wanted).map(|_| from.u32()).collect();
        if wanted.iter().any(|&index| index >= grid.len()) {
            return Err(bad("it requests a tile that its picture does not have"));
        }
        let mut rows = Vec::with_capacity(weights);
        for _ in 0..weights {
            let (node, weight) = (from.u64(), from.u64());
            rows.push((node, u32::try_from(weight).map_err(|_| bad("a weight exceeds 32 bits"))?));
        }
        let job = Self { header, grid, wanted, weights: Weights::new(rows), args: from.0.to_vec() };
        job.check(limits)?;
        Ok(job)
    }
}
