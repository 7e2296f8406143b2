//! The parts of all charts: text, axes, markers and legends.

use std::fmt::{self, Display};

use maud::{Markup, html};

use crate::chart::scale::{Scale, Tick};
use crate::chart::{Axis, MAX_SERIES};
use crate::words::{ELLIPSIS, shortened};

/// Width of an image, in units of its coordinates.
pub(super) const WIDTH: f64 = 720.0;
/// Height of a line of text.
const LINE_HEIGHT: f64 = 18.0;
/// Width of a character, about.
const CHARACTER_WIDTH: f64 = 6.7;
/// Half the width of a marker.
const MARKER_RADIUS: f64 = 4.5;

/// Elements in their order. Only markup can be added, in which all text is escaped.
#[derive(Default)]
pub(super) struct Elements(String);

impl Elements {
    pub(super) fn add(&mut self, element: Markup) {
        self.0.push_str(&element.0);
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// A length, with at most one decimal.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 { write!(f, "{}", tenths / 10) } else { write!(f, "{:.1}", tenths as f64 / 10.0) }
    }
}

/// A rectangle that values are drawn into.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn x(&self, scale: &Scale, value: f64) -> f64 {
        self.left + scale.position(value) * self.width
    }

    pub(super) fn y(&self, scale: &Scale, value: f64) -> f64 {
        self.bottom() - scale.position(value) * self.height
    }
}

/// The side of its place on which a text is.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

pub(super) fn text(svg: &mut Elements, x: f64, y: f64, anchor: Anchor, class: &'static str, text: impl Display) {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    svg.add(html! { text x=(Px(x)) y=(Px(y)) text-anchor=(anchor) class=(class) { (text) } });
}

/// Adds a title at the top, and returns the height that it takes.
pub(super) fn heading(svg: &mut Elements, title: &str) -> f64 {
    text(svg, 12.0, 22.0, Anchor::Start, "title", short(title, 90));
    34.0
}

/// Shortens a text to `max_chars` characters.
pub(super) fn short(text: &str, max_chars: usize) -> String {
    shortened(text, max_chars, ELLIPSIS)
}

/// Returns the width of a text, about.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER_WIDTH
}

pub(super) fn line(svg: &mut Elements, class: &'static str, from: (f64, f64), to: (f64, f64)) {
    let path = format!("M{} {}L{} {}", Px(from.0), Px(from.1), Px(to.0), Px(to.1));
    svg.add(html! { path class=(class) d=(path) {} });
}

/// Draws a horizontal axis below a frame, with lines through it, and its title.
pub(super) fn horizontal(svg: &mut Elements, frame: &Frame, scale: &Scale, axis: &Axis) {
    let mut free = f64::NEG_INFINITY;
    for Tick { value, label } in scale.ticks(axis, 7) {
        let x = frame.x(scale, value);
        let half = (width(&label) + 10.0) / 2.0;
        // Labels do not overlap.
        if x - half < free {
            continue;
        }
        free = x + half;
        line(svg, "grid", (x, frame.top), (x, frame.bottom()));
        // Labels at the ends stay within the image.
        let half = width(&label) / 2.0;
        text(svg, x.clamp(half, WIDTH - half), frame.bottom() + 15.0, Anchor::Middle, "tick", label);
    }
    line(svg, "axis", (frame.left, frame.bottom()), (frame.right(), frame.bottom()));
    text(svg, frame.left + frame.width / 2.0, frame.bottom() + 34.0, Anchor::Middle, "name", short(&axis.title, 80));
}

/// Height that a horizontal axis takes below its frame.
pub(super) const HORIZONTAL: f64 = 44.0;

/// Draws a vertical axis on the left of a frame, with lines through it. Its title is above.
pub(super) fn vertical(svg: &mut Elements, frame: &Frame, scale: &Scale, axis: &Axis) {
    for Tick { value, label } in scale.ticks(axis, 6) {
        let y = frame.y(scale, value);
        line(svg, "grid", (frame.left, y), (frame.right(), y));
        text(svg, frame.left - 6.0, y + 4.0, Anchor::End, "tick", short(&label, 12));
    }
    line(svg, "axis", (frame.left, frame.top), (frame.left, frame.bottom()));
    text(svg, 12.0, frame.top - 10.0, Anchor::Start, "name", short(&axis.title, 80));
}

/// The class of a series: its color, and the pattern of its line.
pub(super) fn class(kind: &str, series: usize) -> String {
    format!("{kind} s{}", series % MAX_SERIES)
}

/// Draws the marker of a series: each has a shape of its own.
pub(super) fn marker(svg: &mut Elements, series: usize, x: f64, y: f64) {
    let cross = [(-1.0, -0.4), (-0.4, -0.4), (-0.4, -1.0), (0.4, -1.0), (0.4, -0.4), (1.0, -0.4)];
    let corners = match series % MAX_SERIES {
        0 => {
            let (x, y, radius) = (Px(x), Px(y), Px(MARKER_RADIUS * 0.9));
            svg.add(html! { circle class=(class("mark", 0)) cx=(x) cy=(y) r=(radius) {} });
            return;
        }
        1 => vec![(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
        2 => vec![(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        3 => vec![(0.0, -1.1), (1.1, 0.9), (-1.1, 0.9)],
        4 => cross.into_iter().chain(cross.map(|(dx, dy)| (-dx, -dy))).collect(),
        5 => vec![(0.0, 1.1), (1.1, -0.9), (-1.1, -0.9)],
        6 => vec![(-1.1, 0.0), (-0.5, -1.0), (0.5, -1.0), (1.1, 0.0), (0.5, 1.0), (-0.5, 1.0)],
        _ => vec![(-1.1, -0.4), (1.1, -0.4), (1.1, 0.4), (-1.1, 0.4)],
    };
    let corners =
        corners.iter().map(|(dx, dy)| format!("{} {}", Px(x + dx * MARKER_RADIUS), Px(y + dy * MARKER_RADIUS)));
    let path = format!("M{}Z", corners.collect::<Vec<_>>().join("L"));
    svg.add(html! { path class=(class("mark", series)) d=(path) {} });
}

/// A legend, and the place of its next entry.
pub(super) struct Legend {
    x: f64,
    y: f64,
}

impl Legend {
    pub(super) fn new(top: f64) -> Self {
        Self { x: 12.0, y: top + 14.0 }
    }

    /// Draws an entry: its sign by `draw`, from a place on and 28 wide, and its name.
    pub(super) fn entry(&mut self, svg: &mut Elements, name: &str, draw: impl FnOnce(&mut Elements, f64, f64)) {
        let name = short(name, 60);
        let needed = 34.0 + width(&name) + 16.0;
        if self.x > 12.0 && self.x + needed > WIDTH {
            (self.x, self.y) = (12.0, self.y + LINE_HEIGHT);
        }
        draw(svg, self.x, self.y - 4.0);
        text(svg, self.x + 34.0, self.y, Anchor::Start, "key", &name);
        self.x += needed;
    }

    /// Returns the place below it.
    pub(super) fn bottom(&self) -> f64 {
        self.y + 8.0
    }
}
