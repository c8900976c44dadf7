//! Check of a program's own types as parameters: the driver tells their names as written, so the compiler is asked.
//!
//! Drivers take what they are given for what the parameter is. Given eight bytes where the type is a sampler under
//! another name, PoCL 3.1 takes them for the sampler's address. Given fewer bytes than a structure has, it lets the
//! kernel read behind them.

use crate::ffi::Program;
use crate::{Context, Device};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, PoisonError};

/// Sizes up to 2 to the power of this are found: more than a kernel's parameters may have. Compilers stop after some 20
/// errors, and each bit may be one.
const BITS: usize = 16;

/// A program's text, as it was compiled.
pub struct Text {
    pub text: String,
    pub options: CString,
    /// Headers that it includes, by name.
    pub headers: Vec<(CString, Program)>,
    pub devices: Vec<Device>,
}

impl Text {
    /// True where `type_name` is a scalar, vector, structure or union of so many bytes. Samplers, images and events can be
    /// no members (OpenCL C 3.0, 6.11 b), which tells them apart.
    pub fn has(&self, context: &Context, type_name: &str, bytes: usize) -> bool {
        let more = format!(
            "struct pf_plain {{ {type_name} pf_member; }};\n\
             typedef char pf_size[sizeof({type_name}) == {bytes} ? 1 : -1];\n"
        );
        is_name(type_name) && self.compile(context, &more).is_some_and(|(compiles, _)| compiles)
    }

    /// Bytes of `type_name`; `None` where it is something else than values, or the compiler does not let it be seen.
    pub fn size_of(&self, context: &Context, type_name: &str) -> Option<usize> {
        if !is_name(type_name) {
            return None;
        }
        // Each bit that is not set is an error which names it.
        let bit = |at| format!("typedef char pf_bit_{at}_[(sizeof({type_name}) >> {at}) % 2 == 1 ? 1 : -1];\n");
        let (_, log) = self.compile(context, &(0..BITS).map(bit).collect::<String>())?;
        let set = |at: &usize| !log.contains(&format!("pf_bit_{at}_"));
        let bytes = (0..BITS).filter(set).map(|at| 1 << at).sum();
        self.has(context, type_name, bytes).then_some(bytes)
    }

    /// Tells whether the text compiles with `more` after it, and what the compiler says. `None` where there is no compiler.
    fn compile(&self, context: &Context, more: &str) -> Option<(bool, String)> {
        let Self { text, options, headers, devices } = self;
        // SAFETY: it is compiled only, never linked or launched.
        let program = unsafe { Program::source(context, &format!("{text}\n{more}")) }.ok()?;
        let headers: Vec<(&CStr, &Program)> = headers.iter().map(|(name, text)| (name.as_c_str(), text)).collect();
        let compiles = program.compile(devices, options, &headers).is_ok();
        Some((compiles, devices.iter().map(|device| program.log(device)).collect()))
    }
}

/// The types of a program, each asked for once.
#[derive(Default)]
pub struct Types {
    /// Texts that the program was built of; none if they are not known.
    texts: Vec<Arc<Text>>,
    /// `None` for a type that is not plain.
    sizes: Mutex<HashMap<String, Option<usize>>>,
}

impl Types {
    pub fn new(texts: Vec<Arc<Text>>) -> Self {
        Self { texts, sizes: Mutex::default() }
    }

    /// Tells whether values of so many bytes fit the type. `Err` gives the bytes that it has, or `None` where it is not seen to
    /// be plain.
    pub fn fits(&self, context: &Context, type_name: &str, bytes: usize) -> Result<(), Option<usize>> {
        // Held while the compiler is asked, so that threads do not ask twice.
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let size = *sizes.entry(type_name.to_owned()).or_insert_with(|| {
            let fits = self.texts.iter().any(|text| text.has(context, type_name, bytes));
            if fits { Some(bytes) } else { self.ask(context, type_name) }
        });
        if size == Some(bytes) { Ok(()) } else { Err(size) }
    }

    /// Bytes of the type, where it is plain.
    pub fn size_of(&self, context: &Context, type_name: &str) -> Option<usize> {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        *sizes.entry(type_name.to_owned()).or_insert_with(|| self.ask(context, type_name))
    }

    fn ask(&self, context: &Context, type_name: &str) -> Option<usize> {
        self.texts.iter().find_map(|text| text.size_of(context, type_name))
    }
}

/// A name as declarations have it, `vertex` or `struct vertex`, and nothing that would be more than a name.
fn is_name(type_name: &str) -> bool {
    !type_name.is_empty() && type_name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_asked_for() {
        assert!(is_name("struct vertex_2") && is_name("real"));
        for other in ["", "struct (anonymous)", "a; }", "a*", "int[3]"] {
            assert!(!is_name(other), "{other}");
        }
    }
}
