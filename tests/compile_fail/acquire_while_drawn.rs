//! A frame cannot be computed while one is being drawn.

fn main() {}

fn misuse(link: &mut pixelferry::Link) -> pixelferry::Result<()> {
    let shown = link.shown()?;
    let frame = link.acquire()?;
    println!("{}", shown.desc());
    frame.finish()
}
