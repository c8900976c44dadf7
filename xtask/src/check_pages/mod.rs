//! Keeps the pages true: what they link to is there, and the page of public names lists those of the facade, no more and no less.

mod links;
mod names;

use std::path::Path;

use crate::error::Error;
use crate::repository;

pub fn run(root: &Path) -> Result<(), Error> {
    let pages = repository::tracked(root, &["*.md"])?;
    if pages.is_empty() {
        return Err(Error::NothingToCheck);
    }
    let (links, mut wrong) = links::check(root, &pages)?;
    let (names, unlisted) = names::check(root)?;
    wrong.extend(unlisted);
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        println!("{} pages: {links} links lead somewhere; {names} public names are listed", pages.len());
        return Ok(());
    }
    Err(Error::Pages(wrong.len()))
}
