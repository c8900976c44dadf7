//! Groups the channels of an image into named arrays.

/// Returns the arrays of an image with their channels: first R, G, B and A together in this order, then those of each
/// layer such as `normal.R`, then each other channel alone.
pub fn sheets(image: &str, channels: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut sheets: Vec<(String, Vec<String>)> = Vec::new();
    for channel in channels {
        let layer = channel.rsplit_once('.').map_or("", |(layer, _)| layer);
        let of = |part: &str| if layer.is_empty() { part.to_owned() } else { format!("{layer}.{part}") };
        let colours = ["R", "G", "B", "A"].map(of);
        let are_there = colours.each_ref().map(|colour| channels.contains(&colour.as_str()));
        let is_colour = colours.iter().any(|colour| colour == channel) && are_there[..3] == [true; 3];
        let (part, taken) = match is_colour {
            true => (layer, colours.into_iter().zip(are_there).filter_map(|(c, is)| is.then_some(c)).collect()),
            false => (*channel, vec![(*channel).to_owned()]),
        };
        let is_alone = part.is_empty() || channels.len() == 1;
        let name = if is_alone { image.to_owned() } else { format!("{image}: {part}") };
        // A duplicate channel is found by its array's name.
        if !(is_colour && sheets.iter().any(|(other, _)| *other == name)) {
            sheets.push((name, taken));
        }
    }
    sheets.sort_by_key(|(name, channels)| (name != image, channels.len() == 1));
    sheets
}

#[test]
fn channels_that_are_a_colour_are_one_array() {
    let of = |channels: &[&str]| {
        let text = |(name, channels): (String, Vec<String>)| format!("{name}={}", channels.join(""));
        sheets("a", channels).into_iter().map(text).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(of(&["B", "G", "R"]), "a=RGB");
    assert_eq!(of(&["Z", "A", "R", "G", "B"]), "a=RGBA, a: Z=Z");
    assert_eq!(of(&["Y"]), "a=Y");
    assert_eq!(of(&["R", "G"]), "a: R=R, a: G=G");
    assert_eq!(of(&["A", "n.G", "n.B", "n.R", "R"]), "a: n=n.Rn.Gn.B, a: A=A, a: R=R");
}
