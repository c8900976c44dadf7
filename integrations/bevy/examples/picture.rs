//! A picture of pixelferry as a sprite of bevy 0.20.

use bevy::prelude::*;
use engine_picture::{AT, BACKGROUND, EXTENT, LAST_FRAME, WINDOW, source, tell};
// glue
use pixelferry::{Arg, DrawOptions, Kernel, LinkBuilder, OpenedLink, PixelFormat, Scratch, SurfaceDesc};
use pixelferry_bevy::{Picture, PixelferryPlugin, Screen};

#[derive(Resource)]
struct Weave {
    kernel: std::sync::Arc<dyn Kernel>,
    picture: Picture,
    // end of glue
    frame: u32,
}

fn open(world: &mut World) -> Result {
    // glue
    let screen = world.resource::<Screen>().clone();
    let surface = SurfaceDesc::image(EXTENT.width, EXTENT.height, PixelFormat::Rgba8);
    let builder = LinkBuilder::new(surface).launch(&source(), [Scratch::U32(0)]).shown_by(&screen.display());
    let OpenedLink { mut kernels, link, .. } = builder.open()?;
    let mut images = world.resource_mut::<Assets<Image>>();
    let (kernel, mut picture) = (kernels.remove(0), Picture::new(&screen, &mut images, link)?);
    let sprite = Sprite::from_image(picture.image());
    // end of glue
    tell(picture.link());
    // bevy's origin is the window's centre, and its y axis points up.
    let x = AT[0] as f32 + 0.5 * (EXTENT.width as f32 - WINDOW.width as f32);
    let y = 0.5 * (WINDOW.height as f32 - EXTENT.height as f32) - AT[1] as f32;
    world.spawn((sprite, Transform::from_xyz(x, y, 0.0)));
    world.spawn((Camera2d, Msaa::Off));
    world.insert_resource(Weave { kernel, picture, frame: 0 });
    Ok(())
}

fn compute(mut weave: ResMut<'_, Weave>, mut images: ResMut<'_, Assets<Image>>) -> Result {
    let Weave { kernel, picture, frame } = &mut *weave;
    *frame = (*frame + 1).min(LAST_FRAME);
    // glue
    picture.link().frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(*frame)]))?;
    picture.show(&mut images, DrawOptions::default())?;
    // end of glue
    Ok(())
}

fn main() -> AppExit {
    let resolution = [WINDOW.width, WINDOW.height].into();
    let window = WindowPlugin { primary_window: Some(Window { resolution, ..default() }), ..default() };
    let [red, green, blue] = BACKGROUND;
    App::new()
        // glue
        .add_plugins(PixelferryPlugin)
        // end of glue
        .add_plugins(DefaultPlugins.set(window).set(ImagePlugin::default_nearest()))
        .insert_resource(ClearColor(Color::srgb_u8(red, green, blue)))
        .add_systems(Startup, open)
        .add_systems(Update, compute)
        .run()
}
