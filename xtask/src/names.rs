//! Names of types and files: nouns that say what they are without their module.

use std::path::Path;

use syn::Item;

/// Words that say nothing when they stand alone.
const ALONE: [&str; 6] = ["Options", "Part", "Place", "Row", "State", "Way"];
/// Participles that end neither with `ed` nor with `ing`.
const PARTICIPLES: [&str; 36] = [
    "Begun",
    "Bound",
    "Broken",
    "Built",
    "Chosen",
    "Done",
    "Drawn",
    "Found",
    "Given",
    "Gone",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Put",
    "Read",
    "Seen",
    "Sent",
    "Set",
    "Shown",
    "Shut",
    "Spoken",
    "Sunk",
    "Taken",
    "Told",
    "Thrown",
    "Understood",
    "Woken",
    "Worn",
    "Written",
];
/// Words that end as participles do, and are nouns of the field.
const NOUNS: [&str; 17] = [
    "Binding",
    "Blending",
    "Decoding",
    "Drawing",
    "Encoding",
    "Lowering",
    "Mapping",
    "Packing",
    "Pairing",
    "Recording",
    "Ring",
    "Setting",
    "Shading",
    "Sharing",
    "Speed",
    "Staging",
    "String",
];
/// Names of types and files that stay, each with the reason.
const ALLOWED: [(&str, &str); 7] = [
    ("ImageMapRead", "OpenCL's `CL_MAP_READ`, of an image"),
    ("MapRead", "OpenCL's `CL_MAP_READ`"),
    ("PendingRead", "a read is a command of OpenCL"),
    ("Sealed", "Rust's usual name for a trait that no other crate can implement"),
    ("ViewMapRead", "OpenCL's `CL_MAP_READ`, of a view"),
    ("pf_published", "a name of the C header"),
    ("pixel_read", "a read is a command of OpenGL"),
];

/// Names of a file's types, and the file's own, that say too little. Files of tests are named by what they test.
pub fn wrong(file: &Path, items: &[Item], is_product: bool) -> Vec<String> {
    let mut names = Vec::new();
    types(items, &mut names);
    if is_product {
        let name = match file.file_stem() {
            Some(stem) if stem == "mod" || stem == "main" => file.parent().and_then(Path::file_name),
            stem => stem,
        };
        names.extend(name.and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.retain(|name| says_too_little(name) && ALLOWED.iter().all(|(allowed, _)| allowed != name));
    names
}

fn types(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Struct(item) => names.push(item.ident.to_string()),
            Item::Enum(item) => names.push(item.ident.to_string()),
            Item::Union(item) => names.push(item.ident.to_string()),
            Item::Trait(item) => names.push(item.ident.to_string()),
            Item::Type(item) => names.push(item.ident.to_string()),
            Item::Mod(module) => types(module.content.as_ref().map_or(&[], |(_, items)| items), names),
            _ => {}
        }
    }
}

/// True for a name of one bare word, and for one whose last word is a participle. Words begin with a capital, or behind `_`.
fn says_too_little(name: &str) -> bool {
    let last = name.rfind(|c: char| c.is_uppercase() || c == '_').map_or(name, |at| name[at..].trim_start_matches('_'));
    let is = |word: &&str| word.eq_ignore_ascii_case(last);
    let ends_as_one = last.len() > 3 && (last.ends_with("ed") && !last.ends_with("eed") || last.ends_with("ing"));
    ALONE.iter().any(|word| word.eq_ignore_ascii_case(name))
        || PARTICIPLES.iter().any(is)
        || (ends_as_one && !NOUNS.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, text: &str) -> Vec<String> {
        wrong(Path::new(file), &syn::parse_file(text).unwrap().items, !file.starts_with("tests"))
    }

    #[test]
    fn participles_and_bare_words_are_no_names_of_types() {
        let text = "struct Held; enum RemoteAsked {} trait Taking {} type Row = u8; mod a { struct Made; union Way { a: u8 } }";
        assert_eq!(of("a/src/lib.rs", text), ["Held", "RemoteAsked", "Taking", "Row", "Made", "Way"]);
        let text =
            "struct HeldFrame; enum Speed {} trait Staging {} type BenchRow = u8; trait Sealed {} struct pf_published;";
        assert!(of("a/src/lib.rs", text).is_empty());
    }

    #[test]
    fn nor_of_files_except_tests() {
        for (file, name) in
            [("a/src/held.rs", "held"), ("a/src/remote_asked.rs", "remote_asked"), ("a/way/mod.rs", "way")]
        {
            assert_eq!(of(file, ""), [name]);
        }
        for file in ["a/src/held_frame.rs", "a/src/staging.rs", "a/src/rows.rs", "tests/held.rs"] {
            assert!(of(file, "").is_empty(), "{file}");
        }
    }

    #[test]
    fn the_list_of_names_that_stay_is_short_and_needed() {
        assert!(ALLOWED.len() <= 10);
        for (name, reason) in ALLOWED {
            assert!(says_too_little(name) && !reason.is_empty(), "{name}");
        }
    }
}
