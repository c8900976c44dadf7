//! `pixelferry view`: shows arrays from files in a window, or saves one as a picture.

use clap::builder::StyledStr;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use pixelferry::command::check_picture_file;
use pixelferry_demo::{RecordArgs, say};
use pixelferry_look::{OPTIONS, Request};
#[cfg(all(feature = "stream", target_os = "linux"))]
use pixelferry_view::AttachedStream;
#[cfg(feature = "serve")]
use pixelferry_view::PageServer;
use pixelferry_view::{Array, ArrayView, FileContent, Listener, LiveArrays, explain, keys, save, show};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Default address to listen at; tev's default.
const LISTEN: &str = "127.0.0.1:14158";

/// Longest wait for the first frame of a stream with `--save`.
#[cfg(all(feature = "stream", target_os = "linux"))]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Command-line name of standard input.
const STANDARD_INPUT: &str = "-";

#[derive(clap::Args)]
pub struct ViewOptions {
    /// Files to show: .npy, FILE.npz:NAME, pictures (.png, .jpg, .webp, .tif, .bmp, .exr if built in) or videos
    /// (.y4m, others via GStreamer). `-` reads standard input (not for .npz or GStreamer's formats).
    #[arg(value_name = "FILE", required_unless_present_any = ["listen", "attach"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    asked: RequestArgs,
    /// Show only this layer or channel of a file, such as `diffuse` or `Z` of an OpenEXR picture.
    #[arg(long, value_name = "NAME")]
    layer: Option<String>,
    /// Save one picture instead of opening a window; of a video, its first frame. The extension selects the format
    /// (.png, .jpg).
    #[arg(long, value_name = "PICTURE", conflicts_with = "record")]
    save: Option<PathBuf>,
    /// Print how each array is interpreted and shown, then exit; opens no window.
    #[arg(long, conflicts_with = "record")]
    explain: bool,
    /// Number of recent frames of a stream or video to keep for stepping back, including the shown one; at most 1 GiB
    /// in all.
    #[arg(long, value_name = "NUMBER", default_value_t = ArrayView::MOST_FRAMES, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    #[arg(conflicts_with_all = ["save", "explain"])]
    keep: usize,
    /// Show images that programs send with tev's protocol. Without an address, listen on 127.0.0.1:14158, which only
    /// this machine can reach.
    ///
    /// Limits: 8 programs (a ninth replaces the one that has been silent longest), 512 MiB per message, 64 channels per
    /// image, 256 arrays, and 1 GiB of memory (width x height x (channels x 8 + 20) bytes per image) unless
    /// PIXELFERRY_MEMORY_MIB sets another limit. Programs cannot make it open files.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = LISTEN)]
    #[arg(conflicts_with_all = ["save", "explain", "layout"])]
    listen: Option<String>,
    /// Show frames of another process's stream live (`pixelferry streams` lists streams). Waits for the stream; with
    /// --save at most 10 s.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    #[arg(long, value_name = "NAME", conflicts_with = "layout")]
    attach: Vec<String>,
    #[command(flatten)]
    record: RecordArgs,
    /// Open no window: serve the view as a page for browsers and print its address. Without an address, only this
    /// machine can connect.
    ///
    /// All browsers share one view, and everyone who has the address can watch and control it. The connection is plain
    /// HTTP: to reach another machine, tunnel over SSH instead of listening on its network.
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:0")]
    #[arg(conflicts_with_all = ["save", "explain", "record"])]
    serve: Option<std::net::SocketAddr>,
}

/// Options of every command that shows arrays, generated from `Request`'s table.
struct RequestArgs(Request);

impl Args for RequestArgs {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(|option| {
            let help = StyledStr::from(format!("{}{}", option.help[..1].to_uppercase(), &option.help[1..]));
            // The start of a range may be negative.
            Arg::new(option.name).long(option.name).value_name(option.value).help(help).allow_hyphen_values(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RequestArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut request = Request::default();
        let wrong = |error: &dyn Error| clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{error}\n"));
        for option in &OPTIONS {
            if let Some(text) = matches.get_one::<String>(option.name) {
                option.set(&mut request, text).map_err(|error| wrong(&error))?;
            }
        }
        request.look.check().map_err(|error| wrong(&error))?;
        Ok(Self(request))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ViewOptions {
    /// Returns the module whose warnings are logged by default, because no other output shows them.
    pub const fn logged(&self) -> &'static str {
        if self.listen.is_some() { "error,pixelferry_view=warn" } else { "error" }
    }
}

/// Formats the keys for help.
pub fn help() -> String {
    format!("Keys of the window:\n{}", keys())
}

pub fn run(options: &ViewOptions) -> Result<(), Box<dyn Error>> {
    let ViewOptions { files, asked: RequestArgs(request), save: picture, explain: explains, listen, .. } = options;
    // Check this before reading a large file.
    picture.as_ref().map_or(Ok(()), check_picture_file)?;
    let (mut arrays, mut live) = (Vec::new(), LiveArrays { keep: options.keep, ..LiveArrays::default() });
    let streams = attach(options, &mut live)?;
    if picture.is_some() && files.len() + streams != 1 {
        return Err("--save takes exactly one FILE or one stream".into());
    }
    #[cfg(all(feature = "stream", target_os = "linux"))]
    if *explains || picture.is_some() {
        for stream in &live.streams {
            let array = stream.first(PATIENCE)?;
            if *explains {
                say!("{}:\n{}", array.name(), explain(&array, request)?.trim_end())?;
            }
            picture.as_ref().map_or(Ok(()), |picture| save(&array, request, picture))?;
        }
    }
    for file in files {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        // For two files of one name, show their folders, too.
        let is_alone = files.iter().filter(|other| other.file_name() == file.file_name()).count() == 1;
        let mut opened = read(file, is_alone).map_err(|error| failed(&error))?;
        if let Some(layer) = &options.layer {
            only(layer, &mut opened.arrays).map_err(|error| failed(&error.as_str()))?;
        }
        for array in &opened.arrays {
            array.check_channels(request.layout).map_err(|error| failed(&error))?;
        }
        if *explains {
            for array in &opened.arrays {
                let text = explain(array, request).map_err(|error| failed(&error))?;
                let is_one = files.len() == 1 && opened.arrays.len() == 1;
                let name = if is_one { String::new() } else { format!("{}:\n", array.name()) };
                say!("{name}{}", text.trim_end())?;
            }
        }
        if let (Some(picture), Some(array)) = (picture, opened.arrays.first()) {
            save(array, request, picture).map_err(|error| failed(&error))?;
        }
        arrays.extend(opened.arrays);
        live.films.extend(opened.film);
    }
    if !explains && picture.is_none() {
        options.record.film.check_spares(files)?;
        live.recorder = options.record.begin(false)?;
        let taken = arrays.iter().map(|array| array.name().to_owned()).collect();
        let listener = listen.as_ref().map(|address| {
            let opened = Listener::open(address, taken, Listener::most_bytes());
            opened.map_err(|error| format!("--listen={address}: {error}; use HOST:PORT, such as 127.0.0.1:0"))
        });
        let listener = listener.transpose()?;
        if let Some(listener) = &listener {
            say!("listening on {}", listener.address())?;
        }
        live.listener = listener;
        shown(options, arrays, *request, live).map_err(|error| match files.as_slice() {
            [file] => format!("{}: {error}", file.display()),
            _ => error.to_string(),
        })?;
    }
    Ok(())
}

/// Attaches to the streams and returns their number.
#[cfg(all(feature = "stream", target_os = "linux"))]
fn attach(options: &ViewOptions, live: &mut LiveArrays) -> Result<usize, Box<dyn Error>> {
    live.streams = options.attach.iter().map(|name| AttachedStream::open(name)).collect::<Result<_, _>>()?;
    Ok(live.streams.len())
}

#[cfg(not(all(feature = "stream", target_os = "linux")))]
fn attach(_: &ViewOptions, _: &mut LiveArrays) -> Result<usize, Box<dyn Error>> {
    Ok(0)
}

#[cfg(feature = "serve")]
fn shown(options: &ViewOptions, arrays: Vec<Array>, request: Request, live: LiveArrays) -> Result<(), Box<dyn Error>> {
    let Some(address) = options.serve else { return in_window(options, arrays, request, live) };
    let serve = PageServer::open(address)?;
    let mut said = Ok(());
    serve.run(arrays, request, live, || {
        said = say!("open {}", serve.url());
        if said.is_err() {
            serve.stop();
        }
    })?;
    Ok(said?)
}

#[cfg(not(feature = "serve"))]
fn shown(options: &ViewOptions, arrays: Vec<Array>, request: Request, live: LiveArrays) -> Result<(), Box<dyn Error>> {
    in_window(options, arrays, request, live)
}

fn in_window(
    options: &ViewOptions,
    arrays: Vec<Array>,
    request: Request,
    live: LiveArrays,
) -> Result<(), Box<dyn Error>> {
    options.record.film.end(show(arrays, request, live)?)
}

/// Keeps only the array of `layer`. An array's name ends with the name of its layer.
fn only(layer: &str, arrays: &mut Vec<Array>) -> Result<(), String> {
    let of = |array: &Array| array.name().rsplit_once(": ").map_or("", |(_, layer)| layer).to_owned();
    let known: Vec<_> = arrays.iter().map(of).filter(|name| !name.is_empty()).collect();
    if !known.iter().any(|name| name == layer) {
        let known = if known.is_empty() {
            "the file has no layers".into()
        } else {
            format!("the file has {}", known.join(", "))
        };
        return Err(format!("unknown layer {layer:?}: {known}"));
    }
    arrays.retain(|array| of(array) == layer);
    Ok(())
}

fn read(file: &Path, is_alone: bool) -> Result<FileContent, pixelferry_view::ReadError> {
    if file.as_os_str() == STANDARD_INPUT {
        return FileContent::read_from(std::io::stdin(), "standard input", None);
    }
    let name = if is_alone { file.file_name().unwrap_or(file.as_os_str()) } else { file.as_os_str() };
    FileContent::open(file, &name.to_string_lossy())
}
