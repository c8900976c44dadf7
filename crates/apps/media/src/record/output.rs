//! Destinations of films, selected by name.

use super::error::RecordError;
use crate::video::Container;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Destination of a film.
///
/// ```
/// use pixelferry_media::record::Output;
///
/// assert_eq!(Output::named("-")?, Output::Standard);
/// assert!(matches!(Output::named("a/film.Y4M")?, Output::Y4m(_)));
/// assert!(matches!(Output::named("frames/%05d.png")?, Output::Pictures(_)));
/// assert!(Output::named("film.gif").is_err() && Output::named("film.png").is_err());
/// # Ok::<(), pixelferry_media::record::RecordError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// `-`: raw video (Y4M) on standard output, for another program.
    Standard,
    /// `.y4m`: raw video, 3 bytes a pixel.
    Y4m(PathBuf),
    /// `%05d.png` or `.jpg`: a picture for each frame, counted from 0, with the given number of digits; `%d` uses as
    /// many as needed.
    Pictures(PathBuf),
    /// `.mp4`, `.mkv`, `.ts`, `.h264`: H.264 with GStreamer.
    Video(PathBuf),
}

impl Output {
    /// Selects the output for a name.
    ///
    /// # Errors
    /// [`RecordError::Name`]; [`RecordError::Pattern`].
    pub fn named(name: impl AsRef<Path>) -> Result<Self, RecordError> {
        let path = name.as_ref();
        if path == Path::new("-") {
            return Ok(Self::Standard);
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "y4m" => Ok(Self::Y4m(path.into())),
            "png" | "jpg" | "jpeg" if numbered(path, 0).is_some() => Ok(Self::Pictures(path.into())),
            "png" | "jpg" | "jpeg" => Err(RecordError::Pattern(path.into())),
            _ if Container::of(path).is_some() => Ok(Self::Video(path.into())),
            _ => Err(RecordError::Name(path.into())),
        }
    }

    /// Name of the output in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Standard => "standard output".into(),
            Self::Y4m(path) | Self::Pictures(path) | Self::Video(path) => path.display().to_string(),
        }
    }

    pub(super) fn failed(&self) -> impl Fn(io::Error) -> RecordError + use<> {
        let to = self.name();
        move |source| RecordError::Write { to: to.clone(), source }
    }

    /// Opens the destination of raw video.
    pub(super) fn raw(&self) -> io::Result<Box<dyn Write + Send>> {
        match self {
            Self::Y4m(path) => Ok(Box::new(BufWriter::new(made(path)?))),
            _ => Ok(Box::new(io::stdout())),
        }
    }

    /// Removes the previous content of the film's file.
    pub(super) fn empty(&self) -> io::Result<()> {
        match self {
            Self::Y4m(path) | Self::Video(path) if path.is_file() => made(path)?.set_len(0),
            _ => Ok(()),
        }
    }
}

/// Opens or creates a film's file. Its previous content stays until the film begins.
pub(super) fn made(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

/// Returns the file of a frame, for a pattern with one `%d` or `%05d` in its file name; `None` where there is none or
/// several.
pub(super) fn numbered(pattern: &Path, frame: u64) -> Option<PathBuf> {
    let name = pattern.file_name()?.to_str()?;
    let (before, rest) = name.split_once('%')?;
    let (digits, after) = rest.split_once('d')?;
    let width: usize = match digits {
        "" => 0,
        digits => digits.strip_prefix('0')?.parse().ok().filter(|width| *width < 20)?,
    };
    (!after.contains('%')).then(|| pattern.with_file_name(format!("{before}{frame:0width$}{after}")))
}

#[test]
fn numbers_stand_where_the_pattern_has_them() {
    let of = |pattern: &str| numbered(Path::new(pattern), 42).map(|path| path.to_str().unwrap_or_default().to_owned());
    assert_eq!(of("a%b/%05d.png").as_deref(), Some("a%b/00042.png"));
    assert_eq!(of("x%dy.jpg").as_deref(), Some("x42y.jpg"));
    for wrong in ["a.png", "%5d.png", "%05x.png", "%d%d.png", "%0999d.png", "%0d.png", "%-1d.png"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}
