//! NumPy's `.npy` files, versions 1 to 3. Their header is a Python dictionary with three keys. This reads the subset of
//! Python's literals that NumPy writes; crates that read all of them have some thirty dependencies and need a C
//! compiler.

use crate::array::{Array, bytes_of};
use crate::error::ReadError;
use pixelferry_look::Number;
use pixelferry_media::memory;
use std::io::Read;

/// First bytes of a file.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// Size limit of a header; NumPy's are a few hundred bytes.
const MOST_HEADER: usize = 1 << 16;
/// NumPy's limit of dimensions.
const MOST_AXES: usize = 64;

/// Content of the header.
#[derive(Debug, PartialEq)]
struct Header {
    number: Number,
    is_fortran: bool,
    shape: Vec<i64>,
}

/// Reads an array. `there` is the number of bytes, if known; an array in a compressed archive may claim any number of
/// them.
pub fn read(mut from: impl Read, name: &str, there: Option<u64>, is_packed: bool) -> Result<Array, ReadError> {
    let short = |_| ReadError::Header("the file ends within the header".into());
    let mut first = [0; 8];
    from.read_exact(&mut first).map_err(short)?;
    let [.., major, _minor] = first;
    if !first.starts_with(MAGIC) {
        return Err(ReadError::Format(first.to_vec()));
    }
    let mut length = [0; 4];
    let bytes_of_length = match major {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(ReadError::Header(format!("version {major} is unsupported; supported are 1 to 3"))),
    };
    from.read_exact(&mut length[..bytes_of_length]).map_err(short)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_HEADER {
        return Err(ReadError::Header(format!("its length of {length} bytes is invalid")));
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).map_err(short)?;
    let Header { number, is_fortran, shape } = Literal(&text).header()?;
    let foreign = number.foreign;
    let number = Number { foreign: false, ..number };
    let needed = bytes_of(&shape, number)?;
    if is_packed {
        let elements = needed as u128 / (number.bits as u128 / 8).max(1);
        memory::check(needed as u128 + elements * u128::from(memory::SHOWN))?;
    }
    let there = there.map(|all| all.saturating_sub((8 + bytes_of_length + length) as u64));
    let too_short = |there| ReadError::Short { shape: shape.clone(), needed, there };
    let one = number.row()?;
    let strides = is_fortran.then(|| {
        let each = shape.iter().scan(one.code.1 as i64 / 8, |next, side| {
            let stride = *next;
            *next = next.saturating_mul(*side);
            Some(stride)
        });
        each.collect()
    });
    let make = || Array::allocate(name, shape.clone(), strides.clone(), number, needed);
    let array = match there {
        Some(there) if there < needed as u64 => return Err(too_short(there)),
        Some(there) if there > needed as u64 => return Err(ReadError::Long { shape, needed, there }),
        Some(there) => {
            let array = make()?;
            from.read_exact(&mut array.write()?).map_err(|_| too_short(there))?;
            array
        }
        // Allocate memory as bytes arrive, whatever the header claims.
        None => {
            let mut bytes = Vec::new();
            from.take(needed as u64).read_to_end(&mut bytes)?;
            if bytes.len() < needed {
                return Err(too_short(bytes.len() as u64));
            }
            let array = make()?;
            array.write()?.copy_from_slice(&bytes);
            array
        }
    };
    if foreign {
        array.write()?.chunks_exact_mut(one.element.bytes()).for_each(<[u8]>::reverse);
    }
    Ok(array)
}

/// The unread rest of a Python literal.
struct Literal<'a>(&'a [u8]);

impl<'a> Literal<'a> {
    fn header(mut self) -> Result<Header, ReadError> {
        let (mut number, mut is_fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.takes(b'}') {
            let key = self.text()?;
            self.expect(b':')?;
            match key {
                b"descr" => number = Some(self.number()?),
                b"fortran_order" => is_fortran = Some(self.truth()?),
                b"shape" => shape = Some(self.shape()?),
                other => return Err(self.wrong(&format!("unexpected key '{}'", String::from_utf8_lossy(other)))),
            }
            if !self.takes(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        match (number, is_fortran, shape) {
            (Some(number), Some(is_fortran), Some(shape)) => Ok(Header { number, is_fortran, shape }),
            _ => Err(self.wrong("one of the keys descr, fortran_order and shape is missing")),
        }
    }

    fn wrong(&self, what: &str) -> ReadError {
        ReadError::Header(what.to_owned())
    }

    /// Skips spaces and returns the next character.
    fn next(&mut self) -> Option<u8> {
        self.0 = self.0.trim_ascii_start();
        self.0.first().copied()
    }

    fn takes(&mut self, wanted: u8) -> bool {
        let there = self.next() == Some(wanted);
        self.0 = if there { &self.0[1..] } else { self.0 };
        there
    }

    fn expect(&mut self, wanted: u8) -> Result<(), ReadError> {
        let found = self.next().map_or_else(|| "its end".to_owned(), |found| format!("'{}'", found.escape_ascii()));
        let refused = || ReadError::Header(format!("expected '{}', found {found}", char::from(wanted)));
        if self.takes(wanted) { Ok(()) } else { Err(refused()) }
    }

    /// Takes characters for as long as the function returns true.
    fn run(&mut self, of: impl Fn(&u8) -> bool) -> &'a [u8] {
        let length = self.0.iter().position(|found| !of(found)).unwrap_or(self.0.len());
        let (run, rest) = self.0.split_at(length);
        self.0 = rest;
        run
    }

    fn text(&mut self) -> Result<&'a [u8], ReadError> {
        let quote = if self.next() == Some(b'"') { b'"' } else { b'\'' };
        self.expect(quote)?;
        let text = self.run(|found| *found != quote && *found != b'\\');
        self.expect(quote)?;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, ReadError> {
        self.next();
        match self.run(u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(self.wrong("fortran_order must be True or False")),
        }
    }

    fn number(&mut self) -> Result<Number, ReadError> {
        // The `descr` of a structured array is a list of fields.
        if self.next() == Some(b'[') {
            let fields = Number { code: Number::NONE, bits: 0, foreign: false };
            fields.row()?;
            return Ok(fields);
        }
        let text = self.text()?;
        let (order, rest) = text.split_first().unwrap_or((&b'|', &[]));
        let (order, rest) = if b"<>|=".contains(order) { (*order, rest) } else { (b'=', text) };
        let letter = rest.first().map_or('?', |letter| char::from(*letter));
        let digits = std::str::from_utf8(rest.get(1..).unwrap_or_default()).unwrap_or_default();
        let native = if cfg!(target_endian = "big") { b'>' } else { b'<' };
        let number = Number::of_letter(letter, digits.parse().unwrap_or(0), b"<>".contains(&order) && order != native);
        Number { foreign: false, ..number }.row()?;
        Ok(number)
    }

    fn shape(&mut self) -> Result<Vec<i64>, ReadError> {
        let mut sides = Vec::new();
        self.expect(b'(')?;
        while !self.takes(b')') {
            self.next();
            let digits = std::str::from_utf8(self.run(u8::is_ascii_digit)).unwrap_or_default();
            let side = digits.parse().map_err(|_| self.wrong("a side of the shape is not a non-negative integer"))?;
            // Old Python versions write long integers with this suffix.
            self.takes(b'L');
            sides.push(side);
            if sides.len() > MOST_AXES {
                return Err(self.wrong("the shape has too many dimensions"));
            }
            if !self.takes(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(sides)
    }
}
