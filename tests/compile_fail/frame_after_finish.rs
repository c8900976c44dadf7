//! A finished frame cannot be written.

fn main() {}

fn misuse(link: &mut pixelferry::Link, pixels: &[u8]) -> pixelferry::Result<()> {
    let mut frame = link.acquire()?;
    frame.finish()?;
    frame.write(pixels)
}
