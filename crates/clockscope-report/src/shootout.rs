//! A comparison of two clocks in words.

use clockscope_records::{MetricKind, MetricProse, Shootout, ShootoutProse, UnreadableClock, Winner};

/// Puts the words beside the data of a comparison and of all its metrics.
pub(crate) fn explain(shootout: &mut Shootout) {
    shootout.prose = Some(ShootoutProse { conclusion: conclusion(shootout) });
    let names = [shootout.a.as_str(), shootout.b.as_str()];
    for metric in &mut shootout.metrics {
        metric.prose = Some(prose(&metric.metric, names));
    }
}

/// Words a metric of these two clocks.
pub(crate) fn prose(metric: &MetricKind, names: [&str; 2]) -> MetricProse {
    let (figure, unit) = match metric {
        MetricKind::Resolution => ("tick", "ns"),
        MetricKind::Accuracy { .. } => ("rate", "ppm"),
        MetricKind::Cost => ("median", "ns"),
        MetricKind::Reliability { .. } => ("wrong readings", ""),
    };
    MetricProse { figure: figure.to_owned(), unit: unit.to_owned(), note: note(metric, names) }
}

/// What the figures are based on.
fn note(metric: &MetricKind, [a, b]: [&str; 2]) -> String {
    match metric {
        MetricKind::Resolution => "what all readings are multiples of, whatever the interface states".to_owned(),
        MetricKind::Accuracy { reference } => {
            let reference = reference.as_deref().unwrap_or("another clock");
            format!(
                "distance of its rate from that of {reference}; a counter runs at the frequency that was measured, as \
                 well as that is known. No clock of this machine shows which of them is nearer to true time"
            )
        }
        MetricKind::Cost => "one read, back to back".to_owned(),
        MetricKind::Reliability { unordered, trusted_more } => {
            let mut note = "readings that went back, on one CPU or across CPUs, that jumped, or failed".to_owned();
            for name in unordered {
                note += &format!(
                    "; {name} is not ordered: when threads hand readings on, some go back without a fault of the clock"
                );
            }
            let trusted = match trusted_more {
                Some(Winner::A) => Some([a, b]),
                Some(Winner::B) => Some([b, a]),
                Some(Winner::Tie) | None => None,
            };
            if let Some([more, less]) = trusted {
                note += &format!("; `clockscope check` trusts {more} more than {less}");
            }
            note
        }
    }
}

/// The score, and when it does not matter.
pub(crate) fn conclusion(shootout: &Shootout) -> String {
    if let Some(UnreadableClock { clock, reason, .. }) = &shootout.unreadable {
        let reason = reason.to_string();
        return format!("{clock} cannot be read ({reason}), so that there is nothing to compare.");
    }
    let sentences: Vec<String> = [score(shootout)].into_iter().chain(does_it_matter(shootout)).collect();
    sentences.join(" ")
}

/// Who wins what.
fn score(shootout: &Shootout) -> String {
    let won = |winner: Winner| {
        let won = shootout.metrics.iter().filter(|metric| metric.winner.get() == Some(winner));
        let won: Vec<&str> = won.map(|metric| metric.metric.as_str()).collect();
        (!won.is_empty()).then(|| won.join(", "))
    };
    let parts = [
        won(Winner::A).map(|won| format!("{} wins {won}", shootout.a)),
        won(Winner::B).map(|won| format!("{} wins {won}", shootout.b)),
        won(Winner::Tie).map(|ties| format!("{ties}: no difference")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "Nothing could be decided.".to_owned() } else { parts.join("; ") + "." }
}

/// Whether the difference in cost matters, and for how long an interval; `None` if that is unknown.
fn does_it_matter(shootout: &Shootout) -> Option<String> {
    let metric = |is_it: fn(&MetricKind) -> bool| shootout.metrics.iter().find(|metric| is_it(&metric.metric));
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
    let interval_us = shootout.negligible_beyond_us?;
    Some(format!(
        "The difference of {difference_ns:.1} ns a read does not matter for what takes longer than {interval_us:.1} \
         µs: over two reads it is less than 1 % of that."
    ))
}

#[cfg(test)]
mod tests;
