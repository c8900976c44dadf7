//! Only one frame can be computed at a time.

fn main() {}

fn misuse(link: &mut pixelferry::Link) -> pixelferry::Result<()> {
    let first = link.acquire()?;
    let second = link.acquire()?;
    first.finish()?;
    second.finish()
}
