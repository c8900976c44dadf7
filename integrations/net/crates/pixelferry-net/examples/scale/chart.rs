//! Lines with bands as SVG, both axes logarithmic.

use std::fmt::Write as _;

/// One line: its name, and for each x the least, the usual and the greatest y.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, [f64; 3])>,
}

/// One chart.
pub struct Chart {
    pub title: &'static str,
    pub x: &'static str,
    pub y: &'static str,
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 330.0;
/// Around the axes: left, top, right, bottom.
const MARGIN: [f64; 4] = [58.0, 44.0, 18.0, 50.0];
const COLOURS: [&str; 5] = ["#1b6ca8", "#c4532d", "#2f8f5b", "#7a4fa3", "#8a6d1d"];

/// Charts beside each other.
pub fn svg(charts: &[Chart]) -> String {
    let width = WIDTH * charts.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (at, chart) in charts.iter().enumerate() {
        let _ = writeln!(text, "<g transform=\"translate({} 0)\">", WIDTH * at as f64);
        draw(chart, &mut text);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

/// From values to places on one axis.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0f64);
        for value in values.filter(|value| *value > 0.0) {
            (least, most) = (least.min(value), most.max(value));
        }
        Self { least, most: most.max(least * 2.0), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.max(self.least) / self.least).ln() / (self.most / self.least).ln();
        self.from + (self.to - self.from) * part
    }

    /// 1, 2, 5, 10 and so on, or only every power of ten where there are many.
    fn ticks(&self) -> Vec<f64> {
        let steps: &[f64] = if self.most / self.least > 500.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.least.log10().floor() as i32..=self.most.log10().ceil() as i32;
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        all.filter(|tick| (self.least * 0.999..=self.most * 1.001).contains(tick)).collect()
    }
}

fn draw(chart: &Chart, text: &mut String) {
    let [left, top, right, bottom] = MARGIN;
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let x = Axis::new(points().map(|point| point.0), left, WIDTH - right);
    let y = Axis::new(points().flat_map(|point| point.1), HEIGHT - bottom, top);
    let mut put = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    put(format!("<text x=\"{left}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{}</text>", chart.title));
    for tick in x.ticks() {
        let at = x.at(tick);
        put(format!("<path d=\"M{at:.1} {top}V{}\" stroke=\"#ddd\"/>", HEIGHT - bottom));
        put(format!("<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>", HEIGHT - bottom + 15.0));
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        put(format!("<path d=\"M{left} {at:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - right));
        put(format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", left - 6.0, at + 4.0));
    }
    let middle = (left + WIDTH - right) / 2.0;
    put(format!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>", HEIGHT - 14.0, chart.x));
    let middle = (top + HEIGHT - bottom) / 2.0;
    put(format!("<text transform=\"translate(14 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>", chart.y));
    for (at, (line, colour)) in chart.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let place = |side: usize| line.points.iter().map(move |point| (point.0, point.1[side]));
        let path = |places: &mut dyn Iterator<Item = (f64, f64)>| {
            let mut path = String::new();
            for (px, py) in places {
                let _ = write!(path, "{}{:.1} {:.1}", if path.is_empty() { "M" } else { "L" }, x.at(px), y.at(py));
            }
            path
        };
        let back = place(2).collect::<Vec<_>>();
        let around = path(&mut place(0).chain(back.into_iter().rev()));
        put(format!("<path d=\"{around}Z\" fill=\"{colour}\" fill-opacity=\"0.15\"/>"));
        put(format!("<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>", path(&mut place(1))));
        let (key_x, key_y) = (left + 10.0 + 100.0 * (at % 4) as f64, 34.0);
        put(format!("<path d=\"M{key_x} {}h16\" stroke=\"{colour}\" stroke-width=\"3\"/>", key_y - 4.0));
        put(format!("<text x=\"{}\" y=\"{key_y}\">{}</text>", key_x + 20.0, line.name));
    }
}
