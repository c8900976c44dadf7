//! The order of houses: what each may import. Tests may import anything.

use crate::houses::HOUSES;
use crate::packages::Package;

/// A house, and the packages and houses that its packages may import besides those of their own house.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("framework", &[]),
    ("companions", &["framework"]),
    ("apps", &["pixelferry", "interop-core", "companions"]),
    ("bindings", &["pixelferry", "interop-core", "companions", "apps"]),
    ("clgl-layer", &[]),
];

/// Returns a line for each import of a package from a house that its own must not know.
pub fn wrong(packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages {
        let Some(house) = house_of(&package.name) else { continue };
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == house) else { continue };
        for import in &package.imports {
            let Some(from) = house_of(import) else { continue };
            if from != house && !allowed.contains(&from) && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{} ({house}) imports {import} ({from})", package.name));
            }
        }
    }
    wrong
}

/// Returns the house of a package of ours.
fn house_of(package: &str) -> Option<&'static str> {
    HOUSES.iter().find(|house| house.packages.contains(&package)).map(|house| house.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn package(name: &str, imports: &[&str]) -> Package {
        let imports = imports.iter().map(|name| (*name).to_owned()).collect();
        Package { name: name.into(), folder: PathBuf::new(), is_main: true, targets: Vec::new(), imports }
    }

    #[test]
    fn a_driver_is_imported_inside_the_framework_only() {
        assert!(wrong(&[package("pixelferry", &["cuda-backend", "serde"])]).is_empty());
        assert!(wrong(&[package("pixelferry-view", &["pixelferry", "interop-core", "pixelferry-look"])]).is_empty());
        let found =
            wrong(&[package("pixelferry-view", &["cuda-backend"]), package("pixelferry", &["pixelferry-media"])]);
        let expected = [
            "pixelferry-view (apps) imports cuda-backend (framework)",
            "pixelferry (framework) imports pixelferry-media (apps)",
        ];
        assert_eq!(found, expected);
    }
}
