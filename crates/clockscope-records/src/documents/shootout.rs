//! Findings of a comparison of two clocks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::time;
use crate::words::{worded, written};
use crate::{Figure, UnreadableClock};

/// The comparison of two clocks by `clockscope compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Shootout", transform = crate::schema::add_words::<Shootout>))]
#[serde(remote = "Self")]
pub struct Shootout {
    /// One clock.
    pub a: String,
    /// The other.
    pub b: String,
    /// Resolution, accuracy, cost and reliability.
    pub metrics: Vec<Metric>,
    /// How far both differ on the same intervals, an entry a length; empty where they could not be
    /// read side by side.
    pub agreement: Vec<Agreement>,
    /// The clock that leaves nothing to compare; `null` if both can be read.
    pub unreadable: Option<UnreadableClock>,
    /// The difference in cost, with two reads an interval, is less than 1 % of an interval that is
    /// longer than this; `null` where the costs are equal or unknown.
    pub negligible_beyond_us: Option<f64>,
}

worded!(Shootout {
    /// The comparison of two clocks, and when it does not matter.
    conclusion: String = Shootout::conclusion,
});
written!(Shootout);

/// The differences of two clocks on intervals of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agreement {
    /// The length of the intervals, in ns.
    pub interval_ns: u64,
    /// Their number.
    pub intervals: u64,
    /// The median of what the first clock shows more than the second, in ns.
    pub difference_ns: f64,
    /// 95 % of the differences are at most this, in ns, whatever their sign.
    pub within_ns: f64,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Metric", transform = crate::schema::add_unknown, transform = crate::schema::add_words::<Metric>))]
#[serde(remote = "Self")]
pub struct Metric {
    /// The property that is compared.
    #[serde(flatten)]
    pub metric: MetricKind,
    /// The figure of the first clock: less is better.
    pub a: Figure<f64>,
    /// The figure of the second.
    pub b: Figure<f64>,
    /// By how much the figures may be off, where that is known.
    pub a_bound: Option<f64>,
    /// The same of the second.
    pub b_bound: Option<f64>,
    /// The winner; `null` if that is unknown.
    pub winner: Figure<Winner>,
}

written!(Metric);

/// A property by which two clocks are compared, with what is known beside the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "metric", rename_all = "snake_case")]
pub enum MetricKind {
    /// The tick, in ns.
    Resolution,
    /// The distance of the clock's rate from that of a reference, in ppm.
    Accuracy {
        /// The reference; `null` where the rates were not compared.
        reference: Option<String>,
    },
    /// The median cost of a read, in ns.
    Cost,
    /// Wrong readings.
    Reliability {
        /// Clocks that went back when threads handed readings on, which is not a fault: their reads
        /// are not ordered.
        unordered: Vec<String>,
        /// The clock that `clockscope check` trusts more, where that decided; `null` where it did
        /// not.
        trusted_more: Option<String>,
    },
}

impl MetricKind {
    /// Returns the word that JSON has for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Resolution => "resolution",
            Self::Accuracy { .. } => "accuracy",
            Self::Cost => "cost",
            Self::Reliability { .. } => "reliability",
        }
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

worded!(Metric {
    /// The name of the figures.
    figure: &'static str = |metric: &Metric| metric.metric.figure(),
    /// Their unit; empty for a count.
    unit: &'static str = |metric: &Metric| metric.metric.unit(),
    /// The basis of the figures.
    note: String = |metric: &Metric| metric.metric.note(),
});

impl Shootout {
    /// Words the score, and when it does not matter.
    #[must_use]
    pub fn conclusion(&self) -> String {
        if let Some(unreadable) = &self.unreadable {
            return unreadable.to_string();
        }
        let sentences = [self.score()].into_iter().chain(self.does_it_matter()).chain(self.agree());
        sentences.collect::<Vec<_>>().join(" ")
    }

    /// Says within what both agree on the longest intervals that both measured.
    fn agree(&self) -> Option<String> {
        let longest = self.agreement.iter().max_by_key(|found| found.interval_ns)?;
        let [interval, within] = [longest.interval_ns as f64, longest.within_ns].map(time);
        Some(format!("On the same intervals of {interval} they agree within {within}, 95% of the time."))
    }

    /// Names the winners.
    fn score(&self) -> String {
        let won = |winner: Winner| {
            let won = self.metrics.iter().filter(|metric| metric.winner.get() == Some(winner));
            let won: Vec<&str> = won.map(|metric| metric.metric.as_str()).collect();
            (!won.is_empty()).then(|| won.join(", "))
        };
        let parts = [
            won(Winner::A).map(|won| format!("{} wins {won}", self.a)),
            won(Winner::B).map(|won| format!("{} wins {won}", self.b)),
            won(Winner::Tie).map(|ties| format!("{ties}: no difference")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "Nothing could be decided.".to_owned() } else { parts.join("; ") + "." }
    }

    /// Says from which interval on the difference in cost does not matter; `None` if that is
    /// unknown.
    fn does_it_matter(&self) -> Option<String> {
        let metric = |is_it: fn(&MetricKind) -> bool| self.metrics.iter().find(|metric| is_it(&metric.metric));
        let cost = metric(|kind| *kind == MetricKind::Cost)?;
        if cost.winner.get()? == Winner::Tie {
            let reliability = metric(|kind| matches!(kind, MetricKind::Reliability { .. }))?;
            let take = match reliability.winner.get() {
                Some(Winner::Tie) => "take either",
                Some(_) => "take the more reliable one",
                None => "which is more reliable is unknown",
            };
            return Some(format!("Cost does not matter: {take}."));
        }
        let difference_ns = (cost.a.get()? - cost.b.get()?).abs();
        let interval_us = self.negligible_beyond_us?;
        Some(format!(
            "The difference of {difference_ns:.1} ns a read does not matter for intervals beyond {interval_us:.1} µs: over \
             two reads it is less than 1% of that."
        ))
    }
}

impl MetricKind {
    /// Names its figures.
    #[must_use]
    pub const fn figure(&self) -> &'static str {
        match self {
            Self::Resolution => "tick",
            Self::Accuracy { .. } => "rate",
            Self::Cost => "median",
            Self::Reliability { .. } => "wrong readings",
        }
    }

    /// Returns the unit of its figures; empty for a count.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Resolution | Self::Cost => "ns",
            Self::Accuracy { .. } => "ppm",
            Self::Reliability { .. } => "",
        }
    }

    /// Explains what its figures are based on.
    #[must_use]
    pub fn note(&self) -> String {
        match self {
            Self::Resolution => "what all readings are multiples of, whatever the interface states".to_owned(),
            Self::Accuracy { reference } => {
                let reference = reference.as_deref().unwrap_or("another clock");
                format!(
                    "distance of its rate from that of {reference}; a counter runs at the frequency that was measured, as \
                     well as that is known. No clock of this machine shows which of them is nearer to true time"
                )
            }
            Self::Cost => "one read, back to back".to_owned(),
            Self::Reliability { unordered, trusted_more } => {
                let mut note = "readings that went back, on one CPU or across CPUs, that jumped, or failed".to_owned();
                for name in unordered {
                    note += &format!(
                        "; {name} is not ordered: when threads hand readings on, some go back without a fault of the clock"
                    );
                }
                if let Some(trusted) = trusted_more {
                    note += &format!("; `clockscope check` trusts {trusted} more");
                }
                note
            }
        }
    }
}

/// The better clock, if one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// The first clock.
    A,
    /// The second.
    B,
    /// Neither: the difference is within what the measurement can resolve, or none.
    Tie,
}

#[cfg(test)]
mod tests;
