//! Processor time of a process.

use crate::process::Result;
use std::fs;
use std::time::{Duration, Instant};

/// Nanoseconds that all threads of a process ran so far. Those of threads that ended are lost.
pub fn computed(process: u32) -> Result<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may end meanwhile.
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        sum += text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(sum)
}

/// Of several processes together.
pub fn computed_by(processes: &[u32]) -> Result<u64> {
    processes.iter().map(|&process| computed(process)).sum()
}

/// Nanoseconds that each process computed while this one waited.
pub fn computed_during(processes: &[u32], wait: Duration) -> Result<Vec<u64>> {
    let before = processes.iter().map(|&process| computed(process)).collect::<Result<Vec<_>>>()?;
    let begun = Instant::now();
    std::thread::sleep(wait);
    let after = processes.iter().map(|&process| computed(process)).collect::<Result<Vec<_>>>()?;
    // To the length that was wanted, however late this one woke up.
    let part = wait.as_secs_f64() / begun.elapsed().as_secs_f64();
    Ok(before.into_iter().zip(after).map(|(before, after)| ((after - before) as f64 * part) as u64).collect())
}

pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
