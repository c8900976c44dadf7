//! Images from the network, until a window takes the changes.

use super::message::{Message, Update};
use crate::array::Array;
use crate::error::ReadError;
use crate::sheets::sheets;
use pixelferry_look::Number;
use pixelferry_media::memory::{SHOWN, TooLarge, within};
use std::mem;
use thiserror::Error;

/// Maximum number of arrays.
const MOST_ARRAYS: usize = 256;
const FLOAT: Number = Number { code: 2, bits: 32, foreign: false };

/// Why a well-formed message is refused.
#[derive(Debug, Error)]
pub enum MessageRefusal {
    #[error("unknown image {0:?}")]
    Image(String),
    #[error("image {0:?} has no channel {1:?}")]
    Channel(String, String),
    #[error("the region of {size:?} pixels at {at:?} is outside image {name:?}")]
    Part { name: String, at: [usize; 2], size: [usize; 2] },
    #[error("the name {0:?} is in use or occurs twice")]
    Name(String),
    #[error("the viewer already has as many arrays as it can hold ({MOST_ARRAYS})")]
    Full,
    #[error("no room for the image ({0:?} pixels, {1} channels): with all images of this viewer, {2}")]
    Room([usize; 2], usize, TooLarge),
    #[error("this viewer does not open files by name ({0:?}); send the pixels with create and update")]
    File(String),
}

/// The array for channels of an image that are shown together.
struct Sheet {
    name: String,
    channels: Vec<String>,
    numbers: Vec<f32>,
    is_new: bool,
}

struct Image {
    name: String,
    size: [usize; 2],
    sheets: Vec<Sheet>,
}

/// Changes for a window to apply.
#[derive(Default)]
pub struct Changes {
    pub arrays: Vec<Result<Array, ReadError>>,
    pub gone: Vec<String>,
    /// Name of the array to show.
    pub focus: Option<String>,
}

/// Bytes that an array takes: its numbers here, the window's copy, and the picture.
fn needed(pixels: usize, channels: usize) -> u128 {
    pixels as u128 * (2 * size_of::<f32>() as u128 * channels as u128 + u128::from(SHOWN))
}

#[derive(Default)]
pub struct Board {
    images: Vec<Image>,
    gone: Vec<String>,
    focus: Option<String>,
    /// Byte limit for all numbers with copies and pictures, and reserved names.
    most: u64,
    taken: Vec<String>,
}

impl Board {
    pub fn new(taken: Vec<String>, most: u64) -> Self {
        Self { taken, most, ..Self::default() }
    }

    /// Applies a message. After an error nothing has changed.
    pub fn apply(&mut self, message: &Message<'_>) -> Result<(), MessageRefusal> {
        let (name, grabs_focus) = match message {
            Message::Create { name, grabs_focus, size, channels } => {
                self.create(name, *size, channels)?;
                (*name, *grabs_focus)
            }
            Message::Update(update) => {
                self.update(update)?;
                (update.name, update.grabs_focus)
            }
            Message::Close(name) => {
                let at = self.position(name)?;
                self.close(at);
                return Ok(());
            }
            Message::File(path) => return Err(MessageRefusal::File((*path).to_owned())),
            Message::Graphics => return Ok(()),
        };
        if grabs_focus {
            let at = self.position(name)?;
            self.focus = self.images[at].sheets.first().map(|sheet| sheet.name.clone());
        }
        Ok(())
    }

    /// Takes the changes since the last call.
    pub fn take(&mut self) -> Changes {
        let mut arrays = Vec::new();
        for image in &mut self.images {
            let [width, height] = image.size.map(|side| side as i64);
            for sheet in image.sheets.iter_mut().filter(|sheet| sheet.is_new) {
                sheet.is_new = false;
                let mut shape = vec![height, width];
                shape.extend((sheet.channels.len() > 1).then_some(sheet.channels.len() as i64));
                arrays.push(Array::new(&sheet.name, bytemuck::cast_slice(&sheet.numbers), shape, FLOAT));
            }
        }
        Changes { arrays, gone: mem::take(&mut self.gone), focus: self.focus.take() }
    }

    fn position(&self, name: &str) -> Result<usize, MessageRefusal> {
        let at = self.images.iter().position(|image| image.name == name);
        at.ok_or_else(|| MessageRefusal::Image(name.to_owned()))
    }

    fn close(&mut self, at: usize) {
        let image = self.images.remove(at);
        self.gone.extend(image.sheets.into_iter().map(|sheet| sheet.name));
    }

    fn create(&mut self, name: &str, size: [usize; 2], channels: &[&str]) -> Result<(), MessageRefusal> {
        let sheets = sheets(name, channels);
        let old = self.position(name).ok();
        let others = self.images.iter().enumerate().filter(|(at, _)| Some(*at) != old).map(|(_, image)| image);
        let others: Vec<&Sheet> = others.flat_map(|image| &image.sheets).collect();
        for (at, (sheet, _)) in sheets.iter().enumerate() {
            let is_taken = self.taken.contains(sheet) || others.iter().any(|other| other.name == *sheet);
            if is_taken || sheets[..at].iter().any(|(other, _)| other == sheet) {
                return Err(MessageRefusal::Name(sheet.clone()));
            }
        }
        let no_room = |why| MessageRefusal::Room(size, channels.len(), why);
        let there = others.iter().map(|sheet| needed(sheet.numbers.len() / sheet.channels.len(), sheet.channels.len()));
        let pixels = size[0].saturating_mul(size[1]);
        let new = sheets.iter().map(|(_, channels)| needed(pixels, channels.len()));
        let all = there.chain(new).sum::<u128>();
        if others.len() + sheets.len() > MOST_ARRAYS {
            return Err(MessageRefusal::Full);
        }
        within(all, self.most).map_err(no_room)?;
        let mut made = Vec::new();
        for (name, channels) in sheets {
            let (mut numbers, count) = (Vec::new(), pixels * channels.len());
            let full = |_| no_room(TooLarge::new(all, self.most));
            numbers.try_reserve_exact(count).map_err(full)?;
            numbers.resize(count, 0.0);
            made.push(Sheet { name, channels, numbers, is_new: true });
        }
        old.into_iter().for_each(|at| self.close(at));
        self.gone.retain(|name| made.iter().all(|sheet| sheet.name != *name));
        self.images.push(Image { name: name.to_owned(), size, sheets: made });
        Ok(())
    }

    fn update(&mut self, update: &Update<'_>) -> Result<(), MessageRefusal> {
        let Update { name, at: [left, top], size: [width, height], .. } = *update;
        let position = self.position(name)?;
        let Image { size, sheets, .. } = &mut self.images[position];
        if left + width > size[0] || top + height > size[1] {
            return Err(MessageRefusal::Part { name: name.to_owned(), at: update.at, size: update.size });
        }
        let place = |channel: &str| {
            let mut all = sheets.iter().enumerate();
            let found = all.find_map(|(at, sheet)| Some((at, sheet.channels.iter().position(|one| one == channel)?)));
            found.ok_or_else(|| MessageRefusal::Channel(name.to_owned(), channel.to_owned()))
        };
        let places: Vec<_> = update.channels.iter().map(|(channel, ..)| place(channel)).collect::<Result<_, _>>()?;
        for ((sheet, channel), (_, first, step)) in places.into_iter().zip(&update.channels) {
            let Sheet { channels, numbers, is_new, .. } = &mut sheets[sheet];
            *is_new = true;
            for row in 0..height {
                let start = ((top + row) * size[0] + left) * channels.len() + channel;
                let to = numbers[start..].iter_mut().step_by(channels.len()).take(width);
                let from = (row * width..).map(|pixel| update.number(first + pixel * step));
                to.zip(from).for_each(|(to, from)| *to = from);
            }
        }
        Ok(())
    }
}
