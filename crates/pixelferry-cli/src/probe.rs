//! `pixelferry probe`.

use crate::table;
use pixelferry::{ImageAccess, ImageDesc, PixelFormat, SurfaceDesc, Unwritten};
#[cfg(feature = "bench")]
use pixelferry::{LinkBuilder, Scratch};
use pixelferry_demo::options::parse_size;
use pixelferry_demo::terminal::{Output, OutputError};
use std::error::Error;
use std::io::Write as _;

#[derive(clap::Args)]
pub struct ProbeOptions {
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Size of the picture that is tried, in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = parse_size)]
    size: (u32, u32),
    /// Pixel format that is tried.
    #[arg(long, value_name = "FORMAT", default_value = "RGBA8", value_parser = parse_format)]
    format: PixelFormat,
    /// Ask for a texture: paths that let the draw read linear memory are left out.
    #[arg(long)]
    texture: bool,
    /// Content of the pixels that a frame does not write: keep, clear or overwrite. Paths are timed by this rule.
    #[arg(long, value_name = "RULE", default_value_t)]
    unwritten: Unwritten,
    /// Choose backend and display together, as a program without wishes has it done: by a kernel that writes every pixel, on scratch
    /// memory of every pair.
    #[cfg(feature = "bench")]
    #[arg(long, conflicts_with = "buffer")]
    together: bool,
    /// Try a vertex or storage buffer of this many bytes, not a picture.
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["size", "format", "texture"])]
    buffer: Option<u64>,
}

fn parse_format(text: &str) -> Result<PixelFormat, String> {
    text.parse()
        .map_err(|_| format!("no such format; the formats are {}", PixelFormat::ALL.map(PixelFormat::name).join(", ")))
}

pub fn run(options: &ProbeOptions) -> Result<(), Box<dyn Error>> {
    let desc = match options.buffer {
        Some(bytes) => SurfaceDesc::buffer(bytes),
        None => {
            let (width, height) = options.size;
            let access = if options.texture { ImageAccess::Texture } else { ImageAccess::Any };
            SurfaceDesc::Image(ImageDesc::new(width, height, options.format).with_access(access))
        }
    };
    let desc = desc.with_unwritten(options.unwritten);
    #[cfg(feature = "bench")]
    if options.together {
        return print(&together(desc, options.format, options.json)?);
    }
    let report = pixelferry::probe(&desc)?;
    print(&if options.json { serde_json::to_string_pretty(&report)? + "\n" } else { table::report(&report) })
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    Ok(Output.write_all(text.as_bytes()).and_then(|()| Output.flush()).map_err(OutputError::from)?)
}

#[cfg(feature = "bench")]
fn together(desc: SurfaceDesc, format: PixelFormat, json: bool) -> Result<String, Box<dyn Error>> {
    let kernel = crate::bench::ramp(format).ok_or_else(|| format!("there is no kernel that writes {format}"))?;
    let opened = LinkBuilder::new(desc).launch(&kernel, [Scratch::U32(0)]).open()?;
    Ok(match json {
        true => serde_json::to_string_pretty(&opened.report)? + "\n",
        false => format!("{}{}", opened.report, opened.link.explain()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_or_refused_with_a_reason() {
        assert_eq!(parse_format("rgba16f"), Ok(PixelFormat::Rgba16F));
        assert!(parse_format("rgb8").unwrap_err().contains("RGBA8"));
    }
}
