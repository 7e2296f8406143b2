//! Renders what the program prints to SVG, in colors for light and dark pages.

use std::fs;

use anstyle::{Color, RgbColor};
use anstyle_svg::{Palette, Term};
use anyhow::{Context, Result};

use crate::run;

/// Folder of the pictures that the README embeds.
const FOLDER: &str = "docs/pictures";

/// Each picture's name, and the command that it shows.
const PICTURES: [(&str, &[&str]); 2] = [
    ("measure", &["measure", "tsc", "rdtscp", "monotonic", "monotonic_coarse", "clockscope.now", "--brief"]),
    ("check", &["check", "counter", "monotonic", "--brief"]),
];

/// A page's colors.
struct Theme {
    name: &'static str,
    text: u32,
    background: u32,
    /// The terminal's eight colors, then their bright variants.
    colors: [u32; 16],
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        text: 0x1f_2328,
        background: 0xf6_f8fa,
        colors: [
            0x24_292f, 0xcf_222e, 0x1a_7f37, 0x9a_6700, 0x09_69da, 0x82_50df, 0x1b_7c83, 0x6e_7781, 0x57_606a,
            0xa4_0e26, 0x11_6329, 0x63_3c01, 0x05_50ae, 0x66_39ba, 0x31_92aa, 0x8c_959f,
        ],
    },
    Theme {
        name: "dark",
        text: 0xe6_edf3,
        background: 0x16_1b22,
        colors: [
            0x48_4f58, 0xff_7b72, 0x3f_b950, 0xd2_9922, 0x58_a6ff, 0xbc_8cff, 0x39_c5cf, 0xb1_bac4, 0x6e_7681,
            0xff_a198, 0x56_d364, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x56_d4dd, 0xff_ffff,
        ],
    },
];

/// Runs the commands on this machine and writes a picture of each for each theme. Builds the
/// program unless it is given one.
pub(crate) fn draw(program: Option<String>) -> Result<()> {
    let program = program.map_or_else(run::release_program, Ok)?;
    fs::create_dir_all(FOLDER).with_context(|| format!("cannot create {FOLDER}"))?;
    for (name, arguments) in PICTURES {
        let printed = run::output(&program, &[arguments, &["--quiet", "--color", "always"]].concat())?;
        let screen = format!("$ clockscope {}\n{}", arguments.join(" "), printed.trim_end());
        for theme in &THEMES {
            let file = format!("{FOLDER}/{name}-{}.svg", theme.name);
            fs::write(&file, theme.render(&screen)).with_context(|| format!("cannot write {file}"))?;
            println!("{file}");
        }
    }
    Ok(())
}

impl Theme {
    /// Draws a screen, whose colors are ANSI escape sequences, as an SVG.
    fn render(&self, screen: &str) -> String {
        Term::new()
            .palette(Palette(self.colors.map(rgb)))
            .fg_color(Color::Rgb(rgb(self.text)))
            .bg_color(Color::Rgb(rgb(self.background)))
            .min_width_px(0)
            .render_svg(screen)
    }
}

/// The color of a number, as pages write it.
const fn rgb(color: u32) -> RgbColor {
    let [_, red, green, blue] = color.to_be_bytes();
    RgbColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_theme_has_its_colors_and_the_whole_text() {
        let screen = "$ clockscope\n\x1b[1mName\x1b[0m\n\x1b[31mbroken < 1\x1b[0m";
        for (theme, text, background, red) in
            [(&THEMES[0], "#1F2328", "#F6F8FA", "#CF222E"), (&THEMES[1], "#E6EDF3", "#161B22", "#FF7B72")]
        {
            let svg = theme.render(screen);
            for part in [text, background, red, "$ clockscope", "Name", "broken &lt; 1", "font-weight: bold"] {
                assert!(svg.contains(part), "{}: no {part}: {svg}", theme.name);
            }
            assert!(!svg.contains('\x1b'), "{svg}");
        }
    }
}
