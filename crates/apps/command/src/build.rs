//! Build script: passes the current commit to the command when it is built from a clone of this repository.

use std::process::Command;

/// Runs git in this package's folder; `None` if git is missing or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|words| !words.is_empty())
}

fn main() {
    // A package that was unpacked inside another repository is not tracked there.
    if git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
        return;
    }
    let head = git(&["symbolic-ref", "--quiet", "HEAD"]);
    // A packed branch has no file of its own until its next commit; the log of HEAD changes with that commit.
    let names = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(head.as_deref());
    for file in names.filter_map(|name| git(&["rev-parse", "--git-path", name])) {
        if std::path::Path::new(&file).exists() {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) {
        println!("cargo::rustc-env=PIXELFERRY_COMMIT={commit}");
    }
}
