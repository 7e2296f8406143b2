//! Facts that the users of an API may not expect.

use std::collections::BTreeMap;

use clockscope_records::{ComparedApi, Figure, RuntimeRecord, SurprisingApi, SurprisingFact};

/// Ratio of a tick to the finest one of all from which on it surprises.
const MIN_COARSE_TICK_RATIO: f64 = 5.0;
/// Ratio of a cost to the smallest one of all from which on it surprises.
const MIN_EXPENSIVE_COST_RATIO: f64 = 5.0;
/// Readings that repeat the one before, in percent, from which on that surprises.
const MIN_SURPRISING_REPEATS_PERCENT: f64 = 50.0;
/// Steps without a move from which on a clock stands still.
const MIN_STUCK_STEPS: f64 = 100.0;
/// Ratio of a tick to the nominal one above which it is reported.
const MIN_FINER_NOMINAL_RATIO: f64 = 2.0;
/// Share by which a tick may differ from the nominal one, or a figure from the best one.
const MAX_EQUAL_DIFFERENCE_SHARE: f64 = 0.02;

/// Returns the APIs that surprise, in the order of the rows. APIs of one clocksource are compared
/// with each other.
#[must_use]
pub fn surprises(rows: &[RuntimeRecord]) -> Vec<SurprisingApi> {
    let mut groups: BTreeMap<Option<&str>, Vec<&RuntimeRecord>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.available) {
        groups.entry(row.clocksource.as_deref()).or_default().push(row);
    }
    let several = groups.len() > 1;
    let finest: BTreeMap<_, _> = groups.iter().map(|(source, group)| (*source, Finest::new(group, rows))).collect();
    let surprising = rows.iter().filter(|row| row.available).filter_map(|row| {
        let source = row.clocksource.as_deref();
        let findings = finest.get(&source)?.surprising(row);
        (!findings.is_empty()).then(|| SurprisingApi {
            runtime: row.label(rows),
            api: row.api.clone().unwrap_or_default(),
            clocksource: source.filter(|_| several).map(str::to_owned),
            findings,
        })
    });
    surprising.collect()
}

/// The best APIs of one clocksource, with which the others are compared.
struct Finest<'a> {
    /// All rows, among which each has a name of its own.
    all: &'a [RuntimeRecord],
    tick: Option<(f64, &'a RuntimeRecord)>,
    cost: Option<(f64, &'a RuntimeRecord)>,
}

/// The first of these APIs, each with its figure, that are as good as the best: the plainest API
/// comes first.
fn best<'a>(mut known: impl Iterator<Item = (f64, &'a RuntimeRecord)> + Clone) -> Option<(f64, &'a RuntimeRecord)> {
    let least = known.clone().map(|(figure, _)| figure).reduce(f64::min)?;
    known.find(|(figure, _)| *figure <= least * (1.0 + MAX_EQUAL_DIFFERENCE_SHARE))
}

impl<'a> Finest<'a> {
    fn new(rows: &[&'a RuntimeRecord], all: &'a [RuntimeRecord]) -> Self {
        // What is read from a page that the kernel writes now and then is cheap because it is
        // coarse.
        let fine = rows.iter().copied().filter(|row| row.documented_coarse == Figure::Known(false));
        Self {
            all,
            tick: best(rows.iter().filter_map(|row| Some((row.tick_ns.get()?, *row)))),
            cost: best(fine.filter_map(|row| Some((row.cost_ns.get()?, row)))),
        }
    }

    fn surprising(&self, row: &RuntimeRecord) -> Vec<SurprisingFact> {
        [self.tick_of(row), self.cost_of(row), regressions(row)].into_iter().flatten().collect()
    }

    fn tick_of(&self, row: &RuntimeRecord) -> Option<SurprisingFact> {
        let Some(tick_ns) = row.tick_ns.get() else { return repeating(row) };
        let (finest_ns, finest) = self.tick?;
        let nominal_ns = row.nominal_resolution_ns.get();
        let is_as_named =
            nominal_ns.is_some_and(|nominal| (tick_ns / nominal - 1.0).abs() < MAX_EQUAL_DIFFERENCE_SHARE);
        let repeats_percent = row.zeros_percent.get().filter(|zeros| *zeros >= MIN_SURPRISING_REPEATS_PERCENT);
        let is_coarser = tick_ns >= MIN_COARSE_TICK_RATIO * finest_ns;
        if !is_coarser && repeats_percent.is_none() || (is_as_named && is_documented_coarse(row)) {
            return None;
        }
        Some(SurprisingFact::Coarse {
            tick_ns,
            nominal_ns: nominal_ns.filter(|nominal| tick_ns > MIN_FINER_NOMINAL_RATIO * nominal),
            finest: is_coarser.then(|| self.compared(finest, finest_ns)),
            repeats_percent,
        })
    }

    fn cost_of(&self, row: &RuntimeRecord) -> Option<SurprisingFact> {
        let cost_ns = row.cost_ns.get()?;
        let (least_ns, cheapest) = self.cost?;
        let is_expensive = cost_ns >= MIN_EXPENSIVE_COST_RATIO * least_ns;
        is_expensive.then(|| SurprisingFact::Expensive { cost_ns, cheapest: self.compared(cheapest, least_ns) })
    }

    fn compared(&self, row: &RuntimeRecord, ns: f64) -> ComparedApi {
        ComparedApi { runtime: row.label(self.all), api: row.api.clone().unwrap_or_default(), ns }
    }
}

/// The fact of an API that repeats its readings and has no tick that is known.
fn repeating(row: &RuntimeRecord) -> Option<SurprisingFact> {
    let percent = row.zeros_percent.get().filter(|zeros| *zeros >= MIN_SURPRISING_REPEATS_PERCENT)?;
    let reads = row.reads.unwrap_or_default();
    let has_moved = row.observed_resolution_ns.is_known() || row.regressions.get().is_some_and(|count| count > 0);
    if percent < 100.0 || has_moved {
        return (!is_documented_coarse(row)).then_some(SurprisingFact::Repeats { percent });
    }
    // One of whole ms may not step while it is read for a few.
    let lasted_ns = row.cost_ns.get().map(|cost| cost * reads as f64);
    let nominal_ns = row.nominal_resolution_ns.get().filter(|_| is_documented_coarse(row));
    let is_short = lasted_ns.zip(nominal_ns).is_some_and(|(lasted, nominal)| lasted < MIN_STUCK_STEPS * nominal);
    (!is_short).then_some(SurprisingFact::Stuck { reads })
}

fn regressions(row: &RuntimeRecord) -> Option<SurprisingFact> {
    let count = row.regressions.get().filter(|count| *count > 0)?;
    Some(SurprisingFact::WentBack { count, reads: row.reads.unwrap_or_default() })
}

/// Returns true if its documentation says so: then that does not surprise. Where it is unknown,
/// nothing excuses it.
fn is_documented_coarse(row: &RuntimeRecord) -> bool {
    row.documented_coarse.get() == Some(true)
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Figure, TickReason, texts};

    use super::*;

    fn row(title: &str, api: &str, nominal: Option<f64>, tick: f64, cost: f64) -> RuntimeRecord {
        RuntimeRecord {
            title: title.into(),
            api: Some(api.into()),
            available: true,
            clocksource: Figure::Known("tsc".into()),
            documented_coarse: Figure::Known(nominal.is_some_and(|nominal| nominal >= 1e6)),
            nominal_resolution_ns: Figure::of(nominal, texts::NO_NOMINAL_IN_API),
            tick_ns: Figure::Known(tick),
            cost_ns: Figure::Known(cost),
            zeros_percent: Figure::Known(if tick > cost { 100.0 * (1.0 - cost / tick) } else { 0.0 }),
            regressions: Figure::Known(0),
            reads: Some(1000),
            ..RuntimeRecord::default()
        }
    }

    /// The names of the APIs that surprise, each with what does.
    fn found(rows: &[RuntimeRecord]) -> Vec<(String, Vec<SurprisingFact>)> {
        let of = |surprise: SurprisingApi| {
            let SurprisingApi { runtime, api, clocksource, findings, .. } = surprise;
            let under = clocksource.map_or_else(String::new, |clocksource| format!(" on {clocksource}"));
            (format!("{runtime} {api}{under}"), findings)
        };
        surprises(rows).into_iter().map(of).collect()
    }

    fn api(runtime: &str, api: &str, ns: f64) -> ComparedApi {
        ComparedApi { runtime: runtime.to_owned(), api: api.to_owned(), ns }
    }

    fn coarse(
        tick_ns: f64,
        nominal_ns: Option<f64>,
        finest: Option<ComparedApi>,
        repeats_percent: Option<f64>,
    ) -> SurprisingFact {
        SurprisingFact::Coarse { tick_ns, nominal_ns, finest, repeats_percent }
    }

    fn expensive(cost_ns: f64, cheapest: ComparedApi) -> SurprisingFact {
        SurprisingFact::Expensive { cost_ns, cheapest }
    }

    /// Readings that repeat the one before, in percent, as [`row`] has them.
    fn repeats(tick: f64, cost: f64) -> Option<f64> {
        Some(100.0 * (1.0 - cost / tick))
    }

    #[test]
    fn ticks_and_costs_surprise_and_what_is_documented_does_not() {
        let rows = [
            row("C", "clock_gettime", Some(1.0), 10.0, 22.0),
            row("Java", "nanoTime", Some(1.0), 10.0, 25.0),
            row("Java", "currentTimeMillis", Some(1e6), 1e6, 20.0),
            row("Mono", "Stopwatch", Some(100.0), 100.0, 28.0),
            row("Chromium", "performance.now", None, 1e5, 220.0),
            row(".NET", "TickCount64", Some(1e6), 4e6, 3.0),
            row("Python", "perf_counter_ns", Some(1.0), 10.0, 377.0),
        ];
        let c = |ns| api("C", "clock_gettime", ns);
        let mono = |finest| coarse(100.0, None, finest, repeats(100.0, 28.0));
        assert_eq!(
            found(&rows),
            [
                ("Mono Stopwatch".to_owned(), vec![mono(Some(c(10.0)))]),
                (
                    "Chromium performance.now".to_owned(),
                    vec![coarse(1e5, None, Some(c(10.0)), repeats(1e5, 220.0)), expensive(220.0, c(22.0))]
                ),
                (".NET TickCount64".to_owned(), vec![coarse(4e6, Some(1e6), Some(c(10.0)), repeats(4e6, 3.0))]),
                ("Python perf_counter_ns".to_owned(), vec![expensive(377.0, c(22.0))]),
            ]
        );
        assert!(surprises(&rows[..3]).is_empty() && surprises(&[]).is_empty());
        assert_eq!(found(&rows[3..4]), [("Mono Stopwatch".to_owned(), vec![mono(None)])]);
    }

    /// The nominal resolution excuses nothing, nor does an unknown fact; and what may be cheap
    /// because it is coarse is no measure for others.
    #[test]
    fn what_the_documentation_says_decides_and_not_the_unit() {
        let stating = |documented_coarse: Figure<bool>, nominal: f64| RuntimeRecord {
            documented_coarse,
            ..row("X", "millis", Some(nominal), 1e6, 2.0)
        };
        let unknown = || Figure::unknown(texts::NOT_REPORTED_BY_PROBE);
        let c = row("C", "clock_gettime", Some(1.0), 10.0, 22.0);
        for (coarse, nominal, is_surprise) in [
            (Figure::Known(true), 1e6, false),
            (Figure::Known(false), 1e6, true),
            (unknown(), 1e6, true),
            // A tick of 1 ms where 1 ns is stated.
            (Figure::Known(true), 1.0, true),
        ] {
            let rows = [c.clone(), stating(coarse.clone(), nominal)];
            let names: Vec<String> = found(&rows).into_iter().map(|(name, _)| name).collect();
            let is_found = names.iter().any(|name| name == "X millis");
            assert_eq!(is_found, is_surprise, "{coarse:?} {nominal}: {names:?}");
            // It costs 2 ns, and C eleven times as much.
            let is_measure = names.iter().any(|name| name == "C clock_gettime");
            assert_eq!(is_measure, coarse == Figure::Known(false), "{coarse:?}");
        }
    }

    #[test]
    fn clocksources_are_not_compared_with_each_other() {
        let mut hpet = row("C", "clock_gettime", Some(1.0), 69.8, 500.0);
        hpet.clocksource = Figure::Known("hpet".into());
        let tsc = row("C", "clock_gettime", Some(1.0), 10.0, 22.0);
        assert!(surprises(&[tsc.clone(), hpet.clone()]).is_empty());
        hpet.regressions = Figure::Known(2);
        let back = SurprisingFact::WentBack { count: 2, reads: 1000 };
        assert_eq!(found(&[tsc, hpet]), [("C clock_gettime on hpet".to_owned(), vec![back])]);
    }

    #[test]
    fn programs_of_one_runtime_have_names_of_their_own() {
        let python = |program: &str, version: &str, cost: f64| RuntimeRecord {
            program: Some(program.into()),
            version: Some(version.into()),
            ..row("Python", "time_ns", Some(1.0), 10.0, cost)
        };
        let c = RuntimeRecord { program: Some("/cc".into()), ..row("C", "time", Some(1.0), 10.0, 20.0) };
        let by_c = |name: &str, cost| (format!("{name} time_ns"), vec![expensive(cost, api("C", "time", 20.0))]);
        assert_eq!(
            found(&[c, python("/a", "3.11", 200.0), python("/b", "3.13", 400.0), python("/c", "3.13", 100.0)]),
            [by_c("Python 3.11", 200.0), by_c("Python (/b)", 400.0), by_c("Python (/c)", 100.0)]
        );
        assert_eq!(
            found(&[python("/a", "3.11", 20.0), python("/b", "3.13", 400.0)]),
            [("Python 3.13 time_ns".to_owned(), vec![expensive(400.0, api("Python 3.11", "time_ns", 20.0))])]
        );
    }

    #[test]
    fn the_first_of_those_as_good_as_the_best_is_compared_with() {
        let rows = [
            row("C", "clock_gettime", Some(1.0), 10.1, 22.2),
            row("Rust", "Instant", Some(1.0), 10.0, 22.0),
            row("X", "now", Some(1.0), 101.0, 222.0),
        ];
        let c = |ns| Some(api("C", "clock_gettime", ns));
        let both = vec![coarse(101.0, Some(1.0), c(10.1), None), expensive(222.0, api("C", "clock_gettime", 22.2))];
        assert_eq!(found(&rows), [("X now".to_owned(), both)]);
    }

    #[test]
    fn one_that_is_stuck_surprises_though_its_tick_is_unknown() {
        let with = |nominal: Option<f64>, zeros: f64, observed: Option<f64>, cost: Option<f64>| RuntimeRecord {
            tick_ns: Figure::unknown(TickReason::FewSteps),
            zeros_percent: Figure::Known(zeros),
            observed_resolution_ns: Figure::of(observed, texts::NO_FORWARD_STEP),
            cost_ns: Figure::of(cost, texts::COARSE_RUNTIME_TIMER),
            ..row("X", "now", nominal, 10.0, 20.0)
        };
        let stuck = || Some(SurprisingFact::Stuck { reads: 1000 });
        let repeating = |percent| Some(SurprisingFact::Repeats { percent });
        for (row, expected) in [
            (with(Some(1.0), 100.0, None, Some(20.0)), stuck()),
            (with(None, 100.0, None, None), stuck()),
            (with(None, 99.99, Some(1e5), Some(20.0)), repeating(99.99)),
            (with(None, 50.0, Some(1e5), Some(20.0)), repeating(50.0)),
            (with(None, 49.9, Some(1e5), Some(20.0)), None),
            // It stepped from one batch to the next only.
            (with(None, 100.0, Some(4e6), Some(20.0)), repeating(100.0)),
            // Of whole ms: few steps, or none in a time so short, are nothing.
            (with(Some(1e6), 99.99, Some(1e6), Some(20.0)), None),
            (with(Some(1e6), 100.0, None, Some(20.0)), None),
            (with(Some(1e6), 100.0, None, Some(1e6)), stuck()),
            (with(Some(1e6), 100.0, None, None), stuck()),
        ] {
            let findings: Vec<SurprisingFact> =
                found(std::slice::from_ref(&row)).into_iter().flat_map(|(_, findings)| findings).collect();
            assert_eq!(findings, Vec::from_iter(expected), "{row:?}");
        }
        let back = RuntimeRecord { regressions: Figure::Known(1), ..with(None, 100.0, None, None) };
        assert!(found(&[back]).iter().all(|(_, findings)| !findings.contains(&SurprisingFact::Stuck { reads: 1000 })));
    }
}
