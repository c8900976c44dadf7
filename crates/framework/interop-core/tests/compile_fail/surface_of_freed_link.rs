//! A drawn surface cannot outlive its link.

fn main() {}

fn misuse(link: interop_core::Link) -> interop_core::Result<()> {
    let surface = link.shown()?.surface();
    drop(link); //~ E0505
    println!("{}", surface.desc());
    Ok(())
}
