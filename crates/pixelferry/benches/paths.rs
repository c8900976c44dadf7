//! `cargo bench -p pixelferry --bench paths`: each path's hand-over of one frame (kernel excluded) beside the memcpy of
//! a frame and beside the same calls by hand.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

mod subjects;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use subjects::{Machine, Memcpy, SIZES, Subject as _, pairs};

fn paths(criterion: &mut Criterion) {
    let machine = Machine::open();
    for (name, width, height) in SIZES {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(u64::from(width) * u64::from(height) * 4));
        let mut memcpy = Memcpy::new(width, height);
        group.bench_function("memcpy", |b| b.iter(|| memcpy.frame()));
        for mut pair in pairs(&machine, width, height, false) {
            let id = format!("{} {}", pair.backend, pair.path);
            group.bench_function(BenchmarkId::new(&id, "framework"), |b| b.iter(|| pair.framework.frame()));
            if let Some(hand) = &mut pair.by_hand {
                group.bench_function(BenchmarkId::new(&id, "by hand"), |b| b.iter(|| hand.frame()));
            }
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50).measurement_time(std::time::Duration::from_secs(4));
    targets = paths
}
criterion_main!(benches);
