//! Holds the crates that wrap an API to their promise: each public item's documentation names what of the API it stands on.
//!
//! | to find | look in |
//! |---|---|
//! | which of their items a user of the crate can name | `reach` |
//! | each such item with its documentation | `items` |
//! | what macros make, read from their tokens | `macros` |

mod items;
mod macros;
pub mod reach;

use std::path::Path;

use crate::error::Error;
use crate::source::Crate;
use items::Documented;

/// A crate and the API that it wraps.
struct Wrapped {
    folder: &'static str,
    api: &'static str,
    /// What the names of its calls begin with: `clFlush`, `CL_TRUE`, `cl_mem`.
    prefixes: &'static [&'static str],
}

const WRAPPED: [Wrapped; 2] = [
    Wrapped { folder: "crates/opencl-backend", api: "OpenCL", prefixes: &["cl"] },
    Wrapped { folder: "crates/cuda-backend", api: "CUDA", prefixes: &["cu", "nvrtc"] },
];

pub fn run(root: &Path) -> Result<(), Error> {
    WRAPPED.iter().map(|wrapped| check(root, wrapped)).fold(Ok(()), Result::and)
}

fn check(root: &Path, wrapped: &Wrapped) -> Result<(), Error> {
    let folder = root.join(wrapped.folder);
    let all = items::of(&Crate::load(&folder.join("src"))?)?;
    if all.is_empty() {
        return Err(Error::NoItems(folder));
    }
    let unnamed = unnamed(&all, wrapped);
    for item in &unnamed {
        let file = item.file.strip_prefix(root).unwrap_or(&item.file);
        println!("{}:{}: {}", file.display(), item.line, item.name);
    }
    if unnamed.is_empty() {
        println!("{}: {} public items, each names what of {} it stands on", wrapped.folder, all.len(), wrapped.api);
        return Ok(());
    }
    Err(Error::Unnamed { count: unnamed.len(), checked: all.len(), api: wrapped.api })
}

fn unnamed<'a>(all: &'a [Documented], wrapped: &Wrapped) -> Vec<&'a Documented> {
    let says = |docs: &str| wrapped.is_named_in(docs) || wrapped.is_denied_in(docs);
    // The variants and fields of a type that stands on no call need not repeat it.
    all.iter().filter(|item| !says(&item.docs) && !wrapped.is_denied_in(&item.owner_docs)).collect()
}

impl Wrapped {
    /// Whether a call, a constant, a type, an extension or a section of the API's specification is named.
    fn is_named_in(&self, docs: &str) -> bool {
        let words = docs.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | ':'));
        // `Backend::cl_queue` is an item of the crate.
        let mut words = words.map(|word| word.trim_matches(':')).filter(|word| !word.contains("::"));
        words.any(|word| self.is_name(word)) || self.names_section(docs)
    }

    fn is_name(&self, word: &str) -> bool {
        let starts = |prefix: &str, next: fn(&char) -> bool| {
            word.strip_prefix(prefix).and_then(|rest| rest.chars().next()).is_some_and(|c| next(&c))
        };
        self.prefixes.iter().any(|prefix| {
            starts(prefix, char::is_ascii_uppercase)
                || starts(&format!("{prefix}_"), char::is_ascii_alphabetic)
                || starts(&format!("{}_", prefix.to_uppercase()), char::is_ascii_alphabetic)
        })
    }

    /// Looks for words like `OpenCL 3.0 API, 5.11`.
    fn names_section(&self, docs: &str) -> bool {
        docs.match_indices(self.api).any(|(at, name)| {
            let rest = docs[at + name.len()..].trim_start();
            let version = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let section = version.trim_start().trim_start_matches("API").strip_prefix(", ");
            version.len() < rest.len() && section.is_some_and(|s| s.starts_with(|c: char| c.is_ascii_digit()))
        })
    }

    fn is_denied_in(&self, docs: &str) -> bool {
        let words = docs.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        words.contains(&format!("no {} call", self.api.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENCL: &Wrapped = &WRAPPED[0];

    fn unnamed_of(text: &str) -> Vec<(usize, String)> {
        let all = items::of(&Crate::of_text(text).unwrap()).unwrap();
        unnamed(&all, OPENCL).into_iter().map(|item| (item.line, item.name.clone())).collect()
    }

    #[test]
    fn names_are_told_from_other_words() {
        for docs in [
            "Waits (`clFinish`).",
            "`CL_MEM_SIZE`",
            "needs cl_khr_fp16",
            "an event (OpenCL 3.0 API, 5.11)",
            "of these: cl_mem",
        ] {
            assert!(OPENCL.is_named_in(docs), "{docs}");
        }
        for docs in [
            "a clone",
            "OpenCL 3.0",
            "of OpenCL, 5 of them",
            "`cl`",
            "clear",
            "CLEAR",
            "cl_",
            "[`cl::Queue`]",
            "[`A::cl_queue`]",
        ] {
            assert!(!OPENCL.is_named_in(docs), "{docs}");
        }
        assert!(OPENCL.is_denied_in("Makes no\nOpenCL call."));
        assert!(!OPENCL.is_denied_in("no call"));
    }

    #[test]
    fn what_names_a_call_passes() {
        let text = "
            mod inner {
                /// `cl_mem`.
                pub struct Memory { /// `CL_MEM_SIZE`.
                    pub size: usize, hidden: u8 }
                impl Memory {
                    /// `clFlush`.
                    pub fn flush(&self) {}
                    /// Not to be seen from outside.
                    pub(crate) fn inside(&self) {}
                }
                /// Where files lie; no OpenCL call.
                pub enum Place { /// Here.
                    Here }
                /// Not given on.
                pub struct Other;
                impl Other { /// Nor this.
                    pub fn new() {} }
                impl Clone for Memory { fn clone(&self) -> Self { Self } }
            }
            pub use inner::{Memory, Place};
        ";
        assert_eq!(unnamed_of(text), []);
    }

    #[test]
    fn what_names_none_is_listed_with_its_line() {
        let text = "mod a { mod b {
            /// Text.
            pub struct Thing { /// Text.
                pub field: u8 }
            /// Text.
            pub enum Choice { /// Text.
                One, /// `CL_TRUE`.
                Two }
            /// Text.
            pub trait Does { /// Text.
                fn it(&self); }
            /// Text.
            pub fn free() {}
            }
            pub use b::*;
        }
        mod c {
            use crate::a::Thing;
            impl Thing { /// As [`clear`].
                pub const fn part(&self) {} }
        }
        pub use a::{Thing as Renamed, Choice, Does, free};
        pub mod open { /// Text.
            pub const N: u8 = 1; }
        ";
        let listed = unnamed_of(text);
        let names: Vec<_> = listed.iter().map(|(_, name)| name.as_str()).collect();
        let expected = [
            "a::b::Thing",
            "a::b::Thing::field",
            "a::b::Choice",
            "a::b::Choice::One",
            "a::b::Does",
            "a::b::Does::it",
            "a::b::free",
            "c::Thing::part",
            "open::N",
        ];
        assert_eq!(names, expected);
        assert_eq!((listed[0].0, listed[1].0, listed[7].0), (3, 4, 20));
    }

    #[test]
    fn what_macros_make_is_listed() {
        let text = r#"
            macro_rules! silent { ($(#[$d:meta])* $n:ident { $($(#[$e:meta])* $v:ident = $c:expr;)* }) => {
                $(#[$d])* pub enum $n { $($(#[$e])* $v,)* }
                impl $n { /// Its number.
                    pub const fn code(self) -> u32 { 0 } /// `CL_TRUE`.
                    pub const ALL: u8 = 0; }
            } }
            macro_rules! telling { ($(#[$d:meta])* $n:ident { $($(#[$e:meta])* $v:ident = $c:ident;)* }) => {
                $(#[$d])* pub enum $n { $($(#[$e])* #[doc = concat!("`", stringify!($c), "`")] $v,)* }
            } }
            macro_rules! unseen { ($($t:tt)*) => { /// Text.
                pub fn nowhere() {} } }
            mod kinds {
                silent! { /// `cl_kind`.
                    Kind { /// Text.
                        First = CL_FIRST; } }
                telling! { /// Text.
                    Told { /// Text.
                        Second = CL_SECOND; /// Text.
                        Third = OTHER; } }
                silent! { /// Not given on.
                    Unseen { /// Text.
                        No = 1; } }
                unseen! { /// Not given on.
                    Unseen2 { /// Text.
                        No = 1; } }
                thread_local! { /// Text.
                    static INSIDE: u8 = 0; }
            }
            pub use kinds::{Kind, Told};
        "#;
        let names: Vec<_> = unnamed_of(text).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["kinds::Kind::First", "kinds::Told", "kinds::Told::Third", "silent!::code"]);
    }

    #[test]
    fn a_name_that_leads_nowhere_is_an_error_and_other_crates_are_passed_over() {
        let items = |text| items::of(&Crate::of_text(text).unwrap());
        assert!(matches!(items("pub use crate::gone::Thing;"), Err(Error::Unresolved { line: 1, .. })));
        assert!(items("pub use std::sync::Arc;").unwrap().is_empty());
    }

    #[test]
    fn the_real_crate_is_read_from_its_files() {
        let folder = crate::repository::root().unwrap().join(OPENCL.folder).join("src");
        let all = items::of(&Crate::load(&folder).unwrap()).unwrap();
        let has = |name: &str| all.iter().any(|item| item.name == name);
        for name in [
            "cl::buffer::Buffer::part",
            "cl::transfer::Queue::read",
            "cl::device_info::device_type",
            "cl::flags::MemFlags::READ_ONLY",
            "mixed::OpenClBackend::cl_queue",
            "ffi::status::Status::is_final",
            "ffi::gl_open::GlObject::Texture",
            "flags!::contains",
        ] {
            assert!(has(name), "{name}");
        }
        assert!(!has("ffi::queue::Queue::flush") && !has("memory::OpenClMemory"));
    }
}
