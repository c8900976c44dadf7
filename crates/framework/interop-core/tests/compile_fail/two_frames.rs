//! Only one frame can be computed at a time.

fn main() {}

fn misuse(link: &mut interop_core::Link) -> interop_core::Result<()> {
    let first = link.acquire()?;
    let second = link.acquire()?; //~ E0499
    first.finish()?;
    second.finish()
}
