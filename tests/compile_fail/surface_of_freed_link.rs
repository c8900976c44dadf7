//! What is drawn cannot outlive its link.

fn main() {}

fn misuse(link: pixelferry::Link) -> pixelferry::Result<()> {
    let surface = link.shown()?.surface();
    drop(link);
    println!("{}", surface.desc());
    Ok(())
}
