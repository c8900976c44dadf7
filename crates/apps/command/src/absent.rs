//! Optional features of this program, and command-line words that need a feature which this build lacks.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use pixelferry_demo::complain;
use std::process::ExitCode;
use std::sync::LazyLock;

/// A feature, with the commands and options that it adds.
struct Feature {
    name: &'static str,
    is_built: bool,
    words: &'static [&'static str],
}

const FEATURES: &[Feature] = &[
    Feature { name: "bench", is_built: cfg!(feature = "bench"), words: &["bench", "--together"] },
    Feature { name: "exr", is_built: cfg!(feature = "exr"), words: &[] },
    Feature { name: "gl-compute", is_built: cfg!(feature = "gl-compute"), words: &[] },
    Feature { name: "manual", is_built: cfg!(feature = "manual"), words: &["completions", "man"] },
    Feature { name: "overlay", is_built: cfg!(feature = "overlay"), words: &["--plain", "--picture"] },
    Feature {
        name: "play",
        is_built: cfg!(feature = "play"),
        words: &["play", "--channel", "--set", "--step", "--limit"],
    },
    Feature { name: "serve", is_built: cfg!(feature = "serve"), words: &["--serve"] },
    #[cfg(target_os = "linux")]
    Feature { name: "stream", is_built: cfg!(feature = "stream"), words: &["streams", "--attach", "--publish"] },
    Feature { name: "view", is_built: cfg!(feature = "view"), words: &["view"] },
    Feature { name: "vulkan", is_built: cfg!(feature = "vulkan"), words: &[] },
    Feature { name: "wgpu", is_built: cfg!(feature = "wgpu"), words: &[] },
    Feature { name: "window", is_built: cfg!(feature = "window"), words: &[] },
];

/// The version, the commit (for a build from a clone), and the features.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let built: Vec<_> = FEATURES.iter().filter(|feature| feature.is_built).map(|feature| feature.name).collect();
    let features = if built.is_empty() { "no features".into() } else { format!("features {}", built.join(" ")) };
    let commit = option_env!("PIXELFERRY_COMMIT").map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    format!("{} ({commit}{features})", env!("CARGO_PKG_VERSION"))
});

/// Returns an error that names the missing feature and how to build with it, if `word` needs a feature that this build
/// lacks.
fn remedy(word: &str) -> Option<String> {
    let word = word.split('=').next()?;
    let feature = FEATURES.iter().find(|feature| !feature.is_built && feature.words.contains(&word))?;
    let name = feature.name;
    let asked: Vec<_> = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    Some(format!(
        "'{word}' needs the feature `{name}`, which this program was built without. In a clone of pixelferry:\n  \
         cargo run --release -p pixelferry-cli --features {name} -- {}",
        asked.join(" ")
    ))
}

/// Prints what clap has to print (help, the version or an error in the arguments) and returns the exit code for it.
pub fn end(error: clap::Error) -> ExitCode {
    let refused = match error.kind() {
        ErrorKind::InvalidSubcommand => error.get(ContextKind::InvalidSubcommand),
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        _ => None,
    };
    let remedy = match refused {
        Some(ContextValue::String(word)) => remedy(word),
        _ => None,
    };
    match remedy {
        Some(remedy) => complain!("error: {remedy}"),
        // Nobody reads a closed pipe, so a failure to write is ignored.
        None => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_feature_is_told() {
        let manifest = include_str!("../Cargo.toml");
        let features = manifest.split_once("[features]\n").unwrap().1.split_once("\n[").unwrap().0;
        let names = features.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
        let names: Vec<_> =
            names.filter_map(|line| Some(line.split_once(" =")?.0)).filter(|name| *name != "default").collect();
        let told: Vec<_> = FEATURES.iter().map(|feature| feature.name).collect();
        assert!(names.iter().all(|name| told.contains(name) || *name == "stream"), "{names:?}, and {told:?}");
    }

    #[test]
    fn a_word_is_known_or_its_feature_is_named() {
        let command = crate::Cli::command();
        let is_command = |word: &str| command.get_subcommands().any(|one| one.get_name() == word);
        let is_option = |word: &str| {
            let options = command.get_subcommands().flat_map(clap::Command::get_arguments);
            options.filter_map(clap::Arg::get_long).any(|long| word.strip_prefix("--") == Some(long))
        };
        for feature in FEATURES {
            for word in feature.words {
                assert_eq!(is_command(word) || is_option(word), feature.is_built, "{word}");
                let remedy = remedy(&format!("{word}=3"));
                assert_eq!(remedy.is_none(), feature.is_built, "{word}");
                assert!(remedy.is_none_or(|text| text.contains(&format!("--features {} -- ", feature.name))));
            }
        }
        assert_eq!(remedy("bunch"), None);
    }
}
