//! The counter's rate: its bounds by brackets, and the rate of lines.

pub(super) mod calibration;
pub(super) mod drawn_rate;
