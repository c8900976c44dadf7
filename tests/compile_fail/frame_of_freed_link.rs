//! A frame cannot outlive its link.

fn main() {}

fn misuse(link: pixelferry::Link) -> pixelferry::Result<()> {
    let mut link = link;
    let frame = link.acquire()?;
    drop(link);
    frame.finish()
}
