//! Keeps the pages true: what they link to is there, and the page of public names lists those of the facade, no more and no less. Counts the examples of
//! public types.

mod examples;
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
    let (examples, lacking) = examples::check(root)?;
    wrong.extend(lacking);
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        println!("{} pages: {links} links lead somewhere; {names} public names are listed", pages.len());
        println!("{} of {} public types have an example", examples.with, examples.all);
        return Ok(());
    }
    Err(Error::Pages(wrong.len()))
}
