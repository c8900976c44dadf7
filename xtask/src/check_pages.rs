//! Checks the pages: links lead to existing files and headings, code blocks quote files verbatim, figures come from
//! samples, and links of the guide lead to the same places in the documentation of the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::figures;
use crate::repository;

/// Line before a code block that repeats lines of a file; the file's path from the root follows.
const QUOTES: &str = "<!-- lines of ";
/// Links to the pages that are modules of the crate's documentation, and where their links lead there.
const GUIDE: &str = "crates/framework/pixelferry/guide";
const LINKS: &str = "links.md";

pub fn run(root: &Path) -> Result<(), Error> {
    let mut pages = repository::tracked(root, &["*.md"])?;
    pages.retain(|name| !root.join(name).is_symlink());
    if pages.is_empty() {
        return Err(Error::NothingToCheck);
    }
    let ([links, quotes], mut wrong) = check(root, &pages)?;
    wrong.extend(figures::problems(root)?);
    wrong.extend(guide_problems(&root.join(GUIDE))?);
    wrong.iter().for_each(|line| println!("{line}"));
    if !wrong.is_empty() {
        return Err(Error::Pages(wrong.len()));
    }
    let words = words(root, &pages)?;
    println!(
        "{} pages of {words} words: {links} links lead somewhere, {quotes} code blocks are in their files, and figures \
         come from samples",
        pages.len()
    );
    Ok(())
}

/// Number of words of the existing pages.
pub fn words(root: &Path, pages: &[PathBuf]) -> Result<usize, Error> {
    let paths = pages.iter().map(|name| root.join(name)).filter(|path| path.exists() && !path.is_symlink());
    paths.map(|path| Ok(fs::read_to_string(&path).map_err(Error::file("read", path))?.split_whitespace().count())).sum()
}

/// Content of a page: the anchors of its headings, its links with their lines, labels of links with the targets that
/// its end defines, and its quotations.
#[derive(Debug, Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<(usize, String)>,
    definitions: Vec<(usize, String, String)>,
    quotes: Vec<Quote>,
}

/// A code block with lines of a file.
#[derive(Debug, Default)]
struct Quote {
    /// Line of the mark.
    line: usize,
    file: String,
    text: String,
}

/// Returns the numbers of links and of quotations, and a line for each problem.
fn check(root: &Path, pages: &[PathBuf]) -> Result<([usize; 2], Vec<String>), Error> {
    let (mut count, mut wrong) = ([0; 2], Vec::new());
    let mut read = BTreeMap::new();
    for name in pages {
        let path = root.join(name);
        // The file may be deleted in the working tree but not in the index.
        if path.exists() {
            read.insert(name, Page::read(&path)?);
        }
    }
    for (name, page) in &read {
        let defined = page.definitions.iter().filter(|(_, _, to)| is_relative(to)).map(|(line, _, to)| (line, to));
        for (line, link) in page.links.iter().map(|(line, to)| (line, to)).chain(defined) {
            count[0] += 1;
            if let Some(problem) = problem(&root.join(name), link, page)? {
                wrong.push(format!("{}:{line}: {link}: {problem}", name.display()));
            }
        }
        for quote in &page.quotes {
            count[1] += 1;
            if let Some(problem) = quote.problem(root)? {
                wrong.push(format!("{}:{}: {}: {problem}", name.display(), quote.line, quote.file));
            }
        }
    }
    Ok((count, wrong))
}

/// Checks that each link of the guide is defined at its page's end, and that the file of links has a definition for it
/// that leads to the same file.
fn guide_problems(folder: &Path) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    if !folder.exists() {
        return Ok(wrong);
    }
    let links = Page::read(&folder.join(LINKS))?.definitions;
    let links: BTreeMap<_, _> = links.iter().map(|(_, label, to)| (label, to)).collect();
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))?.flatten() {
        let path = entry.path();
        if !path.is_symlink() {
            continue;
        }
        let (page, name) = (Page::read(&path)?, entry.file_name().display().to_string());
        let mut say = |line: &usize, what: String| wrong.push(format!("{name}:{line}: {what}"));
        page.links.iter().for_each(|(line, to)| say(line, format!("{to}: define this link at the end of the page")));
        for (line, label, to) in &page.definitions {
            let file = to.split('#').next().unwrap_or_default().trim_start_matches("../");
            match links.get(label) {
                None => say(line, format!("[{label}]: {GUIDE}/{LINKS} does not define it")),
                Some(there) if there.contains("://") && !there.contains(file) => {
                    say(line, format!("[{label}]: {GUIDE}/{LINKS} leads elsewhere, to {there}"));
                }
                Some(_) => {}
            }
        }
    }
    Ok(wrong)
}

/// Returns the reason if a link of the page at `path` leads nowhere.
fn problem(path: &Path, link: &str, page: &Page) -> Result<Option<&'static str>, Error> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let to = path.with_file_name("").join(file);
    if !to.exists() {
        return Ok(Some("there is no such file"));
    }
    if anchor.is_empty() || !(file.is_empty() || file.ends_with(".md")) {
        return Ok(None);
    }
    let is_there =
        if file.is_empty() { page.anchors.contains(anchor) } else { Page::read(&to)?.anchors.contains(anchor) };
    Ok((!is_there).then_some("there is no such heading"))
}

impl Quote {
    /// Returns the reason if the file does not contain the lines in sequence.
    fn problem(&self, root: &Path) -> Result<Option<&'static str>, Error> {
        let path = root.join(&self.file);
        if !path.is_file() {
            return Ok(Some("there is no such file"));
        }
        if self.text.is_empty() {
            return Ok(Some("no code block follows"));
        }
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let is_there = format!("\n{text}").contains(&format!("\n{}", self.text));
        Ok((!is_there).then_some("the lines of the code block are not in the file"))
    }
}

impl Page {
    fn read(path: &Path) -> Result<Self, Error> {
        Ok(Self::of(&fs::read_to_string(path).map_err(Error::file("read", path))?))
    }

    fn of(text: &str) -> Self {
        let mut page = Self::default();
        let mut headings = BTreeMap::new();
        let (mut in_code, mut is_quoted) = (false, false);
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
                is_quoted &= in_code;
            } else if in_code {
                if let (true, Some(quote)) = (is_quoted, page.quotes.last_mut()) {
                    quote.text += line;
                    quote.text.push('\n');
                }
            } else if let Some(file) = line.strip_prefix(QUOTES).and_then(|rest| rest.strip_suffix(" -->")) {
                page.quotes.push(Quote { line: index + 1, file: file.to_owned(), text: String::new() });
                is_quoted = true;
            } else if let Some((label, to)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
                page.definitions.push((index + 1, label.to_owned(), to.to_owned()));
            } else if line.starts_with('#') {
                is_quoted = false;
                let slug = slug(line.trim_start_matches('#').trim());
                let earlier = headings.entry(slug.clone()).and_modify(|n| *n += 1).or_insert(0);
                page.anchors.insert(if *earlier == 0 { slug } else { format!("{slug}-{earlier}") });
            } else {
                is_quoted &= line.is_empty();
                page.links.extend(links(line).map(|link| (index + 1, link)));
            }
        }
        page
    }
}

/// Returns GitHub's anchor of a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the targets of a line's links, except web addresses and links in code.
fn links(line: &str) -> impl Iterator<Item = String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets: Vec<_> = targets.map(|(target, _)| target.to_owned()).collect();
    targets.into_iter().filter(|target| is_relative(target))
}

/// Returns whether a target is a file of the repository.
fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with("crate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_pages_are_counted_and_missing_pages_passed_over() {
        let folder = std::env::temp_dir().join(format!("pixelferry-words-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.md"), "# Top\n\nthree words more\n").unwrap();
        let found = words(&folder, &[PathBuf::from("a.md"), PathBuf::from("deleted.md")]);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), 5);
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let page = Page::of("# To add a ...\n## The demo's controls\n```\n# no heading\n```\n## Both\n## Both\n");
        let anchors: Vec<_> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["both", "both-1", "the-demos-controls", "to-add-a-"]);
    }

    #[test]
    fn links_are_found_outside_code() {
        let page =
            Page::of("a [b](c.md) and [`d`](e.md#f), `[g](h.md)`\n```\n[i](j.md)\n```\n![k](l.png) [m](https://n)");
        let links: Vec<_> = page.links.iter().map(|(line, link)| (*line, link.as_str())).collect();
        assert_eq!(links, [(1, "c.md"), (1, "e.md#f"), (5, "l.png")]);
    }

    #[test]
    fn what_leads_nowhere_is_told_with_its_line() {
        let folder = std::env::temp_dir().join(format!("pixelferry-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.md"), "# Top\n[b](b.md#there) [b](b.md#gone)\n[c](c.md) [top](#top) [no](#no)\n")
            .unwrap();
        fs::write(folder.join("b.md"), "## There\n").unwrap();
        let found = check(&folder, &[PathBuf::from("a.md"), PathBuf::from("b.md"), PathBuf::from("deleted.md")]);
        fs::remove_dir_all(&folder).unwrap();
        let (count, wrong) = found.unwrap();
        assert_eq!(count, [5, 0]);
        assert_eq!(
            wrong,
            [
                "a.md:2: b.md#gone: there is no such heading",
                "a.md:3: c.md: there is no such file",
                "a.md:3: #no: there is no such heading",
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_of_the_guide_are_defined_twice() {
        let folder = std::env::temp_dir().join(format!("pixelferry-guide-{}", std::process::id()));
        fs::create_dir_all(folder.join("guide")).unwrap();
        fs::write(folder.join("a.md"), "[b] [c] [d] [e](e.md)\n\n[b]: b.md\n[c]: ../c.rs#f\n[d]: d.md\n").unwrap();
        std::os::unix::fs::symlink("../a.md", folder.join("guide/a.md")).unwrap();
        fs::write(folder.join("guide/links.md"), "[b]: crate::b\n[c]: https://n/main/z.rs\n").unwrap();
        let found = guide_problems(&folder.join("guide"));
        fs::remove_dir_all(&folder).unwrap();
        let found = found.unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("a.md:1: e.md: define"), "{found:?}");
        assert!(found[1].starts_with("a.md:4: [c]: ") && found[1].ends_with("elsewhere, to https://n/main/z.rs"));
        assert!(found[2].starts_with("a.md:5: [d]: ") && found[2].ends_with("does not define it"), "{found:?}");
    }

    #[test]
    fn quotations_stand_in_their_files() {
        let folder = std::env::temp_dir().join(format!("pixelferry-quotes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), "//! A.\n\nfn a() {\n    b();\n}\n").unwrap();
        let quoted = |file: &str, code: &str| format!("<!-- lines of {file} -->\n```rust\n{code}\n```\n");
        let page = [
            quoted("a.rs", "fn a() {\n    b();\n}"),
            quoted("a.rs", "fn a() {\n}"),
            quoted("a.rs", "b();"),
            quoted("absent.rs", "b();"),
            "```\nother\n```\n<!-- lines of a.rs -->\nText.\n```\nb();\n```\n".into(),
        ];
        fs::write(folder.join("page.md"), page.concat()).unwrap();
        let found = check(&folder, &[PathBuf::from("page.md")]);
        fs::remove_dir_all(&folder).unwrap();
        let (count, wrong) = found.unwrap();
        assert_eq!(count, [0, 5]);
        assert_eq!(
            wrong,
            [
                "page.md:7: a.rs: the lines of the code block are not in the file",
                "page.md:12: a.rs: the lines of the code block are not in the file",
                "page.md:16: absent.rs: there is no such file",
                "page.md:23: a.rs: no code block follows",
            ]
        );
    }
}
