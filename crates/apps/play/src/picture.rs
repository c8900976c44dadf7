//! Pictures for channels, from files, videos, streams and the keyboard.

use crate::driver::{Driver, Image, PIXEL};
use crate::error::PlayError;
use crate::gl::TextureShape;
use crate::pass::{Channel, STREAM, Source};
use crate::stream::{Stream, Texels};
use pixelferry::Extent;
use pixelferry_media::film::{Frame, Source as Video};
use pixelferry_view::decode_picture;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Pixel limit: four times the pixels of an 8K screen would fill a GPU's memory.
const MOST: u64 = 1 << 25;
/// Longest side: a size is packed in one word of a kernel's arguments.
const MOST_SIDE: u32 = 0xffff;

/// Maximum number of frames to decode for one picture.
const MOST_AT_ONCE: u64 = 64;

/// A picture in memory of a driver.
pub struct Picture {
    pub image: Image,
    pub channel: Channel,
    /// Number of the channel, for messages.
    number: usize,
    motion: Motion,
}

/// Where the next frame comes from; for a stream, with the frame in that memory.
enum Motion {
    None,
    Film(Reel),
    Stream(Arc<Stream>, Option<Arc<Texels>>),
}

/// Streams that programs read, by name. A stream that the previous program read continues with its last frame.
pub type Streams = HashMap<String, Weak<Stream>>;

/// A video, with one of its frames in that memory.
struct Reel {
    file: PathBuf,
    video: Video,
    /// Number of decoded frames, including earlier rounds.
    read: u64,
    /// Time of its first frame.
    begun: Option<f64>,
}

impl Picture {
    /// Reads a file or attaches to a stream. A stream without a frame is one transparent pixel.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for the file or the stream's name, and errors of the driver.
    pub fn open(
        channel: &Channel,
        number: usize,
        driver: &Driver,
        streams: &mut Streams,
    ) -> Result<Option<Self>, PlayError> {
        let content = content(channel, streams).map_err(|reason| failed(channel, number, &reason))?;
        let Some((size, pixels, motion)) = content else { return Ok(None) };
        let image = driver.image(size, matches!(motion, Motion::Stream(..)))?;
        let mut picture = Self { image, channel: channel.clone(), number, motion };
        picture.fill(driver, size, &pixels)?;
        picture.follow(driver)?;
        Ok(Some(picture))
    }

    pub fn fill(&mut self, driver: &Driver, size: Extent, pixels: &[u8]) -> Result<(), PlayError> {
        driver.fill(&mut self.image, size, pixels, self.channel.is_turned)?;
        self.image.make_copy(self.channel.sampling)
    }

    /// Advances to the frame for a time, or the newest of a stream.
    ///
    /// # Errors
    /// [`PlayError::Channel`] for a damaged video, and errors of the driver.
    pub fn go_to(&mut self, time: f32, driver: &Driver) -> Result<(), PlayError> {
        let Motion::Film(film) = &mut self.motion else { return self.follow(driver) };
        match film.go_to(time).map_err(|reason| failed(&self.channel, self.number, &reason))? {
            Some(frame) => self.fill(driver, frame.extent(), &frame.rgba()),
            None => Ok(()),
        }
    }

    /// Copies a stream's newest frame.
    fn follow(&mut self, driver: &Driver) -> Result<(), PlayError> {
        let Motion::Stream(stream, seen) = &mut self.motion else { return Ok(()) };
        let is_new = |frame: &Arc<Texels>| seen.as_ref().is_none_or(|seen| !Arc::ptr_eq(seen, frame));
        let Some(frame) = stream.look().0.filter(is_new) else { return Ok(()) };
        *seen = Some(Arc::clone(&frame));
        self.fill(driver, frame.size, bytemuck::cast_slice(&frame.pixels))
    }

    /// Waits up to `limit` for a stream's first frame.
    ///
    /// # Errors
    /// [`PlayError::Channel`] with the reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), PlayError> {
        let Motion::Stream(stream, _) = &self.motion else { return Ok(()) };
        stream.wait(limit).map_err(|reason| failed(&self.channel, self.number, &reason))
    }

    /// Returns name and message of a stream. The message is empty while frames arrive.
    pub fn stream(&self) -> Option<(String, String)> {
        match (&self.channel.source, &self.motion) {
            (Source::Stream(name), Motion::Stream(stream, _)) => Some((name.clone(), stream.look().1)),
            _ => None,
        }
    }
}

/// Size and pixels, and where the next ones come from.
type Content = (Extent, Vec<u8>, Motion);

/// Returns the first picture of a source; `None` for a buffer.
fn content(channel: &Channel, streams: &mut Streams) -> Result<Option<Content>, Box<dyn Error>> {
    Ok(Some(match &channel.source {
        Source::Buffer(_) => return Ok(None),
        Source::Keyboard => (Keyboard::SIZE, Keyboard::default().pixels(), Motion::None),
        Source::Picture(file) => {
            let picture = decode_picture(&std::fs::read(file)?, PIXEL as u64 + 4)?;
            let size = Extent::new(picture.width(), picture.height());
            fits(size)?;
            if channel.sampling.shape == TextureShape::Cube && size.width != 6 * size.height {
                return Err(format!("size {size} is not that of a cube: six square faces side by side").into());
            }
            (size, picture.into_rgba8().into_raw(), Motion::None)
        }
        Source::Film(file) => {
            let mut video = Video::video(file)?;
            let frame = video.next_frame()?.ok_or("it has no frame")?;
            fits(frame.extent())?;
            let film = Reel { file: file.clone(), video, read: 1, begun: None };
            (frame.extent(), frame.rgba(), Motion::Film(film))
        }
        Source::Stream(name) => {
            let known = streams.get(name).and_then(Weak::upgrade).map(Ok);
            let stream = known.unwrap_or_else(|| Stream::open(name, fits).map(Arc::new))?;
            streams.insert(name.clone(), Arc::downgrade(&stream));
            (Extent::new(1, 1), vec![0; PIXEL], Motion::Stream(stream, None))
        }
    }))
}

impl Reel {
    /// Returns the frame for a time, counted from the first request, if it differs from the previous one. After a jump,
    /// the video continues with its next frame, because reaching another one would mean decoding all in between.
    fn go_to(&mut self, time: f32) -> Result<Option<Frame>, Box<dyn Error>> {
        let (time, period) = (f64::from(time), self.video.period().as_secs_f64());
        let mut begun = self.begun.filter(|begun| *begun <= time).unwrap_or(time);
        if (time - begun) / period > (self.read + MOST_AT_ONCE) as f64 {
            begun = time - self.read as f64 * period;
        }
        self.begun = Some(begun);
        // Sums of steps may be slightly too small.
        let wanted = ((time - begun) / period + 1e-3) as u64;
        if wanted.saturating_add(1) < self.read {
            (self.video, self.read) = (Video::video(&self.file)?, 0);
        }
        let mut newest = None;
        while self.read <= wanted {
            newest = self.video.next_frame()?;
            // It begins again, unless it turned out to have no frames.
            if newest.is_none() {
                self.video = Video::video(&self.file)?;
                newest = Some(self.video.next_frame()?.ok_or("the video has no more frames")?);
            }
            self.read += 1;
        }
        // A video may change its size.
        newest.as_ref().map_or(Ok(()), |frame| fits(frame.extent()))?;
        Ok(newest)
    }
}

fn failed(channel: &Channel, number: usize, why: &dyn Display) -> PlayError {
    let file = match &channel.source {
        Source::Picture(file) | Source::Film(file) => file.clone(),
        Source::Stream(name) => format!("{STREAM}{name}").into(),
        Source::Buffer(_) | Source::Keyboard => PathBuf::new(),
    };
    PlayError::Channel { channel: number, file, reason: why.to_string() }
}

/// Checks whether a channel accepts this size.
fn fits(size: Extent) -> Result<(), String> {
    if u64::from(size.width) * u64::from(size.height) > MOST || size.width.max(size.height) > MOST_SIDE {
        return Err(format!("size {size} is too large: a channel has at most {MOST} pixels, and {MOST_SIDE} per side"));
    }
    Ok(())
}

/// Keys as Shadertoy's texture of them: one row each for the keys that are down, were pressed in this frame, and were
/// pressed an odd number of times. Columns are key codes of browsers.
#[derive(Debug, Clone)]
pub struct Keyboard([[u8; 256]; 3]);

/// Codes of keys that type no letter or digit.
const CODES: &str = "Backspace=8 Tab=9 Enter=13 Shift=16 Control=17 Alt=18 Escape=27 Space=32 PageUp=33 PageDown=34 \
                     End=35 Home=36 ArrowLeft=37 ArrowUp=38 ArrowRight=39 ArrowDown=40 Insert=45 Delete=46";

impl Default for Keyboard {
    fn default() -> Self {
        Self([[0; 256]; 3])
    }
}

impl Keyboard {
    pub(crate) const SIZE: Extent = Extent::new(256, 3);

    /// Presses or releases a key, by what it types or by name.
    pub fn press(&mut self, key: &str, is_down: bool) {
        let code = match key.as_bytes() {
            [letter] => Some(letter.to_ascii_uppercase()),
            [b'F', ..] => key[1..].parse().ok().map(|number: u8| number.saturating_add(111)),
            _ => CODES.split(' ').find_map(|code| code.strip_prefix(key)?.strip_prefix('=')?.parse().ok()),
        };
        let (Some(code), [down, pressed, toggled]) = (code.map(usize::from), &mut self.0) else { return };
        if is_down && down[code] == 0 {
            pressed[code] = 255;
            toggled[code] ^= 255;
        }
        down[code] = if is_down { 255 } else { 0 };
    }

    /// Forgets which keys were pressed in a frame.
    pub(crate) const fn end_frame(&mut self) {
        self.0[1] = [0; 256];
    }

    /// Returns RGBA pixels; red is 255 where a key is on.
    pub(crate) fn pixels(&self) -> Vec<u8> {
        self.0.as_flattened().iter().flat_map(|on| [*on, 0, 0, 255]).collect()
    }
}
