//! `pixelferry completions` and `pixelferry man`: shell completion and manual pages.

use crate::json::print;
use clap::Command;
use clap_complete::Shell;
use pixelferry_demo::terminal::Output;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

const NAME: &str = "pixelferry";

#[derive(clap::Args)]
pub struct CompletionsOptions {
    /// Shell to complete for, e.g. `pixelferry completions bash >
    /// ~/.local/share/bash-completion/completions/pixelferry`.
    shell: Shell,
}

#[derive(clap::Args)]
pub struct ManOptions {
    /// Folder for the pages, e.g. `~/.local/share/man/man1`; it is created if missing.
    folder: PathBuf,
}

/// Prints the completion script for a shell.
pub fn complete(options: &CompletionsOptions, command: &mut Command) -> Result<(), Box<dyn Error>> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, command, NAME, &mut text);
    print(&mut Output, &String::from_utf8(text)?)
}

/// Writes a page for the command and one for each subcommand, and prints where they are.
pub fn write(options: &ManOptions, command: Command) -> Result<(), Box<dyn Error>> {
    let folder = &options.folder;
    let failed = |error: std::io::Error| format!("cannot write manual pages to {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    let (first, folder) = (folder.join("pixelferry.1"), folder.display());
    print(&mut Output, &format!("manual pages are in {folder}; `man -l {}` shows the first\n", first.display()))
}
