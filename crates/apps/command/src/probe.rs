//! `pixelferry probe`.

use crate::exit::Exit;
use crate::json::JsonOption;
#[cfg(feature = "bench")]
use crate::json::MarkedReport;
use crate::table;
#[cfg(feature = "bench")]
use pixelferry::{Arg, LinkBuilder, Policy, Scratch, Trials};
use pixelferry::{ImageAccess, ImageDesc, PixelFormat, SurfaceDesc, Unwritten, report::SharingLevel};
use pixelferry_demo::complain;
use pixelferry_demo::scene_options::parse_size;
use pixelferry_demo::terminal::Output;
use pixelferry_demo::values::one_of;
use std::error::Error;
use std::io::IsTerminal as _;
#[cfg(feature = "bench")]
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct ProbeOptions {
    /// Report every device, every pair of devices and every path.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: JsonOption,
    /// Size of the test picture, in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = parse_size)]
    size: (u32, u32),
    /// Pixel format to test.
    #[arg(long, value_name = "FORMAT", default_value = "RGBA8",
        ignore_case = true, value_parser = one_of::<PixelFormat>(PixelFormat::ALL.map(PixelFormat::name)))]
    format: PixelFormat,
    /// Test textures only: leave out paths where the draw reads linear memory.
    #[arg(long)]
    texture: bool,
    /// Content of pixels that a frame leaves unwritten. Paths are timed with this setting.
    #[arg(long, value_name = "RULE", default_value_t,
        value_parser = one_of::<Unwritten>(Unwritten::ALL.map(Unwritten::name)))]
    unwritten: Unwritten,
    /// Choose backend and display together, as `LinkBuilder` does by default: on every pair, time a kernel that
    /// writes every pixel of scratch memory.
    #[cfg(feature = "bench")]
    #[arg(long, conflicts_with_all = ["buffer", "all"])]
    together: bool,
    /// Test a vertex or storage buffer of this many bytes instead of a picture.
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["size", "format", "texture"])]
    buffer: Option<u64>,
}

pub fn run(options: &ProbeOptions) -> Result<Exit, Box<dyn Error>> {
    let desc = match options.buffer {
        Some(bytes) => SurfaceDesc::buffer(bytes),
        None => {
            let (width, height) = options.size;
            let access = if options.texture { ImageAccess::Texture } else { ImageAccess::Any };
            SurfaceDesc::Image(ImageDesc::new(width, height, options.format).with_access(access))
        }
    };
    let desc = desc.with_unwritten(options.unwritten);
    options.json.check()?;
    #[cfg(feature = "bench")]
    if options.together {
        return together(options, desc);
    }
    waits();
    let report = pixelferry::probe(&desc)?;
    options.json.write(&mut Output, &report, || if options.all { table::report(&report) } else { report.answer() })?;
    Ok(match report.sharing {
        SharingLevel::Shared => Exit::Done,
        SharingLevel::Nothing => Exit::NoPath,
        _ => Exit::HostOnly,
    })
}

/// On a terminal, says that probing takes a while.
pub fn waits() {
    if std::io::stderr().is_terminal() {
        complain!("trying every path between every pair of devices; this takes 10 to 60 s (-vv shows each step) ...");
    }
}

/// Time limit for comparing backends.
#[cfg(feature = "bench")]
const TOGETHER: Duration = Duration::from_secs(20);

#[cfg(feature = "bench")]
fn together(options: &ProbeOptions, desc: SurfaceDesc) -> Result<Exit, Box<dyn Error>> {
    let kernel = crate::bench::ramp(options.format);
    let policy = Policy::default().with_trials(Trials::Spread { share: 1.0, within: TOGETHER });
    let builder = LinkBuilder::new(desc).launch(&kernel, [Scratch::U32(0)]).policy(policy);
    let mut link = builder.open_auto(|_, kernels| Ok(kernels))?;
    let begun = Instant::now();
    // Allow one round more than is compared: the losing backend may have made the last frame.
    let mut is_last = false;
    while !std::mem::replace(&mut is_last, link.is_decided() || begun.elapsed() > TOGETHER) {
        link.frame(|next, kernels| kernels.iter().try_for_each(|kernel| next.launch(kernel.as_ref(), &[Arg::U32(0)])))?;
    }
    let report = MarkedReport { schema: "pixelferry-together", schema_version: 1, report: link.report() };
    options.json.write(&mut Output, &report, || format!("{}{}", link.report(), link.link().explain()))?;
    Ok(Exit::Done)
}
