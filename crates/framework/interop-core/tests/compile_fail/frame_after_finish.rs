//! A finished frame cannot be written.

fn main() {}

fn misuse(link: &mut interop_core::Link, pixels: &[u8]) -> interop_core::Result<()> {
    let mut frame = link.acquire()?;
    frame.finish()?;
    frame.write(pixels) //~ E0382
}
