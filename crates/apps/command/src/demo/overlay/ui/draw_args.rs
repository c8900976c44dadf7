//! Controls of how the picture is drawn.

use super::controls::pick;
use super::theme::{BOX, DIM, NAMES, cell};
use crate::demo::overlay::draw_args::{DrawPart, idle};
use crate::demo::overlay::player::{Action, Player};
use egui::{Label, RichText, Slider, SliderClamping, Ui};
use pixelferry::{Fit, ToneMap};
use pixelferry_demo::DrawArgs;

/// Range of the slider in stops; the command line accepts more.
const STOPS: f32 = 8.0;
/// Background colour when it is first switched on, as sRGB.
const COLOUR: [f32; 3] = [0.25, 0.27, 0.33];
const MAPS: [ToneMap; 6] = [
    ToneMap::None,
    ToneMap::Clamp,
    ToneMap::Reinhard { white: f32::INFINITY },
    ToneMap::Reinhard { white: 4.0 },
    ToneMap::AcesHill,
    ToneMap::AcesNarkowicz,
];

pub fn show(ui: &mut Ui, player: &mut Player, actions: &mut Vec<Action>) {
    let (asked, desc) = (*player.draw_args(), *player.scene().link().desc());
    let mut draw_args = asked;
    let mut reasons: Vec<&str> = Vec::new();
    let mut part = |ui: &mut Ui, part: DrawPart, contents: &mut dyn FnMut(&mut Ui)| {
        let reason = idle(part, &desc, &asked);
        let inner = ui.add_enabled_ui(reason.is_none(), |ui| ui.horizontal(contents)).response;
        if let Some(reason) = reason {
            inner.on_disabled_hover_text(reason);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    };
    ui.horizontal(|ui| {
        name(ui, "fit");
        part(ui, DrawPart::Fit, &mut |ui| pick(ui, "fit", 100.0, &mut draw_args.fit, &Fit::ALL, Fit::to_string));
        part(ui, DrawPart::Background, &mut |ui| background(ui, &mut draw_args));
    });
    ui.horizontal(|ui| {
        name(ui, "tone map");
        part(ui, DrawPart::Light, &mut |ui| tone_map(ui, &mut draw_args));
    });
    ui.horizontal(|ui| {
        name(ui, "exposure");
        part(ui, DrawPart::Light, &mut |ui| exposure(ui, &mut draw_args));
    });
    for reason in reasons {
        ui.add(Label::new(RichText::new(reason).small().color(DIM)).wrap());
    }
    if draw_args != asked {
        actions.push(Action::Draw(draw_args));
    }
}

fn name(ui: &mut Ui, name: &str) {
    cell(ui, NAMES, RichText::new(name).color(DIM));
}

fn background(ui: &mut Ui, draw_args: &mut DrawArgs) {
    let mut own = draw_args.background.is_some();
    ui.checkbox(&mut own, "behind").on_hover_text("A colour beside the picture and behind translucent pixels");
    if own != draw_args.background.is_some() {
        draw_args.background = own.then_some(COLOUR);
    }
    if let Some(colour) = &mut draw_args.background {
        let mut bytes = colour.map(|v| (v * 255.0 + 0.5) as u8);
        if ui.color_edit_button_srgb(&mut bytes).changed() {
            *colour = bytes.map(|byte| f32::from(byte) / 255.0);
        }
    }
}

fn tone_map(ui: &mut Ui, draw_args: &mut DrawArgs) {
    // A tone map from the command line may be missing in the list.
    let mut maps = MAPS.to_vec();
    if !maps.contains(&draw_args.tone_map) {
        maps.push(draw_args.tone_map);
    }
    pick(ui, "tone map", BOX, &mut draw_args.tone_map, &maps, ToneMap::to_string);
}

fn exposure(ui: &mut Ui, draw_args: &mut DrawArgs) {
    ui.spacing_mut().slider_width = 120.0;
    let slider = Slider::new(&mut draw_args.exposure, -STOPS..=STOPS).clamping(SliderClamping::Edits);
    ui.add(slider.step_by(0.1).fixed_decimals(1).suffix(" stops"));
}
