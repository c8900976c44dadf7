//! The sample picture and clip: a lake among mountains at dusk, rendered by this crate and owing nothing to anybody.
//!
//! The same scene seen by one camera gives both. All of it is a function of constants in these files, so a
//! machine renders the same bytes every time; another machine's `sin` or `exp` may differ in the last bit.

mod camera;
mod clip;
mod film;
mod math;
mod noise;
mod pines;
mod scene;
mod sky;
mod terrain;

use std::fs;
use std::path::Path;

use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;

use crate::error::Error;
use camera::Shot;
use terrain::Terrain;

const PICTURE: Shot = Shot { width: 1280, height: 720, yaw: 0.02, half_width: 0.62, time: 0.0, frame: 0 };
const QUALITY: u8 = 90;

/// Writes `lake.jpg` and `clip.y4m` into `folder`, which is made if need be.
pub fn write_all(folder: &Path) -> Result<(), Error> {
    let land = Terrain::new();
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    write(&folder.join("lake.jpg"), |path| picture(&land, path))?;
    write(&folder.join("clip.y4m"), |path| clip::render(&land, path))
}

fn write(path: &Path, render: impl Fn(&Path) -> Result<Vec<u8>, Error>) -> Result<(), Error> {
    let bytes = render(path)?;
    fs::write(path, &bytes).map_err(Error::file("write", path))?;
    println!("{:9} bytes  {}", bytes.len(), path.display());
    Ok(())
}

fn picture(land: &Terrain, path: &Path) -> Result<Vec<u8>, Error> {
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY)
        .encode(&camera::expose(land, &PICTURE), PICTURE.width, PICTURE.height, ExtendedColorType::Rgb8)
        .map_err(|source| Error::Picture { path: path.to_owned(), source })?;
    Ok(jpeg)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static LAND: LazyLock<Terrain> = LazyLock::new(Terrain::new);

    const SMALL: Shot = Shot { width: 64, height: 36, ..PICTURE };

    #[test]
    fn the_same_shot_gives_the_same_bytes_and_another_does_not() {
        let first = camera::expose(&LAND, &SMALL);
        assert_eq!(first.len(), 64 * 36 * 3);
        assert_eq!(first, camera::expose(&LAND, &SMALL));
        assert_ne!(first, camera::expose(&LAND, &Shot { frame: 1, ..SMALL }));
    }

    #[test]
    fn the_picture_has_lights_and_darks() {
        let rgb = camera::expose(&LAND, &SMALL);
        let dark = rgb.iter().filter(|&&code| code < 40).count();
        let light = rgb.iter().filter(|&&code| code > 200).count();
        assert!(dark > rgb.len() / 50, "{dark} dark codes of {}", rgb.len());
        assert!(light > rgb.len() / 50, "{light} light codes of {}", rgb.len());
    }
}
