//! Tests of the contrast of both themes (WCAG 2.2, 1.4.3 and 1.4.11).

use std::collections::BTreeMap;

use super::{STYLE, svg};

/// All colors by their names, of one theme.
type Theme = BTreeMap<String, [f64; 3]>;

/// Reads `--name: light-dark(#rrggbb, #rrggbb);`.
fn themes() -> [Theme; 2] {
    let mut themes = [Theme::new(), Theme::new()];
    for line in [svg::STYLE, STYLE].iter().flat_map(|style| style.lines()) {
        let Some((name, colors)) = line.trim().split_once(": light-dark(") else { continue };
        let colors = colors.trim_end_matches(");").split(", ");
        for (theme, color) in themes.iter_mut().zip(colors) {
            let channel = |offset: usize| u8::from_str_radix(&color[offset..offset + 2], 16).unwrap();
            theme.insert(
                name.trim_start_matches("--").to_owned(),
                [1, 3, 5].map(|offset| f64::from(channel(offset)) / 255.0),
            );
        }
    }
    themes
}

/// Returns the relative luminance of a color.
fn luminance(color: [f64; 3]) -> f64 {
    let linear =
        |channel: f64| if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) };
    color.iter().zip([0.2126, 0.7152, 0.0722]).map(|(channel, weight)| linear(*channel) * weight).sum()
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn contrast_is_that_of_the_definition() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    assert!((contrast([0.0; 3], [119.0 / 255.0; 3]) - 4.69).abs() < 0.01);
}

#[test]
fn text_has_a_contrast_of_4_5_and_lines_have_3() {
    for theme in themes() {
        let check = |front: &str, back: &str, least: f64| {
            let found = contrast(theme[front], theme[back]);
            assert!(found >= least, "{front} on {back}: {found:.2}");
        };
        for text in ["ink", "soft", "link", "good", "warn", "bad"] {
            ["page", "panel"].iter().for_each(|back| check(text, back, 4.5));
        }
        for line in ["edge", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "mark"] {
            check(line, "page", 3.0);
        }
    }
}

/// No color is written elsewhere, where no theme would change it.
#[test]
fn every_color_has_a_name() {
    for line in [svg::STYLE, STYLE].iter().flat_map(|style| style.lines()) {
        let is_selector = line.contains('{') && !line.contains(": #");
        assert!(!line.contains('#') || is_selector || line.contains("light-dark("), "{line}");
    }
}
