//! Time of a frame of each text on OpenGL: median, 10th and 90th percentile.
//!
//! `cargo run --release -p pixelferry-play --example frames [-- WIDTHxHEIGHT FILE...]`. Without files, it takes the
//! Shadertoy texts of `examples/play`. An empty text comes first: its time is the price of a triangle on this GPU. A run
//! is as many frames as take 150 ms, and then the picture is read back. As that can take as long as many frames, the time
//! of a short run with the same end is subtracted.

mod trial;

use pixelferry::{BackendChoice, DisplayChoice, Extent};
use pixelferry_play::{Player, PlayerOptions, TextVoucher, Wishes};
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, io};

const EMPTY: &str = "void mainImage(out vec4 c, in vec2 p) { c = vec4(0.25, 0.5, 0.75, 1.0); }";
const RUNS: usize = 9;
const RUN_US: f64 = 150_000.0;
/// Frames of the short run.
const FEW: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: whoever names a text on the command line vouches for it.
    let vouched = unsafe { TextVoucher::new() };
    let arguments: Vec<_> = env::args().skip(1).collect();
    if trial::runs(&arguments, vouched)? {
        return Ok(());
    }
    let size = arguments.first().map_or("1920x1080", String::as_str);
    let (width, height) = size.split_once('x').ok_or("the size is WIDTHxHEIGHT")?;
    let size = Extent::new(width.parse()?, height.parse()?);
    let empty = env::temp_dir().join(format!("pixelferry-empty-{}.glsl", std::process::id()));
    fs::write(&empty, EMPTY)?;
    let mut files = vec![empty.clone()];
    files.extend(arguments.iter().skip(1).map(PathBuf::from));
    if files.len() == 1 {
        files.extend(worked()?);
    }
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match measure(&file, size, vouched) {
            Ok((device, [low, median, high])) => {
                writeln!(io::stdout(), "{median:9.1} us ({low:.1} to {high:.1})  {name}, {size}, {device}")?;
            }
            Err(error) => writeln!(io::stdout(), "{name}: {error}")?,
        }
    }
    Ok(fs::remove_file(empty)?)
}

/// The Shadertoy texts of `examples/play`, without those of their buffers.
fn worked() -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/play");
    let mut files = Vec::new();
    for folder in [folder.clone(), folder.join("others")] {
        let all = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        let is_text = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.strip_suffix(".glsl").is_some_and(|stem| !stem.contains('.'))
        };
        files.extend(all.filter(is_text));
    }
    files.sort();
    Ok(files)
}

/// Returns the device, and percentiles of the microseconds of a frame.
fn measure(file: &Path, size: Extent, vouched: TextVoucher) -> Result<(String, [f64; 3]), Box<dyn Error>> {
    let command = trial::command(BackendChoice::Gl)?;
    let wishes = Wishes { backend: BackendChoice::Gl, ..Wishes::default() };
    let (display, limit, step) = (DisplayChoice::Gl, Duration::from_secs(60), Some(Duration::from_micros(16_667)));
    let options = PlayerOptions { wishes, display, size, limit, step, ..PlayerOptions::new(file) };
    let mut player = Player::open(options, None, command, vouched)?;
    player.settle()?;
    let mut run = |frames: u32| -> Result<f64, Box<dyn Error>> {
        let begun = Instant::now();
        (0..frames).for_each(|_| player.frame(true));
        player.picture()?;
        let took = begun.elapsed().as_secs_f64() * 1e6;
        if player.faults().is_empty() { Ok(took) } else { Err(pixelferry_play::lines(player.faults()).into()) }
    };
    // The first frames compile, and compare fragment with compute shaders.
    run(4 * FEW)?;
    let each = ((run(FEW + 100)? - run(FEW)?) / 100.0).max(5.0);
    let many = ((RUN_US / each) as u32).clamp(10, 20_000);
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let few = run(FEW)?;
        times.push((run(FEW + many)? - few) / f64::from(many));
    }
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(RUNS - 1) * percent / 100];
    Ok((player.device().to_string(), [at(10), at(50), at(90)]))
}
