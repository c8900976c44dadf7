//! `pixelferry-net worker`: computes tiles of the plasma.

use crate::failure::Failure;
use crate::join::{Through, join};
use crate::output::complain;
use crate::{SCENE, metrics, plasma, stop};
use clap::Args;
use pixelferry::{ComputeBackend as _, CpuBackend};
use pixelferry_net::Packing;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct WorkerOptions {
    #[command(flatten)]
    pub through: Through,
    /// Name of the scene.
    #[arg(long, default_value = SCENE)]
    pub scene: String,
    /// Codec of tiles: none, lz4, jpeg; auto adapts to the connection and is lossless, auto-lossy may use jpeg.
    #[arg(long, default_value = "none")]
    pub codec: Packing,
    /// Seconds without work after which it ends; by default it runs on.
    #[arg(long)]
    pub idle: Option<u64>,
}

/// Computes until it is stopped or idle for too long.
pub fn run(options: &WorkerOptions) -> Result<(), Failure> {
    let net = join(&options.through)?;
    let backend = CpuBackend::new()?;
    let kernel = backend.build(&plasma::source())?;
    let tile = net.tile(&options.scene, None)?.with_codec(options.codec);
    tile.describe(&backend.device().to_string());
    let idle = options.idle.map_or(Duration::MAX, Duration::from_secs);
    let (mut busy, mut said) = (Instant::now(), None);
    while busy.elapsed() < idle && !stop::is_asked() {
        metrics::beat();
        let Some(mut job) = tile.next(stop::LOOK)? else { continue };
        let args = plasma::arguments(job.region(), job.args());
        match job.launch(&backend, kernel.as_ref(), &args).and_then(|()| tile.publish(job)) {
            Ok(()) => busy = Instant::now(),
            Err(error @ pixelferry_net::Error::Zenoh { .. }) => return Err(error.into()),
            // For example, the job is not a plasma: its sender may be a stranger, and the next job another's.
            Err(error) => {
                let words = error.to_string();
                if said.as_ref() != Some(&words) {
                    complain(format_args!("a tile was given up: {words}"));
                }
                said = Some(words);
            }
        }
    }
    Ok(())
}
