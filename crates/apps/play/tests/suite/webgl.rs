//! Texts of Shadertoy's beside WebGL2 in Chromium, which runs them as Shadertoy does: the same frame of each text in `examples/play`,
//! drawn by ANGLE on Mesa's OpenGL ES.

use crate::suite::isf_reasons::REASONS;
use crate::suite::shadertoy::BARE;
use crate::suite::worked::worked;
use crate::suite::{folder, opened, options};
use pixelferry::{BackendChoice, Extent};
use pixelferry_play::{Channel, PlayError, Player, PlayerOptions, SliderKind};
use pixelferry_testing::{CHROMIUM_FLAGS, Child, Need, chromium, need};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SIZE: Extent = Extent::new(320, 180);
const FRAMES: u32 = 6;
/// Inside the picture, with the button down since another place.
const MOUSE: [f32; 4] = [200.0, 100.0, 180.0, -90.0];

/// Most of the mean difference, in 255ths.
const MOST: f64 = 0.02;

/// The same of texts of others.
const MOST_OF_FOLDERS: f64 = 0.2;

/// Texts of this folder with this ending that are no buffers.
fn texts(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_text = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == ending)
            && (ending == "fs" || path.with_extension("").extension().is_none())
    };
    let mut texts: Vec<_> = entries.filter(is_text).collect();
    texts.sort();
    texts
}

fn played(file: &Path) -> Option<Result<Player, PlayError>> {
    let mut options = PlayerOptions { size: SIZE, ..options(file, BackendChoice::Gl) };
    if file.extension().is_some_and(|ending| ending == "fs") {
        let picture = file.with_file_name("picture.png").to_string_lossy().into_owned();
        let channel = Channel::read(&format!("{picture} linear clamp"), Path::new("")).unwrap();
        options.wishes.channels = (0..4).map(|at| (at, channel.clone())).collect();
    }
    let opened = opened(options, BackendChoice::Gl, Need::Egl)?;
    Some(opened.and_then(|mut player| {
        player.mouse = MOUSE;
        player.rewind();
        (0..FRAMES).for_each(|_| player.frame(true));
        if player.faults().is_empty() { Ok(player) } else { Err(PlayError::Faults(player.faults().to_vec())) }
    }))
}

/// Red, green and blue of each pixel, in rows from the bottom.
fn rows(player: &mut Player) -> Vec<u8> {
    let bytes = player.picture().unwrap().into_raw();
    let rows = bytes.chunks_exact(4 * SIZE.width as usize).rev();
    rows.flat_map(|row| row.chunks_exact(4)).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// The passes of a text for the page: its buffers, and the picture last.
fn passes(file: &Path, player: Option<&mut Player>) -> Value {
    let buffers: Vec<_> = ('A'..='D').map(|letter| file.with_extension(format!("buf{letter}.glsl"))).collect();
    let buffers: Vec<_> = buffers.into_iter().filter(|file| file.is_file()).collect();
    let common = std::fs::read_to_string(file.with_extension("common.glsl")).unwrap_or_default();
    let mut sliders = String::new();
    for slider in player.map(|player| player.sliders().0).unwrap_or_default() {
        let (kind, value) = if slider.kind == SliderKind::Float { ("float", "float") } else { ("int", "int") };
        sliders += &format!("const {kind} {} = {value}({:?});\n", slider.name, slider.value);
    }
    let pass = |file: &PathBuf, is_buffer: bool| {
        let text = std::fs::read_to_string(file).unwrap();
        let channels: Vec<_> = (0..4).map(|at| channel(&text, at, file.parent().unwrap())).collect();
        json!({ "text": sliders.clone() + &common + &text, "isBuffer": is_buffer, "channels": channels })
    };
    let mut passes: Vec<_> = buffers.iter().map(|file| pass(file, true)).collect();
    passes.push(pass(&file.to_path_buf(), false));
    json!(passes)
}

/// What `@channel` says of a channel: a buffer by its place, or a picture by its pixels.
fn channel(text: &str, at: usize, folder: &Path) -> Value {
    let mark = format!("@channel {at} ");
    let Some((_, noted)) = text.lines().find_map(|line| line.split_once(&mark)) else { return Value::Null };
    let (source, words) = noted.split_once(' ').unwrap_or((noted, ""));
    let is = |word| words.split_whitespace().any(|w| w == word);
    if let Some(letter) = source.strip_prefix("buf") {
        let place = u32::from(letter.as_bytes()[0] - b'A');
        return json!({ "pass": place, "isLinear": !is("nearest"), "repeats": is("repeat") });
    }
    let picture = image::open(folder.join(source)).unwrap().flipv().to_rgba8();
    let size = [picture.width(), picture.height()];
    let has_levels = !is("nearest") && !is("linear");
    json!({ "pixels": hex(&picture), "size": size, "isLinear": !is("nearest"), "repeats": !is("clamp"), "hasLevels": has_levels })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What draws texts, and the pixels of each; each may fail, and all.
type PagePictures = Result<(String, Vec<Result<Vec<u8>, String>>), String>;

/// What the page says of these texts: what draws them, and the pixels of each, or why there are none.
fn drawn(program: &str, texts: &[Value]) -> PagePictures {
    on_page(program, include_str!("webgl.html"), &json!({ "mouse": MOUSE }), texts)
}

/// The same of any page, with more data.
fn on_page(program: &str, page: &str, more: &Value, texts: &[Value]) -> PagePictures {
    let folder = folder("webgl");
    let mut data = json!({ "size": [SIZE.width, SIZE.height], "frames": FRAMES, "step": 0.25, "texts": texts });
    more.as_object().unwrap().iter().for_each(|(name, value)| data[name] = value.clone());
    let data = data.to_string().replace('<', "\\u003c");
    std::fs::write(folder.join("page.html"), page.replacen("DATA", &data, 1)).unwrap();
    let (page, profile) = (folder.join("page.html"), folder.join("profile"));
    let [page, profile] = [format!("file://{}", page.display()), format!("--user-data-dir={}", profile.display())];
    // Drawing by the processor takes as long as it takes.
    let own = [
        "--disable-gpu-watchdog",
        "--ignore-gpu-blocklist",
        "--use-gl=angle",
        "--use-angle=gl-egl",
        "--dump-dom",
        &profile,
        &page,
    ];
    let ended = Child::of_program(program, &[&CHROMIUM_FLAGS[..], &own].concat()).run().map_err(|e| e.to_string())?;
    let said = ended.output.split_once("<pre id=\"said\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (said, _) = said.ok_or_else(|| format!("{}: {}", ended.how(), ended.output))?;
    let mut lines = said.lines();
    let renderer = lines.next().unwrap_or("nothing").to_owned();
    if !renderer.contains("llvmpipe") {
        return Err(format!("WebGL2 is drawn by {renderer}, not by Mesa's llvmpipe"));
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes =
        |line: &str| line.as_bytes().chunks(2).map(byte).collect::<Option<Vec<_>>>().ok_or_else(|| line.to_owned());
    let pictures: Vec<_> = lines.map(bytes).collect();
    assert_eq!(pictures.len(), texts.len(), "{renderer}");
    Ok((renderer, pictures))
}

/// Mean and largest difference of a part, in 255ths, and the share of pixels that differ at all.
fn difference(ours: &[u8], theirs: &[u8]) -> (f64, u8, f64) {
    assert_eq!(ours.len(), theirs.len());
    let parts: Vec<u8> = ours.iter().zip(theirs).map(|(a, b)| a.abs_diff(*b)).collect();
    let sum: f64 = parts.iter().map(|part| f64::from(*part)).sum();
    let differing = parts.chunks_exact(3).filter(|pixel| pixel.iter().any(|part| *part > 0)).count();
    (sum / parts.len() as f64, parts.iter().copied().max().unwrap_or(0), 3.0 * differing as f64 / parts.len() as f64)
}

#[test]
fn each_text_is_the_picture_that_webgl_draws() {
    let Some(program) = need(Need::Chromium, chromium()) else { return };
    let own = folder("webgl-bare");
    BARE.iter().for_each(|(name, text)| std::fs::write(own.join(name), text).unwrap());
    let files = [texts(&own, "glsl"), texts(&worked(""), "glsl"), texts(&worked("others"), "glsl")].concat();
    assert!(files.len() > 16, "{files:?}");
    let (mut ours, mut pages) = (Vec::new(), Vec::new());
    for file in &files {
        let Some(player) = played(file) else { return };
        let mut player = player.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        ours.push(rows(&mut player));
        pages.push(passes(file, Some(&mut player)));
    }
    // What is drawn otherwise must be told apart.
    let last = pages[files.len() - 1].to_string();
    let changed = last.replace("fragColor = vec4(", "fragColor = vec4(0.02) + vec4(");
    assert_ne!(changed, last);
    pages.push(serde_json::from_str(&changed).unwrap());
    let Some((renderer, theirs)) = need(Need::Chromium, drawn(&program, &pages)) else { return };
    let theirs: Vec<_> = theirs.into_iter().map(|theirs| theirs.unwrap_or_else(|said| panic!("{said}"))).collect();
    println!("{renderer}\n| text | mean, 255ths | max | pixels that differ |\n|---|---|---|---|");
    let mut wrong = Vec::new();
    for (file, (ours, theirs)) in files.iter().zip(ours.iter().zip(&theirs)) {
        let name = file.file_name().unwrap().to_string_lossy();
        let (mean, max, share) = difference(ours, theirs);
        println!("| {name} | {mean:.4} | {max} | {:.2} % |", 100.0 * share);
        if mean >= MOST {
            wrong.push(format!("{name}: {mean:.3} of {MOST}"));
        }
    }
    let (mean, ..) = difference(&ours[files.len() - 1], &theirs[files.len()]);
    println!("The last text differs by {mean:.4} where it is changed.");
    assert!(mean >= 1.0, "a changed text differs by {mean} only");
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// ISF's renderer for browsers, from the folder of the package `interactive-shader-format` of npm.
fn isf_modules(folder: &Path) -> Value {
    let mut modules = serde_json::Map::new();
    for part in ["lib", "vendor"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
            modules.insert(format!("{part}/{name}"), std::fs::read_to_string(&entry).unwrap().into());
        }
    }
    modules.into()
}

type RowPicture = Result<Vec<u8>, String>;

/// Prints a row of the table. Returns whether the pictures agree; `None` without a picture to compare with.
fn row(name: &str, ours: &RowPicture, theirs: &RowPicture) -> Option<bool> {
    let first = |said: &str| said.chars().take(90).collect::<String>().replace('\n', " ");
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let (mean, max, share) = difference(ours, theirs);
            let is_constant = |rows: &[u8]| rows.chunks_exact(3).all(|pixel| pixel == &rows[..3]);
            let remark = if is_constant(ours) && !is_constant(theirs) { "one colour" } else { "" };
            println!("| {name} | {mean:.4} | {max} | {:.2} % | {remark} |", 100.0 * share);
            return Some(mean <= MOST_OF_FOLDERS);
        }
        (Err(ours), Ok(_)) => {
            println!("| {name} | | | | refused: {} |", first(ours));
            return Some(false);
        }
        (Ok(_), Err(theirs)) => println!("| {name} | | | | the browser refuses: {} |", first(theirs)),
        (Err(ours), Err(_)) => println!("| {name} | | | | both refuse: {} |", first(ours)),
    }
    None
}

/// Both pictures of a text of ISF, after changes of the text and of the page.
fn isf_pictures(file: &Path, program: &str, more: &Value, change: (&str, &[(&str, &str)])) -> Option<[RowPicture; 2]> {
    let read = |ending: &str| {
        let text = std::fs::read(file.with_extension(ending)).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Some(change.1.iter().fold(text, |text, (from, to)| text.replace(from, to)))
    };
    let [fragment, vertex] = ["fs", "vs"].map(read);
    let mut own = file.to_owned();
    if !change.1.is_empty() {
        own = file.with_file_name("changed").join(file.file_name().unwrap());
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::copy(file.with_file_name("picture.png"), own.with_file_name("picture.png")).unwrap();
        std::fs::write(&own, fragment.as_ref().unwrap()).unwrap();
        vertex.iter().for_each(|vertex| std::fs::write(own.with_extension("vs"), vertex).unwrap());
    }
    let mut played = played(&own)?;
    let ours = played.as_mut().map(rows).map_err(|error| error.to_string());
    let (mut more, page) = (more.clone(), json!({ "fragment": fragment, "vertex": vertex }));
    more["change"] = change.0.into();
    let theirs = on_page(program, include_str!("isf.html"), &more, &[page]).and_then(|mut drawn| drawn.1.remove(0));
    Some([ours, theirs])
}

/// `PIXELFERRY_TEXTS=FOLDER cargo test -p pixelferry-play of_a_folder -- --ignored --nocapture` compares the texts of a folder, whatever
/// they are, and prints a table. ISF needs `PIXELFERRY_ISF_JS`, the folder of ISF's renderer for browsers (`npm pack
/// interactive-shader-format`).
#[test]
#[ignore = "compares texts of PIXELFERRY_TEXTS, a folder"]
fn texts_of_a_folder_beside_a_browser() {
    let Some(folder) = std::env::var_os("PIXELFERRY_TEXTS").map(PathBuf::from) else { return };
    let Some(program) = need(Need::Chromium, chromium()) else { return };
    println!("| text | mean, 255ths | max | pixels that differ | |\n|---|---|---|---|---|");
    let one = |drawn: PagePictures| drawn?.1.remove(0);
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    for file in texts(&folder, "glsl") {
        let Some(mut played) = played(&file) else { return };
        let page = passes(&file, played.as_mut().ok());
        let ours = played.as_mut().map(rows).map_err(|error| error.to_string());
        row(&name(&file), &ours, &one(drawn(&program, &[page])));
    }
    let Some(modules) = std::env::var_os("PIXELFERRY_ISF_JS").map(|folder| isf_modules(Path::new(&folder))) else {
        return;
    };
    let picture = image::RgbaImage::from_fn(SIZE.width, SIZE.height, |x, y| {
        image::Rgba([x as u8, (y + 40) as u8, if (x / 40 + y / 40) % 2 == 0 { 220 } else { 30 }, 255])
    });
    picture.save(folder.join("picture.png")).unwrap();
    let more = json!({ "modules": modules, "picture": hex(&picture) });
    let (mut agree, mut explained, mut alone, mut others) = (0, 0, 0, Vec::new());
    for file in texts(&folder, "fs") {
        let Some([ours, theirs]) = isf_pictures(&file, &program, &more, ("", &[])) else { return };
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let is_same = row(&name(&file), &ours, &theirs);
        if is_same != Some(false) {
            *(if is_same.is_some() { &mut agree } else { &mut alone }) += 1;
            continue;
        }
        let reason = REASONS.iter().find(|reason| reason.files.contains(&&*stem));
        let experiment = reason.and_then(|of| isf_pictures(&file, &program, &more, (of.page, of.replaced)));
        match reason.zip(experiment) {
            Some((of, [ours, theirs]))
                if row(&format!("- {stem}: {}", of.reasons.join("; ")), &ours, &theirs) == Some(true) =>
            {
                explained += 1;
            }
            _ => others.push(stem),
        }
    }
    println!("{agree} agree, {explained} rows with a reason, {} without: {others:?}", others.len());
    println!("The browser refuses {alone} texts.");
    assert!(others.is_empty());
}
