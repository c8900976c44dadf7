//! `pixelferry-net view`: the rate and age of a scene's pictures.

use crate::failure::Failure;
use crate::join::{Through, join};
use crate::output::{complain, say};
use crate::{SCENE, metrics, stop};
use clap::Args;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct ViewOptions {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    #[arg(long, default_value = SCENE)]
    scene: String,
    /// Number of pictures to watch; by default unlimited.
    #[arg(long)]
    frames: Option<u64>,
}

/// After this time without pictures, the command says so.
const SILENCE: Duration = Duration::from_secs(2);

pub fn run(options: &ViewOptions) -> Result<(), Failure> {
    let viewer = join(&options.through)?.view(&options.scene)?;
    let (mut begun, mut seen, mut last) = (Instant::now(), 0, 0);
    let (mut heard, mut is_told) = (Instant::now(), false);
    while options.frames.is_none_or(|frames| seen < frames) && !stop::is_asked() {
        metrics::beat();
        let Some(picture) = viewer.next(stop::LOOK) else {
            if !is_told && heard.elapsed() > SILENCE {
                is_told = true;
                let why = if viewer.is_served()? {
                    "arrived, although the scene is being served"
                } else {
                    "arrived: the scene is not being served"
                };
                complain(format_args!("no picture of {} {why}; waiting", options.scene));
            }
            continue;
        };
        (heard, seen) = (Instant::now(), seen + 1);
        if std::mem::take(&mut is_told) {
            complain(format_args!("receiving pictures of {}", options.scene));
        }
        metrics::set("pixelferry_age_seconds", picture.age().as_secs_f64());
        let is_done = options.frames == Some(seen);
        if begun.elapsed() >= Duration::from_secs(1) || is_done {
            let (header, age) = (picture.header(), picture.age());
            let rate = (seen - last) as f32 / begun.elapsed().as_secs_f32();
            let extent = header.image.extent;
            let age = age.as_millis();
            say(format_args!("frame {}: {extent} {}, {rate:.1} pictures/s, {age} ms old", header.frame, header.codec))?;
            (begun, last) = (Instant::now(), seen);
        }
    }
    Ok(())
}
