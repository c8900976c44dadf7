//! Check of a program's own types as parameters: the driver reports only their names, so the compiler is queried.
//!
//! Drivers interpret an argument as the parameter's type. If eight bytes are given for a sampler under another name,
//! PoCL 3.1 treats them as the sampler's address. If fewer bytes are given than a structure has, it lets the kernel
//! read beyond them.

use crate::ffi::Program;
use crate::{Context, Device};
use interop_core::describe::PlainMutex;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// Sizes below 2 to the power of this are found: more than a kernel's parameters may have. Compilers stop after some 20
/// errors, and each bit may be one.
const BITS: usize = 16;

/// A program's source text, as it was compiled.
pub struct Text {
    pub text: String,
    pub options: CString,
    /// Headers that it includes, with their names.
    pub headers: Vec<(CString, Program)>,
    pub devices: Vec<Device>,
}

impl Text {
    /// Returns true where `type_name` is a scalar, vector, structure or union with this number of bytes. Samplers,
    /// images and events cannot be members (OpenCL C 3.0, 6.11 b), which distinguishes them.
    pub fn has(&self, context: &Context, type_name: &str, bytes: usize) -> bool {
        let more = format!(
            "struct pf_plain {{ {type_name} pf_member; }};\n\
             typedef char pf_size[sizeof({type_name}) == {bytes} ? 1 : -1];\n"
        );
        is_name(type_name) && self.compile(context, &more).is_some_and(|(compiles, _)| compiles)
    }

    /// Returns the bytes of `type_name`; `None` where it is not a plain value type, or the compiler cannot tell.
    pub fn size_of(&self, context: &Context, type_name: &str) -> Option<usize> {
        if !is_name(type_name) {
            return None;
        }
        // Each cleared bit is an error that names it.
        let bit = |at| format!("typedef char pf_bit_{at}_[(sizeof({type_name}) >> {at}) % 2 == 1 ? 1 : -1];\n");
        let (_, log) = self.compile(context, &(0..BITS).map(bit).collect::<String>())?;
        let set = |at: &usize| !log.contains(&format!("pf_bit_{at}_"));
        let bytes = (0..BITS).filter(set).map(|at| 1 << at).sum();
        self.has(context, type_name, bytes).then_some(bytes)
    }

    /// Returns whether the text compiles with `more` after it, and the compiler's log. `None` where no compiler is
    /// available.
    fn compile(&self, context: &Context, more: &str) -> Option<(bool, String)> {
        let Self { text, options, headers, devices } = self;
        // SAFETY: it is compiled only, never linked or launched.
        let program = unsafe { Program::source(context, &format!("{text}\n{more}")) }.ok()?;
        let headers: Vec<(&CStr, &Program)> = headers.iter().map(|(name, text)| (name.as_c_str(), text)).collect();
        let compiles = program.compile(devices, options, &headers).is_ok();
        Some((compiles, devices.iter().map(|device| program.log(device)).collect()))
    }
}

/// The types of a program, each queried once.
#[derive(Default)]
pub struct Types {
    /// Source texts from which the program was built; empty if they are unknown.
    texts: Vec<Arc<Text>>,
    /// `None` for a type that is not plain.
    sizes: PlainMutex<HashMap<String, Option<usize>>>,
}

impl Types {
    pub fn new(texts: Vec<Arc<Text>>) -> Self {
        Self { texts, sizes: PlainMutex::default() }
    }

    /// Checks whether values with this number of bytes fit the type. The error is the type's number of bytes, or `None`
    /// where it is not known to be plain.
    pub fn fits(&self, context: &Context, type_name: &str, bytes: usize) -> Result<(), Option<usize>> {
        // Held during the compiler query, so that threads do not query twice.
        let mut sizes = self.sizes.lock();
        let size = *sizes.entry(type_name.to_owned()).or_insert_with(|| {
            let fits = self.texts.iter().any(|text| text.has(context, type_name, bytes));
            if fits { Some(bytes) } else { self.ask(context, type_name) }
        });
        if size == Some(bytes) { Ok(()) } else { Err(size) }
    }

    /// Returns the bytes of the type, if it is plain.
    pub fn size_of(&self, context: &Context, type_name: &str) -> Option<usize> {
        let mut sizes = self.sizes.lock();
        *sizes.entry(type_name.to_owned()).or_insert_with(|| self.ask(context, type_name))
    }

    fn ask(&self, context: &Context, type_name: &str) -> Option<usize> {
        self.texts.iter().find_map(|text| text.size_of(context, type_name))
    }
}

/// Returns true for a name as in declarations, `vertex` or `struct vertex`, and nothing else.
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
