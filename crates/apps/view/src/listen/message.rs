//! Parses messages of tev's protocol; does no input or output.
//!
//! A message consists of its length in bytes (including these four), a byte for its type, and data that depends on the
//! type. All numbers are little-endian; texts end with a zero byte. Sources: tev's issues #115 and #116, and its client
//! `tevclient`.

use thiserror::Error;

/// Size limit of a message: enough for 8K with four channels.
pub const MOST_BYTES: usize = 512 << 20;
/// Limits: bytes of a name, and channels of an image.
const MOST_NAME: usize = 1024;
pub const MOST_CHANNELS: usize = 64;
const NUMBER: usize = size_of::<f32>();

/// Why bytes are not a valid message.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MessageError {
    #[error("invalid size {0}; a message has 5 to {MOST_BYTES} bytes")]
    Length(u32),
    #[error("unknown message type {0}")]
    Type(u8),
    #[error("the message ends within its {0}")]
    Ends(&'static str),
    #[error("{0} extra bytes follow the message")]
    Follows(usize),
    #[error("the message's {0} is not UTF-8, or is longer than {MOST_NAME} bytes")]
    Text(&'static str),
    #[error("invalid {0}: {1}")]
    Number(&'static str, i64),
    #[error("the message contains only {1} numbers, but channel {0} needs more")]
    Outside(usize, usize),
}

#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Creates an image of zeros; replaces one of that name.
    Create {
        name: &'a str,
        grabs_focus: bool,
        size: [usize; 2],
        channels: Vec<&'a str>,
    },
    Update(Update<'a>),
    Close(&'a str),
    /// Opens or reloads a file.
    File(&'a str),
    /// Draws lines over an image.
    Graphics,
}

/// Numbers for some channels of a region of an image.
#[derive(Debug, PartialEq, Eq)]
pub struct Update<'a> {
    pub name: &'a str,
    pub grabs_focus: bool,
    /// Column and row of the top left pixel.
    pub at: [usize; 2],
    pub size: [usize; 2],
    /// Name, index of the first number, and stride, which were checked.
    pub channels: Vec<(&'a str, usize, usize)>,
    numbers: &'a [u8],
}

impl Update<'_> {
    /// Returns the number at an index.
    pub fn number(&self, place: usize) -> f32 {
        let bytes = self.numbers.get(place * NUMBER..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
    }
}

/// Returns how many bytes of a message follow its first four.
pub fn length(first: [u8; 4]) -> Result<usize, MessageError> {
    let length = u32::from_le_bytes(first);
    let fits = |length: &usize| (NUMBER + 1..=MOST_BYTES).contains(length);
    usize::try_from(length).ok().filter(fits).map(|length| length - NUMBER).ok_or(MessageError::Length(length))
}

impl<'a> Message<'a> {
    /// Parses the bytes after the length.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, MessageError> {
        let mut rest = Rest(bytes);
        let kind = rest.byte("type")?;
        let message = match kind {
            0 | 1 | 7 => {
                rest.flag()?;
                let file = Self::File(rest.text("path")?);
                if kind == 7 {
                    rest.text("choice of channels")?;
                }
                file
            }
            2 => Self::Close(rest.text("name")?),
            3 | 5 | 6 => return rest.update(kind).map(Self::Update),
            4 => Self::Create {
                grabs_focus: rest.flag()?,
                name: rest.text("name")?,
                size: rest.size()?,
                channels: rest.channels()?,
            },
            8 => return Ok(Self::Graphics),
            other => return Err(MessageError::Type(other)),
        };
        if rest.0.is_empty() { Ok(message) } else { Err(MessageError::Follows(rest.0.len())) }
    }
}

/// The unread bytes.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], MessageError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(MessageError::Ends(what))?;
        self.0 = rest;
        Ok(*first)
    }

    fn byte(&mut self, what: &'static str) -> Result<u8, MessageError> {
        self.take::<1>(what).map(|[byte]| byte)
    }

    fn flag(&mut self) -> Result<bool, MessageError> {
        match self.byte("flag")? {
            flag @ 0..=1 => Ok(flag == 1),
            other => Err(MessageError::Number("flag", other.into())),
        }
    }

    fn text(&mut self, what: &'static str) -> Result<&'a str, MessageError> {
        let end = self.0.iter().take(MOST_NAME + 1).position(|byte| *byte == 0);
        let end =
            end.ok_or(if self.0.len() > MOST_NAME { MessageError::Text(what) } else { MessageError::Ends(what) })?;
        let (text, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        std::str::from_utf8(text).map_err(|_| MessageError::Text(what))
    }

    fn at_least(&mut self, least: i32, what: &'static str) -> Result<usize, MessageError> {
        let number = i32::from_le_bytes(self.take(what)?);
        usize::try_from(number).ok().filter(|_| number >= least).ok_or(MessageError::Number(what, number.into()))
    }

    fn size(&mut self) -> Result<[usize; 2], MessageError> {
        Ok([self.at_least(1, "width")?, self.at_least(1, "height")?])
    }

    fn channels(&mut self) -> Result<Vec<&'a str>, MessageError> {
        let count = self.at_least(1, "number of channels")?;
        if count > MOST_CHANNELS {
            return Err(MessageError::Number("number of channels", count as i64));
        }
        (0..count).map(|_| self.text("channel's name")).collect()
    }

    fn places(&mut self, count: usize, what: &'static str) -> Result<Vec<usize>, MessageError> {
        let mut place = || {
            let place = i64::from_le_bytes(self.take(what)?);
            usize::try_from(place).map_err(|_| MessageError::Number(what, place))
        };
        (0..count).map(|_| place()).collect()
    }

    /// Parses an update of one channel (type 3), of consecutive channels (5), or of channels with an offset and stride
    /// each (6).
    fn update(mut self, kind: u8) -> Result<Update<'a>, MessageError> {
        let (grabs_focus, name) = (self.flag()?, self.text("name")?);
        let names = if kind == 3 { vec![self.text("channel's name")?] } else { self.channels()? };
        let at = [self.at_least(0, "column")?, self.at_least(0, "row")?];
        let size = self.size()?;
        // The product of two numbers of 31 bits fits.
        let pixels = size[0] as u64 * size[1] as u64;
        let too_large = || MessageError::Number("number of pixels", pixels as i64);
        let count = usize::try_from(pixels).ok().filter(|count| *count <= MOST_BYTES).ok_or_else(too_large)?;
        let (firsts, steps) = match kind {
            6 => (self.places(names.len(), "offset")?, self.places(names.len(), "stride")?),
            _ => ((0..names.len()).map(|channel| channel.saturating_mul(count)).collect(), vec![1; names.len()]),
        };
        let there = self.0.len() / NUMBER;
        if !self.0.len().is_multiple_of(NUMBER) {
            return Err(MessageError::Ends("numbers"));
        }
        let channels: Vec<_> = names.into_iter().zip(firsts).zip(steps).map(|((a, b), c)| (a, b, c)).collect();
        for (channel, (_, first, step)) in channels.iter().enumerate() {
            let last = step.checked_mul(count - 1).and_then(|last| last.checked_add(*first));
            last.filter(|last| *last < there).ok_or(MessageError::Outside(channel, there))?;
        }
        Ok(Update { name, grabs_focus, at, size, channels, numbers: self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An update of a channel, 2 x 1 pixels at (1, 2).
    const UPDATE: &[u8] = b"\x06\x01a\0\x01\0\0\0R\0\x01\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\0\0\
        \x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\0\0\0\0\x40";

    fn with(at: usize, bytes: &[u8]) -> MessageError {
        let mut damaged = UPDATE.to_vec();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        Message::parse(&damaged).unwrap_err()
    }

    #[test]
    fn a_message_that_listeners_take_is_whole_or_an_error_says_why() {
        let Ok(Message::Update(update)) = Message::parse(UPDATE) else { panic!("refused") };
        assert_eq!((update.at, update.size, &update.channels[..]), ([1, 2], [2, 1], &[("R", 1, 2)][..]));
        assert_eq!([0, 1, 3, 4].map(|place| update.number(place)), [0.0, 1.0, 2.0, 0.0]);
        for end in 0..UPDATE.len() {
            assert!(Message::parse(&UPDATE[..end]).is_err(), "{end}");
        }
        assert_eq!(with(0, &[9]), MessageError::Type(9));
        assert_eq!(with(1, &[2]), MessageError::Number("flag", 2));
        assert_eq!(with(2, &[0xff]), MessageError::Text("name"));
        assert_eq!(with(4, &65_i32.to_le_bytes()), MessageError::Number("number of channels", 65));
        assert_eq!(with(4, &[0]), MessageError::Number("number of channels", 0));
        assert_eq!(with(10, &[0xff; 4]), MessageError::Number("column", -1));
        assert_eq!(with(18, &[0]), MessageError::Number("width", 0));
        assert_eq!(with(18, &[3]), MessageError::Outside(0, 4));
        let most = [0xff, 0xff, 0xff, 0x7f];
        assert_eq!(with(18, &[most, most].concat()), MessageError::Number("number of pixels", 0x3fff_ffff_0000_0001));
        assert_eq!(with(26, &[0xff; 8]), MessageError::Number("offset", -1));
        assert_eq!(with(34, &[0xff; 8]), MessageError::Number("stride", -1));
        assert_eq!(with(34, &i64::MAX.to_le_bytes()), MessageError::Outside(0, 4));
        assert_eq!(Message::parse(b"\x02a\0b"), Err(MessageError::Follows(1)));
        let long = [&[2][..], &[b'a'; 1025], &[0]].concat();
        assert_eq!(Message::parse(&long), Err(MessageError::Text("name")));
        assert_eq!(length([4, 0, 0, 0]), Err(MessageError::Length(4)));
        assert_eq!(length([1, 0, 0, 0x20]), Err(MessageError::Length(0x2000_0001)));
        assert_eq!((length([5, 0, 0, 0]), length([0, 0, 0, 0x20])), (Ok(1), Ok((512 << 20) - 4)));
    }
}
