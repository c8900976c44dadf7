//! `pixelferry-pipewire STREAM [PICTURES A SECOND]`: shows a stream as a video source of PipeWire until it is killed.

use pixelferry_pipewire::{VideoSource, feed};
use std::io::{Write as _, stderr};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rate = words.get(1).map(|rate| rate.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0));
    let (Some(name), None | Some(Some(_)), 0..=2) = (words.first(), &rate, words.len()) else {
        eprintln!("pixelferry-pipewire STREAM [PICTURES A SECOND]");
        return ExitCode::from(2);
    };
    let shown = VideoSource::open(name).and_then(|source| {
        let mut source = match rate {
            Some(Some(rate)) => source.with_rate(rate),
            _ => source,
        };
        // Keep showing pictures even if the reader of this output is gone.
        let told = |error: &_| _ = writeln!(stderr(), "{error}; waiting for it");
        feed(name, &mut source, &AtomicBool::new(false), told)
    });
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
