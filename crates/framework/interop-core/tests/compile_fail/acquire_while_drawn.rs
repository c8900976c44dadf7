//! A frame cannot be computed while one is being drawn.

fn main() {}

fn misuse(link: &mut interop_core::Link) -> interop_core::Result<()> {
    let shown = link.shown()?;
    let frame = link.acquire()?; //~ E0502
    println!("{}", shown.desc());
    frame.finish()
}
