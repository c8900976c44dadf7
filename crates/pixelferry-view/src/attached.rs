//! A stream of another process that is shown live: a thread of its own takes the newest frame as numbers of the host.

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::view::ArrayView;
use crate::wake::Wake;
use pixelferry::driver::describe::color::{Curve, load};
use pixelferry::driver::describe::format::ChannelKind;
use pixelferry::stream::{Next, StreamFrame, Subscriber};
use pixelferry::{AlphaMode, BackendChoice, Encoding, ImageDesc, PixelFormat, SurfaceDesc, open_backend};
use pixelferry_look::{Number, Refusal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Longest sleep of the thread before it looks whether anybody is left.
const TURN: Duration = Duration::from_millis(100);

/// A stream that is shown live by [`ArrayView::attend`], each time the newest frame; ends when it is dropped. While nobody publishes it,
/// it waits for a publisher, also for another one after the first has ended.
///
/// Frames are copied: the publisher is not waited for, and nothing of it is read later. Numbers that a window shows as they are stay in
/// their type; those of light, and of formats that pack their channels, become floats, encoded as sRGB where they stand for light.
pub struct Attached {
    name: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    slot: Mutex<Slot>,
    changed: Condvar,
    wake: Wake,
}

#[derive(Default)]
struct Slot {
    frame: Option<Result<Numbers, ReadError>>,
    /// Words about the stream, where they are others than before.
    said: Option<String>,
    is_over: bool,
}

/// A frame as an array, which is made on the thread that shows it.
struct Numbers {
    bytes: Vec<u8>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    number: Number,
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Slot)) {
        change(&mut self.slot());
        self.changed.notify_all();
        self.wake.call();
    }

    /// Waits, at most so long, until the last frame was taken. False where nobody is left to take one.
    fn is_wanted(&self, limit: Option<Duration>, also: impl Fn(&Slot) -> bool) -> bool {
        let waits = |slot: &mut Slot| !slot.is_over && (slot.frame.is_some() || also(slot));
        let slot = match limit {
            None => self.changed.wait_while(self.slot(), waits).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let waited = self.changed.wait_timeout_while(self.slot(), limit, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        !slot.is_over
    }
}

impl Attached {
    /// Attaches to the stream of this name, whether there is a publisher or not.
    ///
    /// # Errors
    /// [`ReadError::Memory`] for a name that no stream can have, and [`ReadError::File`] where the system has no thread.
    pub fn open(name: &str) -> Result<Self, ReadError> {
        let backend = open_backend(BackendChoice::Cpu, &[])?;
        let subscribe = {
            let name = name.to_owned();
            move || Subscriber::open(&name, &backend)
        };
        let shared = Arc::new(Shared::default());
        match subscribe() {
            Err(error @ pixelferry::Error::InvalidInput { .. }) => return Err(error.into()),
            Err(error) => shared.slot().said = Some(words(&error)),
            // That it is there is all that is asked; a subscriber stays on its thread.
            Ok(_) => {}
        }
        let takes = Arc::clone(&shared);
        thread::Builder::new().name("attached".into()).spawn(move || take(subscribe, &takes))?;
        Ok(Self { name: name.to_owned(), shared })
    }

    /// Waits, at most so long, for a frame, and takes the newest.
    ///
    /// # Errors
    /// [`ReadError::Stream`] where there is none in that time, with the reason; [`ReadError::Refused`] for a frame that is no picture.
    pub fn first(&self, limit: Duration) -> Result<Array, ReadError> {
        let slot = self.shared.slot();
        let waited = self.shared.changed.wait_timeout_while(slot, limit, |slot| slot.frame.is_none());
        let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        let (frame, said) = (slot.frame.take(), slot.said.clone());
        drop(slot);
        self.shared.changed.notify_all();
        let none = || ReadError::Stream { name: self.name.clone(), reason: said.unwrap_or_default() };
        frame.ok_or_else(none)??.array(&self.name)
    }

    /// Picture while there is no frame.
    ///
    /// # Errors
    /// [`ReadError::Memory`].
    pub(crate) fn waiting(&self) -> Result<Array, ReadError> {
        Array::dark(&self.name)
    }

    /// Calls this, from a thread of its own, after each change.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
        // What came before is told of, too.
        self.shared.change(|_| {});
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.shared.slot().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Reason why there is no frame, in the few words that a window has room for.
fn words(error: &pixelferry::Error) -> String {
    match error {
        pixelferry::Error::Unavailable { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// Takes frames of one publisher after the other, until nobody is left to see them.
fn take(subscribe: impl Fn() -> pixelferry::Result<Subscriber>, to: &Shared) {
    let mut last = None;
    let mut say = |said: String| {
        if last.as_ref() != Some(&said) {
            last = Some(said.clone());
            to.change(|slot| slot.said = Some(said));
        }
    };
    // The words that a publisher has ended stay until there is a frame of another.
    let mut has_ended = false;
    loop {
        match subscribe() {
            Ok(mut subscriber) => {
                if !has_ended {
                    say("no frame yet".into());
                }
                while to.is_wanted(None, |_| false) {
                    match subscriber.next(TURN) {
                        Ok(Next::Nothing) => {}
                        Ok(Next::Frame(mut frame)) => {
                            let numbers = numbers(&mut frame);
                            to.change(|slot| slot.frame = Some(numbers));
                            say(String::new());
                        }
                        ended => {
                            say(ended.map_or_else(|error| words(&error), |_| "its publisher has ended".into()));
                            has_ended = true;
                            break;
                        }
                    }
                }
            }
            Err(error) if !has_ended => say(words(&error)),
            Err(_) => {}
        }
        // Sleeps, also where nobody takes what is there.
        if !to.is_wanted(Some(TURN), |_| true) {
            return;
        }
    }
}

/// A copy of the frame's numbers: as they are, where a window shows them so, else as sRGB or as what the format stands for.
fn numbers(frame: &mut StreamFrame<'_>) -> Result<Numbers, ReadError> {
    let SurfaceDesc::Image(image) = *frame.desc() else {
        return Err(Refusal::Shape(format!("the stream is a {}, and no picture", frame.desc())).into());
    };
    let bytes = frame.read()?;
    let ImageDesc { format, extent, .. } = image;
    let bits = 8 * format.channel_kind().bytes();
    let (bytes, number) = match (image.encoding, format.channel_kind()) {
        (Encoding::Unmanaged | Encoding::Srgb, ChannelKind::Unorm8 | ChannelKind::Unorm16) => {
            (as_they_are(format, bytes), Number { code: 1, bits, foreign: false })
        }
        (Encoding::Unmanaged | Encoding::Srgb, ChannelKind::Float16 | ChannelKind::Float32) => {
            (as_they_are(format, bytes), Number { code: 2, bits, foreign: false })
        }
        _ => (as_floats(&image, &bytes), Number { code: 2, bits: 32, foreign: false }),
    };
    let (channel, stored) = ((number.bits / 8) as i64, format.channels() as i64);
    let [height, width] = [extent.height, extent.width].map(i64::from);
    let (mut shape, mut strides) = (vec![height, width], vec![width * stored * channel, stored * channel]);
    if stored > 1 {
        // What an opaque picture has for alpha means nothing.
        shape.push(if image.alpha == AlphaMode::Opaque { stored.min(3) } else { stored });
        strides.push(channel);
    }
    Ok(Numbers { bytes, shape, strides, number })
}

/// Red first.
fn as_they_are(format: PixelFormat, mut bytes: Vec<u8>) -> Vec<u8> {
    if format == PixelFormat::Bgra8 {
        bytes.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    bytes
}

/// Channels as floats, colours with the sRGB curve in them; alpha has none.
fn as_floats(image: &ImageDesc, bytes: &[u8]) -> Vec<u8> {
    let (format, channels) = (image.format, image.format.channels());
    let number = |(channel, number): (usize, f32)| match image.encoding {
        Encoding::Linear | Encoding::Gamma22 if channel < 3 => {
            Curve::Srgb.encode(Curve::of(image.encoding).decode(number))
        }
        _ => number,
    };
    let pixels = bytes.chunks_exact(format.bytes_per_pixel());
    let numbers = pixels.flat_map(|pixel| load(format, pixel).into_iter().take(channels).enumerate().map(number));
    numbers.flat_map(f32::to_ne_bytes).collect()
}

impl Numbers {
    fn array(self, name: &str) -> Result<Array, ReadError> {
        Array::with_strides(name, &self.bytes, 0, self.shape, self.strides, self.number)
    }
}

impl ArrayView {
    /// Takes over what came of a stream, under its name, and what is to be said of it. True where something changed, which is to be
    /// drawn then.
    pub fn attend(&mut self, stream: &Attached) -> bool {
        let mut slot = stream.shared.slot();
        let (frame, said) = (slot.frame.take(), slot.said.take());
        drop(slot);
        stream.shared.changed.notify_all();
        if frame.is_none() && said.is_none() {
            return false;
        }
        let array = frame.map(|frame| frame.and_then(|numbers| numbers.array(&stream.name)));
        let refused = array.and_then(|array| array.map_err(ViewError::from).and_then(|array| self.put(array)).err());
        if let Some(said) = refused.map(|error| error.to_string()).or(said) {
            let name = &stream.name;
            self.say(name, if said.is_empty() { said } else { format!("stream {name:?}: {said}") });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::driver::describe::color::store;

    /// A grey of half the light is 188 of 255 in numbers of sRGB, in whatever format and encoding it comes.
    #[test]
    fn colours_are_shown_by_their_encoding() {
        let rows = [
            (PixelFormat::Rgba16F, Encoding::Linear, 0.5),
            (PixelFormat::R32F, Encoding::Linear, 0.5),
            (PixelFormat::Rgba8, Encoding::Gamma22, 0.5_f32.powf(1.0 / 2.2)),
            (PixelFormat::Rgb10A2, Encoding::Srgb, 188.0 / 255.0),
        ];
        for (format, encoding, number) in rows {
            let mut pixel = [0; 16];
            store(format, [number, number, number, 0.25], &mut pixel);
            let image = ImageDesc::new(1, 1, format).with_encoding(encoding);
            let floats = as_floats(&image, &pixel[..format.bytes_per_pixel()]);
            let floats: Vec<f32> = floats.chunks(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
            assert_eq!(floats.len(), format.channels());
            assert!((floats[0] * 255.0 - 188.0).abs() < 1.0, "{format} {encoding:?}: {floats:?}");
            assert!(floats.get(3).is_none_or(|alpha| (alpha - 0.25).abs() < 0.1), "{floats:?}");
        }
        assert_eq!(as_they_are(PixelFormat::Bgra8, vec![1, 2, 3, 4]), [3, 2, 1, 4]);
    }
}
