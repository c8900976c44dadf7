//! Loading of driver libraries at run time.

use libloading::Library;
use std::error::Error;
use std::ffi::OsStr;

/// Opens the first of these libraries that can be opened (`dlopen`, `LoadLibraryExW`).
///
/// # Safety
/// Opening a library runs its initialisers, and closing it its finalisers. These must be sound at any time in this
/// process, as those of a driver are.
///
/// # Errors
/// The message of the system's loader. Of several libraries, an existing one that fails to open tells most; where none
/// exists, the message is about the first.
pub unsafe fn open<N: AsRef<OsStr>>(names: impl IntoIterator<Item = N>) -> Result<Library, String> {
    let mut said = Vec::new();
    for name in names {
        // SAFETY: the caller guarantees it.
        match unsafe { Library::new(name.as_ref()) } {
            Ok(library) => return Ok(library),
            Err(error) => said.push(Refusal::new(&name.as_ref().to_string_lossy(), &with_sources(&error))),
        }
    }
    let first = said.iter().position(|refusal| !refusal.missing).unwrap_or(0);
    Err(if said.is_empty() { "no library name is known for this system".into() } else { said.swap_remove(first).text })
}

/// Joins an error and its sources in one line.
pub fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text += &format!(": {more}");
        }
        source = error.source();
    }
    text
}

/// The loader's answer for one library.
struct Refusal {
    text: String,
    /// No library has that name. An error that names another library is about a dependency.
    missing: bool,
}

impl Refusal {
    fn new(name: &str, said: &str) -> Self {
        let absent =
            ["No such file or directory", "no such file", "os error 126"].iter().any(|text| said.contains(text));
        let of_this = cfg!(windows) || said.contains(&format!("{name}:")) || said.contains(&format!("dlopen({name}"));
        let text = if said.contains(name) { said.to_owned() } else { format!("{name}: {said}") };
        Self { text, missing: absent && of_this }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_there_and_does_not_open_is_told_of() {
        let folder = std::env::temp_dir().join(format!("pixelferry-loading-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let broken = folder.join("libbroken.so");
        std::fs::write(&broken, "not a library\n".repeat(100)).unwrap();
        let name = broken.to_str().unwrap();
        for names in [vec!["libabsent.so.7", name, "libabsent.so"], vec![name]] {
            // SAFETY: no library is opened.
            let said = unsafe { open(names) }.err().unwrap();
            assert!(said.contains("libbroken.so") && said.len() > name.len() + 5, "{said}");
        }
        // SAFETY: no library is opened.
        let said = unsafe { open(["libabsent.so.7", "libabsent.so"]) }.err().unwrap();
        assert!(said.contains("libabsent.so.7"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_a_library_needs_is_not_the_library() {
        let said = "libgone.so.3: cannot open shared object file: No such file or directory";
        assert!(Refusal::new("libgone.so.3", said).missing);
        let of_another = Refusal::new("libOpenCL.so.1", said);
        assert!(!of_another.missing && of_another.text.starts_with("libOpenCL.so.1: libgone.so.3"));
    }
}
