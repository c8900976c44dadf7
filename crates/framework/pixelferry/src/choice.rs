//! Choices with names, for command lines, Python and help texts.

use interop_core::{Api, Error, Result};

/// A choice with its name and description.
///
/// ```
/// use pixelferry::{BackendChoice, command::ApiChoice as _};
///
/// // The choices of a program's help, with what each is.
/// let names: Vec<_> = BackendChoice::all().map(|row| row.name).collect();
/// assert_eq!(names, ["auto", "cuda", "opencl", "gl", "wgpu", "vulkan", "cpu"]);
/// let threads = BackendChoice::all().find(|row| row.aliases.contains(&"threads"));
/// assert!(threads.is_some_and(|row| row.choice == BackendChoice::Cpu && row.built));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ChoiceRow<T> {
    /// The choice itself.
    pub choice: T,
    /// Name on the command line.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// One-line description.
    pub about: &'static str,
    /// False where this library was built without it; opening it then returns an error that says so.
    pub built: bool,
}

impl<T> ChoiceRow<T> {
    /// Creates a row for a choice that is always built in.
    pub(crate) const fn new(
        choice: T,
        name: &'static str,
        aliases: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self { choice, name, aliases, about, built: true }
    }
}

/// [`crate::BackendChoice`] and [`crate::DisplayChoice`]: lists of choices for programs, so that a program needs no
/// list of its own.
///
/// ```
/// use pixelferry::{Api, BackendChoice, DisplayChoice, command::ApiChoice};
///
/// fn help<T: ApiChoice>() -> String {
///     T::all().map(|row| format!("{:<8} {}\n", row.name, row.about)).collect()
/// }
/// assert!(help::<BackendChoice>().contains("cpu      Threads"));
/// assert_eq!(DisplayChoice::parse("opengl")?.api(), Some(Api::OpenGl));
/// assert!(DisplayChoice::parse("paper").is_err());
/// # Ok::<(), pixelferry::Error>(())
/// ```
pub trait ApiChoice: Copy + Eq + Send + Sync + 'static {
    /// The kind of choice, for messages: `backend` or `display`.
    const KIND: &'static str;

    /// Iterates over the choices: `auto` first, then one for each row of the table.
    fn all() -> impl Iterator<Item = &'static ChoiceRow<Self>>;

    /// Returns the API of its devices; `None` where that is open.
    fn api(self) -> Option<Api>;

    /// Returns its name on the command line.
    fn name(self) -> &'static str {
        Self::all().find(|row| row.choice == self).map_or("", |row| row.name)
    }

    /// Returns the choice with this name or alias.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with all names.
    fn parse(text: &str) -> Result<Self> {
        let is_called = |row: &&ChoiceRow<Self>| row.name == text || row.aliases.contains(&text);
        Self::all().find(is_called).map(|row| row.choice).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(|row| row.name).collect();
            Error::invalid(Self::KIND, format!("unknown name '{text}'; use one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackendChoice, DisplayChoice, open_all_backends, open_all_headless, open_backend, open_headless};

    /// Every choice has a row of its own, by which it is found; `open` gives a device of its API, or a reason with a hint.
    fn check<T: ApiChoice + std::fmt::Debug>(choices: &[T], open: impl Fn(T) -> Result<Api>) {
        assert_eq!(T::all().map(|row| row.choice).collect::<Vec<_>>(), choices);
        let mut names: Vec<_> = T::all().flat_map(|row| row.aliases.iter().chain([&row.name])).collect();
        for row in T::all() {
            assert!(!row.about.is_empty() && row.name == row.choice.name(), "{row:?}");
            for name in row.aliases.iter().chain([&row.name]) {
                assert_eq!(T::parse(name).unwrap(), row.choice);
            }
            let refused = T::parse("vga").unwrap_err().to_string();
            assert!(refused.starts_with(&format!("{}: unknown name 'vga'", T::KIND)) && refused.contains(row.name));
            match open(row.choice) {
                Ok(api) => assert!(row.built && row.choice.api().is_none_or(|own| own == api), "{row:?}: {api}"),
                Err(Error::Unavailable { reason, hint, .. }) => assert!(!reason.is_empty() && !hint.is_empty()),
                Err(other) => panic!("{row:?}: {other}"),
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), T::all().map(|row| 1 + row.aliases.len()).sum::<usize>(), "a name stands for two");
    }

    #[test]
    fn every_backend_has_its_row() {
        use BackendChoice::{Auto, Cpu, Cuda, Gl, OpenCl, Vulkan, Wgpu};
        let all = [Auto, Cuda, OpenCl, Gl, Wgpu, Vulkan, Cpu];
        // A new one does not compile until it is listed here.
        let _ = all.map(|choice| match choice {
            Auto | Cuda | OpenCl | Gl | Wgpu | Vulkan | Cpu => {}
        });
        check(&all, |choice| Ok(open_backend(choice, &[])?.device().api));
        let listed: Vec<_> = open_all_backends().1.iter().map(|status| Some(status.api)).collect();
        assert_eq!(listed, all[1..].iter().map(|choice| choice.api()).collect::<Vec<_>>());
    }

    #[test]
    fn every_display_has_its_row() {
        use DisplayChoice::{Auto, Compute, Gl, Memory, Vulkan, Wgpu};
        let all = [Auto, Gl, Compute, Memory, Wgpu, Vulkan];
        // A new one does not compile until it is listed here.
        let _ = all.map(|choice| match choice {
            Auto | Gl | Compute | Memory | Vulkan | Wgpu => {}
        });
        check(&all, |choice| Ok(open_headless(choice)?.display().device().api));
        let (displays, status) = open_all_headless();
        for row in DisplayChoice::all().filter(|row| row.choice != Auto) {
            let found = displays.iter().any(|d| Some(d.display().device().api) == row.choice.api());
            let said = status.iter().any(|status| status.kind.starts_with(row.name));
            assert!(said == row.built && (found || row.choice != Memory), "{row:?}");
        }
    }
}
