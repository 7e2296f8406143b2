//! The progress bar, drawn on the measuring thread between rounds: nothing is being sampled then.

use std::io::{self, IsTerminal};

use clockscope_records::Environment;
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::shows_unicode;

/// The bar, which fits into 40 columns.
const TEMPLATE: &str = "measuring {bar:20} {percent}%";

/// A bar on standard error, if that is a terminal. The default is none.
#[derive(Default)]
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    percent: u64,
}

impl Bar {
    /// Draws a bar, but none where the counter is disabled: the bar reads time through the C
    /// library, which kills the process there.
    pub(crate) fn new(environment: &Environment) -> Self {
        if environment.counter_readable.get() == Some(false) || !io::stderr().is_terminal() {
            return Self::default();
        }
        let style = ProgressStyle::with_template(&format!("{TEMPLATE} {{wide_msg}}"));
        let style = in_locale(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar: Some(ProgressBar::new(100).with_style(style)), percent: 0 }
    }

    /// Shows the share that is done, at most a hundred times in all.
    pub(crate) fn show(&mut self, share: f64) {
        let percent = (share * 100.0) as u64;
        if let Some(bar) = &self.bar
            && percent > self.percent
        {
            self.percent = percent;
            bar.set_position(percent);
        }
    }

    /// Shows the share, and what is known so far.
    pub(crate) fn describe(&mut self, share: f64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(message());
            bar.set_position((share * 100.0) as u64);
        }
    }

    /// Shows what is known so far, above the bar, until the bar goes.
    pub(crate) fn provisional(&mut self, text: impl FnOnce() -> Option<String>) {
        let Some(bar) = &self.bar else { return };
        if !io::stdout().is_terminal() {
            return;
        }
        let style = ProgressStyle::with_template(&format!("{{msg}}\n\n{TEMPLATE}"));
        if let (Some(text), Ok(style)) = (text(), style) {
            bar.set_style(in_locale(style));
            bar.set_message(text.trim_end().to_owned());
        }
    }
}

/// Draws a bar in characters that the terminal has.
fn in_locale(style: ProgressStyle) -> ProgressStyle {
    if shows_unicode() { style } else { style.progress_chars("#> ") }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
