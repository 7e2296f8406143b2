//! What is not as the users of an API may expect, a sentence each.

use std::collections::BTreeMap;

use clockscope_records::RuntimeRecord;
use clockscope_records::units::time;

/// A tick surprises that is so many times the finest one of all.
const COARSE: f64 = 5.0;
/// A cost surprises that is so many times the smallest one of all.
const DEAR: f64 = 5.0;
/// Readings that repeat the one before, in percent, from which on that surprises.
const MOSTLY: f64 = 50.0;
/// Clocks of whole milliseconds are coarse by their name, and surprise nobody who has read it.
const COARSE_BY_NAME_NS: f64 = 1e6;
/// What has not moved for so many of its steps stands still.
const LONG: f64 = 100.0;
/// A tick is reported if the nominal one is so many times finer.
const FINER: f64 = 2.0;
/// By what share a tick may differ from the nominal one.
const SAME: f64 = 0.02;

/// A sentence for each API that surprises, in the order of the rows. APIs of one clocksource are
/// compared with each other.
#[must_use]
pub fn surprises(rows: &[RuntimeRecord]) -> Vec<String> {
    let mut groups: BTreeMap<Option<&str>, Vec<&RuntimeRecord>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.available) {
        groups.entry(row.clocksource.as_deref()).or_default().push(row);
    }
    let several = groups.len() > 1;
    let finest: BTreeMap<_, _> = groups.iter().map(|(source, group)| (*source, Finest::of(group, rows))).collect();
    let sentence = |row: &RuntimeRecord| {
        let source = row.clocksource.as_deref();
        let what = finest.get(&source)?.surprising(row);
        let under = source.filter(|_| several).map_or_else(String::new, |source| format!(" on {source}"));
        (!what.is_empty()).then(|| format!("{}{under}: {}.", name(row, rows), what.join("; ")))
    };
    rows.iter().filter(|row| row.available).filter_map(sentence).collect()
}

/// What the APIs of one clocksource are compared with.
struct Finest<'a> {
    /// All rows, among which each has a name of its own.
    all: &'a [RuntimeRecord],
    tick: Option<(f64, &'a RuntimeRecord)>,
    cost: Option<(f64, &'a RuntimeRecord)>,
}

impl<'a> Finest<'a> {
    fn of(rows: &[&'a RuntimeRecord], all: &'a [RuntimeRecord]) -> Self {
        // The first of those that are as good as the best: the plainest API comes first.
        let best = |figure: fn(&RuntimeRecord) -> Option<f64>| {
            let known = || rows.iter().filter_map(move |row| Some((figure(row)?, *row)));
            let least = known().map(|(figure, _)| figure).reduce(f64::min)?;
            known().find(|(figure, _)| *figure <= least * (1.0 + SAME))
        };
        // What is read from a page that the kernel writes now and then is cheap because it is
        // coarse.
        let fine = |row: &RuntimeRecord| row.cost_ns.get().filter(|_| !is_coarse_by_name(row));
        Self { all, tick: best(|row| row.tick_ns.get()), cost: best(fine) }
    }

    fn surprising(&self, row: &RuntimeRecord) -> Vec<String> {
        [self.tick_of(row), self.cost_of(row), regressions(row)].into_iter().flatten().collect()
    }

    fn tick_of(&self, row: &RuntimeRecord) -> Option<String> {
        let Some(tick_ns) = row.tick_ns.get() else { return standing(row) };
        let (finest_ns, finest) = self.tick?;
        let is_as_named = row.nominal_resolution_ns.get().is_some_and(|nominal| (tick_ns / nominal - 1.0).abs() < SAME);
        let zeros = row.zeros_percent.get().filter(|zeros| *zeros >= MOSTLY);
        let is_coarse = tick_ns >= COARSE * finest_ns || zeros.is_some();
        if !is_coarse || (is_as_named && is_coarse_by_name(row)) {
            return None;
        }
        let nominal = match row.nominal_resolution_ns.get().filter(|nominal| tick_ns > FINER * nominal) {
            Some(nominal) => format!(" and not the {} that it states", time(nominal)),
            None => String::new(),
        };
        let zeros = zeros.map_or_else(String::new, |zeros| format!("; {}", repeating(zeros)));
        let finer = if tick_ns >= COARSE * finest_ns {
            format!(", where {} steps by {}", name(finest, self.all), time(finest_ns))
        } else {
            String::new()
        };
        Some(format!("it steps by {}{nominal}{finer}{zeros}", time(tick_ns)))
    }

    fn cost_of(&self, row: &RuntimeRecord) -> Option<String> {
        let cost_ns = row.cost_ns.get()?;
        let (least_ns, cheapest) = self.cost?;
        let is_dear = cost_ns >= DEAR * least_ns;
        is_dear.then(|| {
            format!("a read costs {}, {} one of {}", time(cost_ns), times(cost_ns / least_ns), name(cheapest, self.all))
        })
    }
}

/// What can be said of one that repeats its readings and has no tick that is known.
fn standing(row: &RuntimeRecord) -> Option<String> {
    let zeros = row.zeros_percent.get().filter(|zeros| *zeros >= MOSTLY)?;
    let reads = row.reads.unwrap_or_default();
    let has_moved = row.observed_resolution_ns.is_known() || row.regressions.get().is_some_and(|count| count > 0);
    if zeros < 100.0 || has_moved {
        return (!is_coarse_by_name(row)).then(|| repeating(zeros));
    }
    // One of whole ms may not step while it is read for a few.
    let lasted_ns = row.cost_ns.get().map(|cost| cost * reads as f64);
    let nominal_ns = row.nominal_resolution_ns.get().filter(|_| is_coarse_by_name(row));
    let is_short = lasted_ns.zip(nominal_ns).is_some_and(|(lasted, nominal)| lasted < LONG * nominal);
    (!is_short).then(|| format!("it stood still: all of its {reads} readings are the same"))
}

fn repeating(zeros_percent: f64) -> String {
    // As tables round it, but only all of them are 100.
    let rounded = (zeros_percent * 10.0).round() / 10.0;
    let shown = if rounded >= 100.0 && zeros_percent < 100.0 { 99.9 } else { rounded };
    format!("{shown} % of its readings repeat the one before")
}

fn regressions(row: &RuntimeRecord) -> Option<String> {
    let count = row.regressions.get().filter(|count| *count > 0)?;
    Some(format!("it went BACK {count} times in {} reads", row.reads.unwrap_or_default()))
}

fn is_coarse_by_name(row: &RuntimeRecord) -> bool {
    row.nominal_resolution_ns.get().is_some_and(|nominal| nominal >= COARSE_BY_NAME_NS)
}

fn name(row: &RuntimeRecord, all: &[RuntimeRecord]) -> String {
    format!("{} {}", row.label(all), row.api.as_deref().unwrap_or_default())
}

fn times(factor: f64) -> String {
    if factor >= 10.0 { format!("{factor:.0} times") } else { format!("{factor:.1} times") }
}

#[cfg(test)]
mod tests {

    use clockscope_records::Figure;

    use super::*;

    fn row(title: &str, api: &str, nominal: Option<f64>, tick: f64, cost: f64) -> RuntimeRecord {
        RuntimeRecord {
            title: title.into(),
            api: Some(api.into()),
            available: true,
            clocksource: Figure::Known("tsc".into()),
            nominal_resolution_ns: Figure::of(nominal, "it states none"),
            tick_ns: Figure::Known(tick),
            cost_ns: Figure::Known(cost),
            zeros_percent: Figure::Known(if tick > cost { 100.0 * (1.0 - cost / tick) } else { 0.0 }),
            regressions: Figure::Known(0),
            reads: Some(1000),
            ..RuntimeRecord::default()
        }
    }

    #[test]
    fn ticks_and_costs_surprise_and_what_is_coarse_by_name_does_not() {
        let rows = [
            row("C", "clock_gettime", Some(1.0), 10.0, 22.0),
            row("Java", "nanoTime", Some(1.0), 10.0, 25.0),
            row("Java", "currentTimeMillis", Some(1e6), 1e6, 20.0),
            row("Mono", "Stopwatch", Some(100.0), 100.0, 28.0),
            row("Chromium", "performance.now", None, 1e5, 220.0),
            row(".NET", "TickCount64", Some(1e6), 4e6, 3.0),
            row("Python", "perf_counter_ns", Some(1.0), 10.0, 377.0),
        ];
        let found = surprises(&rows);
        assert_eq!(
            found,
            [
                "Mono Stopwatch: it steps by 100 ns, where C clock_gettime steps by 10 ns; 72 % of its readings repeat the one before.",
                "Chromium performance.now: it steps by 100 µs, where C clock_gettime steps by 10 ns; 99.8 % of its readings repeat the one before; a read costs 220 ns, 10 times one of C clock_gettime.",
                ".NET TickCount64: it steps by 4 ms and not the 1 ms that it states, where C clock_gettime steps by 10 ns; 99.9 % of its readings repeat the one before.",
                "Python perf_counter_ns: a read costs 377 ns, 17 times one of C clock_gettime.",
            ]
        );
        assert!(surprises(&rows[..3]).is_empty() && surprises(&[]).is_empty());
        let alone = "Mono Stopwatch: it steps by 100 ns; 72 % of its readings repeat the one before.";
        assert_eq!(surprises(&rows[3..4]), [alone]);
    }

    #[test]
    fn clocksources_are_not_compared_with_each_other() {
        let mut hpet = row("C", "clock_gettime", Some(1.0), 69.8, 500.0);
        hpet.clocksource = Figure::Known("hpet".into());
        let tsc = row("C", "clock_gettime", Some(1.0), 10.0, 22.0);
        assert!(surprises(&[tsc.clone(), hpet.clone()]).is_empty());
        hpet.regressions = Figure::Known(2);
        assert_eq!(surprises(&[tsc, hpet]), ["C clock_gettime on hpet: it went BACK 2 times in 1000 reads."]);
    }

    #[test]
    fn programs_of_one_runtime_are_told_apart() {
        let python = |program: &str, version: &str, cost: f64| RuntimeRecord {
            program: Some(program.into()),
            version: Some(version.into()),
            ..row("Python", "time_ns", Some(1.0), 10.0, cost)
        };
        let c = RuntimeRecord { program: Some("/cc".into()), ..row("C", "time", Some(1.0), 10.0, 20.0) };
        assert_eq!(
            surprises(&[c, python("/a", "3.11", 200.0), python("/b", "3.13", 400.0), python("/c", "3.13", 100.0)]),
            [
                "Python 3.11 time_ns: a read costs 200 ns, 10 times one of C time.",
                "Python (/b) time_ns: a read costs 400 ns, 20 times one of C time.",
                "Python (/c) time_ns: a read costs 100 ns, 5.0 times one of C time.",
            ]
        );
        assert_eq!(
            surprises(&[python("/a", "3.11", 20.0), python("/b", "3.13", 400.0)]),
            ["Python 3.13 time_ns: a read costs 400 ns, 20 times one of Python 3.11 time_ns."]
        );
    }

    #[test]
    fn the_first_of_those_as_good_as_the_best_is_compared_with() {
        let rows = [
            row("C", "clock_gettime", Some(1.0), 10.1, 22.2),
            row("Rust", "Instant", Some(1.0), 10.0, 22.0),
            row("X", "now", Some(1.0), 101.0, 222.0),
        ];
        assert_eq!(
            surprises(&rows),
            [
                "X now: it steps by 101 ns and not the 1 ns that it states, where C clock_gettime steps by 10.1 ns; a read costs 222 ns, 10 times one of C clock_gettime."
            ]
        );
    }

    #[test]
    fn one_that_stands_still_surprises_though_its_tick_is_unknown() {
        let with = |nominal: Option<f64>, zeros: f64, observed: Option<f64>, cost: Option<f64>| RuntimeRecord {
            tick_ns: Figure::unknown("all readings are alike"),
            zeros_percent: Figure::Known(zeros),
            observed_resolution_ns: Figure::of(observed, "it stood still"),
            cost_ns: Figure::of(cost, "too coarse"),
            ..row("X", "now", nominal, 10.0, 20.0)
        };
        let still = "X now: it stood still: all of its 1000 readings are the same.";
        let mostly = "X now: 99.9 % of its readings repeat the one before.";
        for (row, expected) in [
            (with(Some(1.0), 100.0, None, Some(20.0)), Some(still)),
            (with(None, 100.0, None, None), Some(still)),
            (with(None, 99.99, Some(1e5), Some(20.0)), Some(mostly)),
            (with(None, 50.0, Some(1e5), Some(20.0)), Some("X now: 50 % of its readings repeat the one before.")),
            (with(None, 49.9, Some(1e5), Some(20.0)), None),
            // It stepped from one batch to the next only.
            (with(None, 100.0, Some(4e6), Some(20.0)), Some("X now: 100 % of its readings repeat the one before.")),
            // Of whole ms: few steps, or none in a time so short, are nothing.
            (with(Some(1e6), 99.99, Some(1e6), Some(20.0)), None),
            (with(Some(1e6), 100.0, None, Some(20.0)), None),
            (with(Some(1e6), 100.0, None, Some(1e6)), Some(still)),
            (with(Some(1e6), 100.0, None, None), Some(still)),
        ] {
            assert_eq!(surprises(std::slice::from_ref(&row)), Vec::from_iter(expected), "{row:?}");
        }
        let back = RuntimeRecord { regressions: Figure::Known(1), ..with(None, 100.0, None, None) };
        assert!(!surprises(&[back])[0].contains("stood still"));
    }
}
