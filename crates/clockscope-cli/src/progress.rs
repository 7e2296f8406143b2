//! The progress bar, drawn on the measuring thread between rounds: nothing is being sampled then.

use std::io::{self, IsTerminal};

use clockscope_records::Environment;
use indicatif::{ProgressBar, ProgressStyle};

use crate::options::OutputArgs;
use crate::terminal::shows_unicode;

/// The bar, which fits into 40 columns.
const TEMPLATE: &str = "measuring {bar:20} {percent}%";

/// A bar on standard error, if that is a terminal.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    percent: u64,
}

impl Bar {
    /// No bar is made where none is wanted, nor where the counter is disabled: the bar reads time
    /// through the C library, which kills the process there.
    pub(crate) fn new(output: &OutputArgs, environment: &Environment) -> Self {
        let is_safe = environment.counter_readable.get() != Some(false);
        let wanted = !output.quiet && is_safe && io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let style = ProgressStyle::with_template(&format!("{TEMPLATE} {{wide_msg}}"));
            ProgressBar::new(100).with_style(in_locale(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
        });
        Self { bar, percent: 0 }
    }

    /// Shows the share that is done, at most a hundred times in all.
    pub(crate) fn show(&mut self, share: f64) {
        let percent = (share * 100.0) as u64;
        if let Some(bar) = self.bar.as_ref().filter(|_| percent > self.percent) {
            self.percent = percent;
            bar.set_position(percent);
        }
    }
}

impl Bar {
    /// Shows the share, and what is known so far.
    pub(crate) fn describe(&mut self, share: f64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(message());
            bar.set_position((share * 100.0) as u64);
        }
    }
}

impl Bar {
    /// Shows what is known so far, above the bar, until the bar goes.
    pub(crate) fn provisional(&mut self, text: impl FnOnce() -> Option<String>) {
        let Some(bar) = self.bar.as_ref().filter(|_| io::stdout().is_terminal()) else { return };
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
