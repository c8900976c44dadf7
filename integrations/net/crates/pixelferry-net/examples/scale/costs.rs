//! What things cost, from the samples that `cargo bench --bench costs` wrote.

use crate::Failure;
use serde_json::Value;

/// A cost of each message and of each of its bytes, in nanoseconds of a processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub each: f64,
    pub byte: f64,
}

impl Cost {
    /// Of a message.
    pub fn of(self, bytes: u64) -> f64 {
        self.each + self.byte * bytes as f64
    }

    fn times(self, factor: f64) -> Self {
        Self { each: self.each * factor, byte: self.byte * factor }
    }
}

/// The parameters.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// A router takes a message.
    pub router_in: Cost,
    /// A router sends it on, to each receiver.
    pub router_out: Cost,
    /// A program takes a small message.
    pub receive: Cost,
    /// A worker begins a tile, copies its pixels, and sends it.
    pub worker_tile: Cost,
    /// A display takes a tile and shows it.
    pub display_tile: Cost,
    /// Packing a picture as JPEG, for each pixel; bytes of a packed pixel.
    pub pack_pixel: f64,
    pub packed_bytes: f64,
    /// Unpacking it, for each pixel.
    pub unpack_pixel: f64,
    /// A worker joins: the hub's time, and more for each worker before.
    pub join_hub: Cost,
    /// And of all workers together.
    pub join_members: Cost,
    /// Finding out who computes a tile, for each worker; and with weights.
    pub hash: f64,
    pub weighted_hash: f64,
}

impl Costs {
    /// By least squares over the samples.
    pub fn read(samples: &str) -> Result<Self, Failure> {
        let rows = samples.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        let of = |name: &'static str| rows.iter().filter(move |row| row["row"] == name);
        let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        let line = |name: &'static str, x: &'static str, y: &'static str| {
            let [each, byte] = fit(of(name).map(|row| ([1.0, number(row, x)], number(row, y))));
            Cost { each, byte }
        };
        let messages = of("message").map(|row| {
            let (bytes, receivers) = (number(row, "bytes"), number(row, "receivers"));
            ([1.0, bytes, receivers, receivers * bytes], number(row, "hub_ns"))
        });
        let [in_each, in_byte, out_each, out_byte] = fit(messages);
        let samples = |row: &Value| -> Vec<f64> {
            row["samples"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        // By the clock on the wall, so that the least says what it takes.
        let least =
            |name: &'static str| of(name).next_back().into_iter().flat_map(samples).fold(f64::INFINITY, f64::min);
        let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
        let each = |name: &'static str, of_row: &dyn Fn(&Value) -> f64| mean(of(name).map(of_row).collect());
        let costs = Self {
            router_in: Cost { each: in_each.max(0.0), byte: in_byte.max(0.0) },
            router_out: Cost { each: out_each.max(0.0), byte: out_byte.max(0.0) },
            receive: line("message", "bytes", "receiver_ns"),
            worker_tile: line("tile", "bytes", "worker_ns"),
            display_tile: line("tile", "bytes", "display_ns"),
            pack_pixel: each("pack", &|row| mean(samples(row)) / number(row, "pixels")),
            packed_bytes: each("pack", &|row| number(row, "bytes") / number(row, "pixels")),
            unpack_pixel: each("unpack", &|row| number(row, "ns") / number(row, "pixels")),
            join_hub: line("join", "members", "hub_ns"),
            join_members: line("join", "members", "member_ns"),
            hash: least("hash"),
            weighted_hash: least("hash by weight"),
        };
        let sound = [costs.router_out.each, costs.receive.each, costs.display_tile.byte, costs.pack_pixel, costs.hash];
        if sound.iter().all(|cost| cost.is_finite()) { Ok(costs) } else { Err(format!("{costs:?}").into()) }
    }

    /// A machine that is so many times as slow.
    pub fn times(self, factor: f64) -> Self {
        Self {
            router_in: self.router_in.times(factor),
            router_out: self.router_out.times(factor),
            receive: self.receive.times(factor),
            worker_tile: self.worker_tile.times(factor),
            display_tile: self.display_tile.times(factor),
            pack_pixel: self.pack_pixel * factor,
            unpack_pixel: self.unpack_pixel * factor,
            join_hub: self.join_hub.times(factor),
            join_members: self.join_members.times(factor),
            hash: self.hash * factor,
            weighted_hash: self.weighted_hash * factor,
            ..self
        }
    }

    /// The costs as a table.
    pub fn text(&self) -> String {
        let row = |what: &str, cost: Cost, unit: &str| {
            let byte =
                if cost.byte < 1000.0 { format!("{:.2} ns", cost.byte) } else { format!("{:.1} us", cost.byte / 1e3) };
            format!("| {what} | {:.1} us | {byte} a {unit} |\n", cost.each / 1e3)
        };
        let one = |what: &str, value: f64| format!("| {what} | {value:.2} ns | |\n");
        "| what | each time | and more |\n|---|---|---|\n".to_owned()
            + &row("a router takes a message", self.router_in, "byte")
            + &row("a router sends it on, to each receiver", self.router_out, "byte")
            + &row("a program takes a message", self.receive, "byte")
            + &row("a worker sends a tile", self.worker_tile, "byte")
            + &row("a display takes and shows a tile", self.display_tile, "byte")
            + &one("packing JPEG, a pixel", self.pack_pixel)
            + &one("unpacking JPEG, a pixel", self.unpack_pixel)
            + &row("a worker joins: the hub", self.join_hub, "worker before")
            + &row("a worker joins: all workers together", self.join_members, "worker before")
            + &one("who computes a tile, for each worker", self.hash)
            + &one("the same with weights", self.weighted_hash)
    }
}

/// Least squares relative to the values, so that small ones count as much as large ones: the factors of `N` terms.
fn fit<const N: usize>(samples: impl Iterator<Item = ([f64; N], f64)>) -> [f64; N] {
    let (mut matrix, mut right) = ([[0.0; N]; N], [0.0; N]);
    for (terms, value) in samples {
        let terms = terms.map(|term| term / value);
        for row in 0..N {
            right[row] += terms[row];
            for column in 0..N {
                matrix[row][column] += terms[row] * terms[column];
            }
        }
    }
    // Gauss and Jordan: the matrix is that of a sum of squares.
    for pivot in 0..N {
        let divisor = matrix[pivot][pivot];
        for row in (0..N).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot] / divisor;
            let above = matrix[pivot];
            matrix[row].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            right[row] -= factor * right[pivot];
        }
    }
    std::array::from_fn(|row| right[row] / matrix[row][row])
}
