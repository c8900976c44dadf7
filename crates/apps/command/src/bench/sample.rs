//! A small result for tests.

use crate::bench::grid::Mode;
use crate::bench::machine::{Device, Machine};
use crate::bench::record::{BenchRow, Cell, Method, Record, RowInfo, RowKind, SCHEMA, SCHEMA_VERSION, SkippedItem};
use crate::bench::stats::Stats;
use crate::bench::{row_names, verdict};
use pixelferry::{Api, DeviceIdentity};

/// A row whose samples vary slightly around `us`.
pub fn row(name: &str, kind: RowKind, path: Option<&str>, us: f64) -> BenchRow {
    let rounds_us: Vec<Vec<f64>> =
        (0..6).map(|round| (0..5).map(|i| us + f64::from((round + i) % 3 - 1) * us / 512.0).collect()).collect();
    let info = RowInfo {
        row: name.into(),
        kind,
        path: path.map(str::to_owned),
        sync: path.map(|_| "host fence".into()),
        frames_behind: 0,
        opened_ms: path.map(|_| 12.5),
        why: path.map(|_| "the fastest measured, 1 us a frame".into()),
        started_with: None,
    };
    BenchRow { info, stats: Stats::of(rounds_us.iter().flatten().copied()), rounds_us, alone_us: Vec::new() }
}

fn cell(size: &str, mode: Mode, factor: f64) -> Cell {
    let rows = vec![
        row(row_names::MEMCPY, RowKind::Floor, None, 8.0 * factor),
        row(row_names::NOTHING_SHARED, RowKind::Floor, None, 64.0 * factor),
        row(row_names::UNSYNCHRONISED, RowKind::Floor, None, 60.0 * factor),
        row("direct", RowKind::Path, Some("direct"), 70.0 * factor),
        row("host-round-trip", RowKind::Path, Some("host-round-trip"), 140.0 * factor),
        row(row_names::AUTOMATIC, RowKind::Automatic, Some("direct"), 70.5 * factor),
    ];
    Cell {
        compute: "CUDA A <&> \"B\"".into(),
        display: "OpenGL C, D".into(),
        size: size.into(),
        width: 64,
        height: 48,
        format: "RGBA8".into(),
        mode,
        frame_bytes: 64 * 48 * 4,
        frames_per_sample: 1,
        verdict: verdict::of(&rows),
        rows,
        skipped: vec![SkippedItem { what: "pbo-orphan".into(), reason: "display: it has <none>".into() }],
    }
}

/// Two sizes in two modes on one pairing.
pub fn record() -> Record {
    let device = |label: &str| {
        let identity = DeviceIdentity::new(Api::Cuda, label).with_vendor("V").with_driver("1.2 & 3");
        Device { label: label.into(), identity: identity.with_pci("0000:01:00.0".to_owned()) }
    };
    let cells = vec![
        cell("720p", Mode::Latency, 1.0),
        cell("720p", Mode::Throughput, 0.5),
        cell("1080p", Mode::Latency, 2.0),
        cell("1080p", Mode::Throughput, 1.0),
    ];
    Record {
        schema: SCHEMA.into(),
        schema_version: SCHEMA_VERSION,
        pixelferry: "0.0.0".into(),
        started: "2020-01-02T03:04:05Z".into(),
        seconds: 1.5,
        machine: Machine {
            system: "linux x86_64".into(),
            kernel: None,
            cpu: Some("CPU <1>".into()),
            threads: 2,
            memory_bytes: Some(1 << 34),
            load: Some("0.10 0.20 0.30".into()),
        },
        compute: vec![device("CUDA A <&> \"B\"")],
        displays: vec![device("OpenGL C, D")],
        method: Method { description: vec!["A sentence.".into()], frames: 30, budget_seconds: 10.0, tolerance: 0.03 },
        summary: verdict::summary(&cells),
        cells,
        left_out: vec![SkippedItem { what: "8K RGBA8 latency".into(), reason: "too large".into() }],
        problems: vec!["a device did not open".into()],
    }
}
