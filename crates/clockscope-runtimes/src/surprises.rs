//! What is not as the users of an API may expect, a sentence each.

use std::collections::BTreeMap;

use clockscope_records::RuntimeRecord;

/// A tick surprises that is so many times the finest one of all.
const COARSE: f64 = 5.0;
/// A cost surprises that is so many times the smallest one of all.
const DEAR: f64 = 5.0;
/// Readings that repeat the one before, in percent, from which on that surprises.
const MOSTLY: f64 = 50.0;
/// Clocks of whole milliseconds are coarse by their name, and surprise nobody who has read it.
const COARSE_BY_NAME_NS: f64 = 1e6;
/// A tick is told apart from a claim that is so many times finer.
const CLAIMED: f64 = 2.0;
/// By what share a tick may differ from what is claimed.
const SAME: f64 = 0.02;

/// A sentence for each API that surprises, in the order of the rows. APIs of one clocksource are compared with each other.
#[must_use]
pub fn surprises(rows: &[RuntimeRecord]) -> Vec<String> {
    let mut groups: BTreeMap<Option<&str>, Vec<&RuntimeRecord>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.available) {
        groups.entry(row.clocksource.as_deref()).or_default().push(row);
    }
    let several = groups.len() > 1;
    let finest: BTreeMap<_, _> = groups.iter().map(|(source, rows)| (*source, Finest::of(rows))).collect();
    let sentence = |row: &RuntimeRecord| {
        let source = row.clocksource.as_deref();
        let what = finest.get(&source)?.surprising(row);
        let under = source.filter(|_| several).map_or_else(String::new, |source| format!(" on {source}"));
        (!what.is_empty()).then(|| format!("{}{under}: {}.", name(row), what.join("; ")))
    };
    rows.iter().filter(|row| row.available).filter_map(sentence).collect()
}

/// What the APIs of one clocksource are compared with.
struct Finest<'a> {
    tick: Option<(f64, &'a RuntimeRecord)>,
    cost: Option<(f64, &'a RuntimeRecord)>,
}

impl<'a> Finest<'a> {
    fn of(rows: &[&'a RuntimeRecord]) -> Self {
        // The first of those that are as good as the best: the plainest API comes first.
        let best = |figure: fn(&RuntimeRecord) -> Option<f64>| {
            let known = || rows.iter().filter_map(move |row| Some((figure(row)?, *row)));
            let least = known().map(|(figure, _)| figure).reduce(f64::min)?;
            known().find(|(figure, _)| *figure <= least * (1.0 + SAME))
        };
        // What is read from a page that the kernel writes now and then is cheap because it is coarse.
        let fine = |row: &RuntimeRecord| row.cost_ns.filter(|_| !is_coarse_by_name(row));
        Self { tick: best(|row| row.tick_ns), cost: best(fine) }
    }

    fn surprising(&self, row: &RuntimeRecord) -> Vec<String> {
        [self.tick_of(row), self.cost_of(row), regressions(row)].into_iter().flatten().collect()
    }

    fn tick_of(&self, row: &RuntimeRecord) -> Option<String> {
        let tick_ns = row.tick_ns?;
        let (finest_ns, finest) = self.tick?;
        let is_as_named = row.nominal_tick_ns.is_some_and(|nominal| (tick_ns / nominal - 1.0).abs() < SAME);
        let zeros = row.zeros_percent.filter(|zeros| *zeros >= MOSTLY);
        let is_coarse = tick_ns >= COARSE * finest_ns || zeros.is_some();
        if !is_coarse || (is_as_named && is_coarse_by_name(row)) {
            return None;
        }
        let claim = match row.nominal_tick_ns.filter(|nominal| tick_ns > CLAIMED * nominal) {
            Some(nominal) => format!(" and not the {} that it claims", time(nominal)),
            None => String::new(),
        };
        // Rounded down, so that only all of them are 100.
        let zeros = zeros.map(|zeros| (zeros * 10.0).floor() / 10.0);
        let zeros =
            zeros.map_or_else(String::new, |zeros| format!("; {zeros} % of its readings repeat the one before"));
        let finer = if tick_ns >= COARSE * finest_ns {
            format!(", where {} steps by {}", name(finest), time(finest_ns))
        } else {
            String::new()
        };
        Some(format!("it steps by {}{claim}{finer}{zeros}", time(tick_ns)))
    }

    fn cost_of(&self, row: &RuntimeRecord) -> Option<String> {
        let cost_ns = row.cost_ns?;
        let (least_ns, cheapest) = self.cost?;
        let is_dear = cost_ns >= DEAR * least_ns;
        is_dear
            .then(|| format!("a read costs {}, {} one of {}", time(cost_ns), times(cost_ns / least_ns), name(cheapest)))
    }
}

fn regressions(row: &RuntimeRecord) -> Option<String> {
    let count = row.regressions.filter(|count| *count > 0)?;
    Some(format!("it went BACK {count} times in {} reads", row.reads.unwrap_or_default()))
}

fn is_coarse_by_name(row: &RuntimeRecord) -> bool {
    row.nominal_tick_ns.is_some_and(|nominal| nominal >= COARSE_BY_NAME_NS)
}

fn name(row: &RuntimeRecord) -> String {
    format!("{} {}", row.title, row.api.as_deref().unwrap_or_default())
}

fn times(factor: f64) -> String {
    if factor >= 10.0 { format!("{factor:.0} times") } else { format!("{factor:.1} times") }
}

/// A time with three digits and the unit that fits.
fn time(ns: f64) -> String {
    // What is rounded to 1000 of a unit is 1 of the next.
    let (value, unit) = match ns * 1.0005 {
        rounded if rounded >= 1e9 => (ns / 1e9, "s"),
        rounded if rounded >= 1e6 => (ns / 1e6, "ms"),
        rounded if rounded >= 1e3 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 2) as usize;
    let shown = format!("{value:.digits$}");
    let shown = if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.') } else { &shown };
    format!("{shown} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(title: &str, api: &str, nominal: Option<f64>, tick: f64, cost: f64) -> RuntimeRecord {
        RuntimeRecord {
            title: title.into(),
            api: Some(api.into()),
            available: true,
            clocksource: Some("tsc".into()),
            nominal_tick_ns: nominal,
            tick_ns: Some(tick),
            cost_ns: Some(cost),
            zeros_percent: Some(if tick > cost { 100.0 * (1.0 - cost / tick) } else { 0.0 }),
            regressions: Some(0),
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
                "Chromium performance.now: it steps by 100 µs, where C clock_gettime steps by 10 ns; 99.7 % of its readings repeat the one before; a read costs 220 ns, 10 times one of C clock_gettime.",
                ".NET TickCount64: it steps by 4 ms and not the 1 ms that it claims, where C clock_gettime steps by 10 ns; 99.9 % of its readings repeat the one before.",
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
        hpet.clocksource = Some("hpet".into());
        let tsc = row("C", "clock_gettime", Some(1.0), 10.0, 22.0);
        assert!(surprises(&[tsc.clone(), hpet.clone()]).is_empty());
        hpet.regressions = Some(2);
        assert_eq!(surprises(&[tsc, hpet]), ["C clock_gettime on hpet: it went BACK 2 times in 1000 reads."]);
    }
}
