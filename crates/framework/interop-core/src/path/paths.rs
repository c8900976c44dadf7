//! The set of paths that a selection may use.

use super::spec::PathSpec;
use super::table::PATHS;
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use std::str::FromStr;
use std::sync::Arc;

/// The paths that a selection may use: the built-in ones and those that a program adds. It is a value in
/// [`crate::Policy`], so that two links of one program may have different paths.
///
/// A program's own path is offered, verified, timed, ranked, reported and replaced like the built-in ones.
///
/// ```
/// use interop_core::path::{Cost, HostRoundTrip, Medium, PathSpec, Paths};
/// use interop_core::{MemoryKind, Policy, Support};
///
/// let check_support = |pairing: &interop_core::path::Pairing<'_>| {
///     let on_the_host = pairing.display.device().memory == MemoryKind::Host;
///     Support::when(on_the_host, "display: it has memory of its own")
/// };
/// // A real path opens a mechanism of its own here, e.g. `SharedMemory::open` with memory that only the program knows.
/// let open = |pairing: &interop_core::path::Pairing<'_>| Ok(Box::new(HostRoundTrip::open(pairing)?) as Box<_>);
/// let mut shared_pages = PathSpec::new("shared-pages", check_support, open);
/// shared_pages.mechanism = "the kernel writes pages that both programs map: 1 copy";
/// shared_pages.cost = Cost::copied(Medium::Pages, 1);
///
/// let policy = Policy::default().with_paths(Paths::default().with(shared_pages)?);
/// assert_eq!(policy.paths.named("shared-pages")?.name(), "shared-pages");
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Paths {
    plugged: Vec<Arc<PathSpec>>,
    kept: Option<fn(&PathSpec) -> bool>,
}

/// Longest name of a path, in characters.
const LONGEST_NAME: usize = 40;

impl Paths {
    /// Adds a path.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a name that another path has, or that consists of more than lower-case letters,
    /// digits and single dashes, and for a path without a synchronisation.
    pub fn with(mut self, spec: PathSpec) -> Result<Self> {
        let name = spec.id.name();
        let refused = |problem: String| Err(Error::invalid("Paths::with", problem));
        if name.len() > LONGEST_NAME || !name.split('-').all(is_word) {
            return refused(format!(
                "'{name}' cannot name a path; give at most {LONGEST_NAME} lower-case letters and digits, with single \
                 dashes between them"
            ));
        }
        if self.all().any(|known| known.id == spec.id) {
            return refused(format!("a path named '{name}' exists already; give another name than {}", self.names()));
        }
        if spec.syncs.is_empty() {
            return refused(format!("path '{name}' has no synchronisation; give at least one in `syncs`"));
        }
        self.plugged.push(Arc::new(spec));
        Ok(self)
    }

    /// Keeps only the paths for which `keep` is true. It replaces an earlier filter.
    ///
    /// ```
    /// use interop_core::PathId;
    /// use interop_core::path::Paths;
    ///
    /// let copying = Paths::default().keep(|path| path.cost.copies > 0);
    /// assert!(copying.get(PathId::DIRECT).is_none() && copying.get(PathId::PBO_ORPHAN).is_some());
    /// ```
    #[must_use]
    pub fn keep(self, keep: fn(&PathSpec) -> bool) -> Self {
        Self { kept: Some(keep), ..self }
    }

    /// Iterates over all paths, the built-in ones first, in no order of merit.
    pub fn iter(&self) -> impl Iterator<Item = &PathSpec> {
        self.all().filter(|spec| self.kept.is_none_or(|keep| keep(spec)))
    }

    fn all(&self) -> impl Iterator<Item = &PathSpec> {
        PATHS.iter().chain(self.plugged.iter().map(Arc::as_ref))
    }

    /// Returns the specification of a path; `None` where it is not one of these.
    pub fn get(&self, id: PathId) -> Option<&PathSpec> {
        self.iter().find(|spec| spec.id == id)
    }

    /// Finds a path by its name.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with all names.
    pub fn named(&self, name: &str) -> Result<PathId> {
        self.iter()
            .map(|spec| spec.id)
            .find(|id| id.name() == name)
            .ok_or_else(|| Error::invalid("path", format!("unknown path '{name}'; the paths are {}", self.names())))
    }

    /// Lists all names, for messages.
    pub fn names(&self) -> String {
        self.iter().map(|spec| spec.id.name()).collect::<Vec<_>>().join(", ")
    }
}

/// Parses the name of a built-in path. [`Paths::named`] also knows a program's own.
impl FromStr for PathId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Paths::default().named(text)
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::capability::Support;

    fn named(name: &'static str) -> PathSpec {
        PathSpec::new(name, |_| Support::Yes, |_| Err(Error::NothingShown))
    }

    #[test]
    fn every_path_has_its_own_row() {
        for (i, row) in PATHS.iter().enumerate() {
            let found = Paths::default().get(row.id).map(std::ptr::from_ref);
            assert_eq!(found, Some(&raw const PATHS[i]), "{} has two rows", row.id);
            assert!(!row.mechanism.is_empty() && !row.syncs.is_empty());
            assert!(row.id.name().len() <= LONGEST_NAME && row.id.name().split('-').all(is_word), "{}", row.id);
            assert_eq!(row.id.name().parse::<PathId>().unwrap(), row.id);
        }
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        let long = "a-name-that-is-longer-than-any-column-has-room-for";
        for name in ["", "-", "a-", "a--b", "Direct", "with space", "ümlaut", "a_b", "a\n", long] {
            let error = Paths::default().with(named(name)).unwrap_err();
            assert!(matches!(&error, Error::InvalidInput { problem, .. } if problem.contains("lower-case")), "{error}");
        }
        let taken = Paths::default().with(named("direct")).unwrap_err().to_string();
        assert!(taken.contains("already") && taken.contains("host-round-trip"), "{taken}");
        let own = Paths::default().with(named("own-2")).unwrap();
        assert!(
            own.clone().with(named("own-2")).unwrap_err().to_string().contains("pbo-orphan, host-round-trip, own-2")
        );
        let mut without = named("other");
        without.syncs = &[];
        assert!(own.with(without).unwrap_err().to_string().contains("no synchronisation"));
    }

    #[test]
    fn a_name_is_found_in_the_set_that_has_it() {
        let own = Paths::default().with(named("own")).unwrap();
        assert_eq!(own.named("own").unwrap().to_string(), "own");
        assert!(own.get(own.named("direct").unwrap()).is_some());
        let unknown = own.named("telepathy").unwrap_err().to_string();
        assert!(unknown.contains("telepathy") && unknown.contains("direct") && unknown.ends_with("own"), "{unknown}");
        assert!("own".parse::<PathId>().is_err(), "another program's");
        assert_eq!(serde_json::to_string(&own.named("own").unwrap()).unwrap(), "\"own\"");
    }
}
