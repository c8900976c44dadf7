//! Parameters of a kernel's entry, as its PTX text declares them. The driver itself reports only their sizes, and only
//! from CUDA 12.4 on.

/// One parameter of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub bytes: usize,
    pub class: Class,
}

/// Class of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `.u` or `.s`. Pointers without `.ptr` are 8-byte integers.
    Integer,
    /// `.u64 .ptr`.
    Pointer,
    /// `.f`.
    Float,
    /// `.b`: bits of any sort.
    Bits,
    /// Bytes of a structure.
    Structure,
}

impl Param {
    /// Describes the class, for messages.
    pub fn describe(self) -> String {
        let bytes = self.bytes;
        match self.class {
            Class::Pointer => "a pointer".into(),
            Class::Integer if bytes == 8 => "a pointer or 64-bit integer".into(),
            Class::Integer => format!("a {}-bit integer", 8 * bytes),
            Class::Float => format!("a {}-bit float", 8 * bytes),
            Class::Bits => format!("{} bits", 8 * bytes),
            Class::Structure => format!("a structure of {bytes} bytes"),
        }
    }
}

/// Returns the parameters of the entry `name`; `None` where the text has no such entry, or it cannot be parsed.
pub fn of_entry(ptx: &str, name: &str) -> Option<Vec<Param>> {
    let text = without_comments(ptx);
    let after =
        text.match_indices(".entry").map(|(at, word)| text[at + word.len()..].trim_start()).find_map(|rest| {
            let rest = rest.strip_prefix(name)?.trim_start();
            // Excludes longer names that begin with this one.
            (rest.starts_with('(') || rest.starts_with(['{', '.', ';'])).then_some(rest)
        })?;
    let Some(list) = after.strip_prefix('(') else { return Some(Vec::new()) };
    let list = &list[..list.find(')')?];
    list.split(',').filter(|p| !p.trim().is_empty()).map(param).collect()
}

fn param(text: &str) -> Option<Param> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (class, bytes) = words.iter().find_map(|w| scalar(w))?;
    let name = words.last()?;
    match name.split_once('[') {
        Some((_, count)) => {
            let count: usize = count.strip_suffix(']')?.parse().ok()?;
            Some(Param { bytes: bytes.checked_mul(count)?, class: Class::Structure })
        }
        None if words.contains(&".ptr") => Some(Param { bytes, class: Class::Pointer }),
        None => Some(Param { bytes, class }),
    }
}

/// Parses a scalar type such as `.u64`.
fn scalar(word: &str) -> Option<(Class, usize)> {
    let kind = word.strip_prefix('.')?;
    let class = match kind.bytes().next()? {
        b'u' | b's' => Class::Integer,
        b'f' => Class::Float,
        b'b' => Class::Bits,
        _ => return None,
    };
    let bits: usize = kind[1..].parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some((class, bits / 8))
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        out.push_str(&rest[..at]);
        let comment = &rest[at..];
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else if comment.starts_with("/*") {
            comment.find("*/").map(|n| n + 2)
        } else {
            out.push('/');
            Some(1)
        };
        rest = end.map_or("", |n| &comment[n..]);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "// .entry fake (.param .u64 a)
.version 8.0
.visible .entry scale_more(\n\t.param .u64 scale_more_param_0\n)\n{ }
.visible .entry scale(
	.param .u64 .ptr .global .align 4 scale_param_0, /* a (comment) */
	.param .align 8 .b8 scale_param_1[24],
	.param .f32 scale_param_2,
	.param .s32 scale_param_3
)
.maxntid 256, 1, 1
{ }
.entry none\n{ }";

    #[test]
    fn parameters_are_read() {
        let params = of_entry(PTX, "scale").unwrap();
        let expected = [(8, Class::Pointer), (24, Class::Structure), (4, Class::Float), (4, Class::Integer)];
        assert_eq!(params.iter().map(|p| (p.bytes, p.class)).collect::<Vec<_>>(), expected);
        assert_eq!(of_entry(PTX, "scale_more").unwrap().len(), 1);
        assert_eq!(of_entry(PTX, "none").unwrap(), []);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for name in ["fake", "scal", "scale_param_0", ""] {
            assert_eq!(of_entry(PTX, name), None, "{name}");
        }
        assert_eq!(of_entry(".entry k(.param .u64 a", "k"), None);
        assert_eq!(of_entry(".entry k(.param .texref a)", "k"), None);
        assert_eq!(of_entry(".entry k(.param .b8 a[x])", "k"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}", name in "[a-z]{0,4}") {
            let _ = of_entry(&text, &name);
            let _ = of_entry(&format!(".entry {name}({text}"), &name);
        }
    }
}
