//! A frame cannot outlive its link.

fn main() {}

fn misuse(link: interop_core::Link) -> interop_core::Result<()> {
    let mut link = link;
    let frame = link.acquire()?;
    drop(link); //~ E0505
    frame.finish()
}
