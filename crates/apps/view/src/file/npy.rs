//! NumPy's `.npy` files, versions 1 to 3. Their header is a Python dictionary with three keys. This reads the subset of
//! Python's literals that NumPy writes; crates that read all of them have some thirty dependencies and need a C
//! compiler.

use crate::array::{Array, bytes_of};
use crate::error::ReadError;
use lazy_regex::{Lazy, Regex, lazy_regex};
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
    let Header { number, is_fortran, shape } = header(&text)?;
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

/// An entry of the header's dictionary: its key; the start of a list, a text, a truth value or what a tuple contains; and the
/// end of the dictionary. Texts are in either quotes.
static ENTRY: Lazy<Regex> = lazy_regex!(
    r#"(?s)^\s*(?:'(\w*)'|"(\w*)")\s*:\s*(?:(\[).*|'([^'\\]*)'|"([^"\\]*)"|(True|False)\b|\(([^)]*)\))\s*(?:,|(\}))"#
);

fn wrong(what: impl Into<String>) -> ReadError {
    ReadError::Header(what.into())
}

fn header(text: &[u8]) -> Result<Header, ReadError> {
    let text = String::from_utf8_lossy(text);
    let (mut number, mut is_fortran, mut shape) = (None, None, None);
    let mut rest = text.trim_start().strip_prefix('{').ok_or_else(|| wrong("it does not begin with '{'"))?;
    while !rest.trim_start().starts_with('}') {
        let invalid = || wrong(format!("invalid entry in '{:.80}'", text.trim().escape_debug().to_string()));
        let entry = ENTRY.captures(rest).ok_or_else(invalid)?;
        let value = |at: &[usize]| at.iter().find_map(|at| Some(entry.get(*at)?.as_str()));
        match value(&[1, 2]).unwrap_or_default() {
            "descr" => number = Some(number_of(value(&[4, 5]).unwrap_or("V"))?),
            "fortran_order" => {
                is_fortran = Some(value(&[6]).ok_or_else(|| wrong("fortran_order must be True or False"))? == "True")
            }
            "shape" => shape = Some(sides(value(&[7]).unwrap_or("no tuple"))?),
            other => return Err(wrong(format!("unexpected key '{other:.80}'"))),
        }
        rest = if value(&[8]).is_some() { "}" } else { &rest[entry[0].len()..] };
    }
    match (number, is_fortran, shape) {
        (Some(number), Some(is_fortran), Some(shape)) => Ok(Header { number, is_fortran, shape }),
        _ => Err(wrong("one of the keys descr, fortran_order and shape is missing")),
    }
}

/// Reads `descr`, which is a list of fields for a structured array.
fn number_of(text: &str) -> Result<Number, ReadError> {
    let (order, rest) = text.split_at(text.len().min(usize::from(text.starts_with(['<', '>', '|', '=']))));
    let bytes = rest.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let foreign = order == if cfg!(target_endian = "big") { "<" } else { ">" };
    let number = Number::of_letter(rest.chars().next().unwrap_or('?'), bytes, foreign);
    Number { foreign: false, ..number }.row()?;
    Ok(number)
}

/// Reads the sides of `shape`. Old Python versions write long integers with an L.
fn sides(text: &str) -> Result<Vec<i64>, ReadError> {
    let side = |text: &str| text.trim().trim_end_matches('L').parse().ok().filter(|side: &i64| *side >= 0);
    let sides = text.trim().split_terminator(',').map(side).collect::<Option<Vec<_>>>();
    let sides = sides.ok_or_else(|| wrong("a side of the shape is not a non-negative integer"))?;
    if sides.len() > MOST_AXES { Err(wrong("the shape has too many dimensions")) } else { Ok(sides) }
}
