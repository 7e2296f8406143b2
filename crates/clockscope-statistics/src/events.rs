//! Counts what happened between successive readings of a clock: repeats, steps back, and, against a
//! reference that was read before and after each batch, jumps, gaps and hidden regressions.
//! docs/reference/method/events.md has the definitions.
//!
//! With `before` <= a reading <= `after` on the reference, the clock's offset (clock - reference)
//! when the first reading was taken is at most `first - before`, and when the last was taken at
//! least `last - after`. All that is judged here follows from these two bounds, so that time in
//! which the thread did not run, which moves `after` as much as the readings, can never be taken
//! for a fault of the clock.

mod thresholds;
mod worst;

use clockscope_records::{Events, Figure, Worst, WorstEvent};
use thresholds::JumpThresholds;

/// Most repeats of a stall, which has two at least. A clock that repeats itself more often is
/// stuck, unless its tick explains that.
pub const STALL_MAX: u64 = 199;
/// Longest time for which a clock stands still that its tick explains, in ticks.
const MAX_STILL_TICKS: f64 = 4.0;
/// A clock with a tick of at least this many ns is moved by the kernel's timer tick, at 1000 Hz or
/// fewer. The fastest is taken a little shorter than its nominal 1 ms, since clocks are slewed.
const MIN_TIMER_TICK_NS: f64 = 0.9e6;
/// The CPU that serves the timer tick may not run for this many ns, as on a busy host of virtual
/// machines: a clock that stood still for so long is no fault if the timer tick moves it.
const MAX_LATE_TIMER_TICK_NS: f64 = 100e6;
/// A pause between two batches that is longer than this, in ns, does not count as time that a clock
/// stood still: the whole machine may have been stopped.
const MAX_PAUSE_NS: f64 = 1e6;
/// A jump of more than this many nanoseconds is a warp.
pub const WARP_NS: f64 = 1e6;
/// Rate by which a healthy clock may differ from a perfect reference: the kernel's limit for
/// slewing, 500 ppm.
const MAX_SLEW_SHARE: f64 = 500e-6;
/// No smaller step than this many ns is counted singly.
const MIN_THRESHOLD_NS: f64 = 1000.0;

/// Readings that follow one another, and the reference around them.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The readings, in the clock's unit.
    pub values: &'a [u64],
    /// The reference before the first reading, in ns.
    pub before_ns: f64,
    /// The reference after the last reading, in ns.
    pub after_ns: f64,
    /// Usual cost of a read, in ns; `None` while that is not known, and then no gap is counted.
    pub cost_ns: Option<f64>,
}

/// Way in which jumps, gaps and hidden regressions are judged, if they can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judge {
    /// Against a reference with this tick in ns, whose rate is known to this share.
    Reference {
        /// The reference's tick, in ns.
        tick_ns: f64,
        /// Bound of its rate's error, e.g. 1e-6 for 1 ppm.
        rate_error: f64,
    },
    /// Not at all, for this reason: the clock is not meant to follow the reference (CPU time, core
    /// cycles).
    None(&'static str),
}

impl Judge {
    /// Returns a figure that the reference shows, or why there is none.
    fn figure<T>(self, found: Result<T, &'static str>) -> Figure<T> {
        match self {
            Self::Reference { .. } => found.into(),
            Self::None(reason) => Figure::unknown(reason),
        }
    }
}

/// Counts so far, as in [`Events`].
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    reads: u64,
    span_ns: f64,
    stuck: u64,
    stall: u64,
    warp: u64,
    jump: u64,
    gap: u64,
    regression: u64,
    hidden_regression: u64,
    /// Readings equal to the one before.
    repeats: u64,
    /// The smallest positive difference, in the clock's unit.
    smallest_step: Option<u64>,
}

/// Counts events over the batches of one clock. Memory is taken once, for the longest batch.
#[derive(Clone, Debug)]
pub struct EventCounter {
    ns_per_unit: f64,
    nominal_tick_ns: f64,
    judge: Judge,
    counts: Counts,
    origin: Option<u64>,
    last: Option<u64>,
    /// Repeats of `last` so far.
    run: u64,
    /// Time for which the clock certainly stood still during them, in ns.
    run_ns: f64,
    /// Time that a read of the batch at hand takes, in ns: no more than usual, and 0 while that is
    /// not known.
    read_ns: f64,
    /// End of the last batch.
    ended_ns: f64,
    /// Steps forward of the batch at hand that are at least as long as the threshold, less what
    /// they returned.
    steps: Vec<LongStep>,
    worst: Worst,
    /// Start of the first batch, and of the one at hand.
    began_ns: Option<f64>,
    batch_ns: f64,
    level: Option<Level>,
    thresholds: JumpThresholds,
}

/// A step forward: when, and how far beyond the time of a read.
#[derive(Clone, Copy, Debug)]
struct LongStep {
    at_ns: f64,
    size_ns: f64,
}

/// Bounds of the clock's offset that are known after a batch.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The offset was at most this when the value last changed. Infinite before the first change:
    /// where inside its tick a coarse clock was met is not known.
    ceiling_ns: f64,
    /// The offset is at least this.
    floor_ns: f64,
    /// Time by which the clock stands back and has not returned.
    behind_ns: f64,
    before_ns: f64,
    after_ns: f64,
    /// True if a batch shows a loss of time: the clock moves in it. One that an interruption made
    /// longer than the clock's tick shows nothing of the others.
    decidable: bool,
}

/// Tolerance on the reference's side.
#[derive(Clone, Copy, Debug)]
struct ReferenceTolerance {
    tick_ns: f64,
    /// Most that clock and reference may drift apart, per time.
    drift: f64,
}

/// Facts that the readings of one batch show by themselves.
#[derive(Clone, Copy, Debug)]
struct Scan {
    /// From the previous batch's last reading to this one's first, in units; `None` in the first
    /// batch.
    boundary: Option<i64>,
    first_ns: f64,
    last_ns: f64,
    /// The first reading inside it that differs from the one before, in ns; `None` if all are
    /// equal.
    changed_ns: Option<f64>,
    /// Time by which the clock stands back at the end, be it since this batch or from before.
    behind_ns: f64,
    /// Part of that which came about inside the batch; negative if it returned from where it stood
    /// at the start.
    sunk_ns: f64,
    /// A reading inside it was smaller than the one before. A gap that follows looks like the
    /// return, so that more may be lost at the end than `behind_ns`.
    went_back: bool,
}

impl Scan {
    /// Returns how far the clock can be ahead of the reference at the end of a batch, in ns, from
    /// how far it could be at its start. At least `lowest_ns`, by its last reading. A batch whose
    /// first reading is fresh, or that has one value alone, says no more than the start.
    fn ceiling_at_end(&self, fresh: bool, before_ns: f64, jumped_ns: f64, [at_start_ns, lowest_ns]: [f64; 2]) -> f64 {
        match self.changed_ns.filter(|_| !fresh) {
            None => (at_start_ns + jumped_ns - self.sunk_ns).max(lowest_ns),
            // Where it went back, it may have done so when it first changed.
            Some(_) if self.went_back => self.last_ns - before_ns,
            // A later change gives a bound as well, but one that is looser by the time until then:
            // as much would be taken for a return in the next batch.
            Some(changed_ns) => (changed_ns - before_ns + jumped_ns - self.sunk_ns).max(lowest_ns),
        }
    }
}

impl EventCounter {
    /// A counter for a clock of `ns_per_unit`, whose interface states `nominal_tick_ns` (0 if
    /// nothing), read in batches of at most `longest` readings.
    #[must_use]
    pub fn new(ns_per_unit: f64, nominal_tick_ns: f64, judge: Judge, longest: usize) -> Self {
        Self {
            ns_per_unit,
            nominal_tick_ns,
            judge,
            counts: Counts::default(),
            origin: None,
            last: None,
            run: 0,
            run_ns: 0.0,
            read_ns: 0.0,
            ended_ns: 0.0,
            steps: Vec::with_capacity(longest),
            worst: worst::with_capacity(),
            began_ns: None,
            batch_ns: 0.0,
            level: None,
            thresholds: JumpThresholds::new(),
        }
    }

    /// Smallest step that is counted singly, in ns: max(10 x cost, 1 µs, the clock's tick, the
    /// reference's tick).
    #[must_use]
    pub fn threshold_ns(&self, cost_ns: f64) -> f64 {
        let ReferenceTolerance { tick_ns, .. } = self.reference();
        (10.0 * cost_ns).max(MIN_THRESHOLD_NS).max(self.tick_ns()).max(tick_ns)
    }

    /// Most that clock and reference may be apart after `elapsed_ns` without either being at fault.
    fn slack_ns(&self, elapsed_ns: f64) -> f64 {
        let ReferenceTolerance { tick_ns, drift } = self.reference();
        self.tick_ns() + tick_ns + drift * elapsed_ns
    }

    fn reference(&self) -> ReferenceTolerance {
        match self.judge {
            Judge::Reference { tick_ns, rate_error } => {
                ReferenceTolerance { tick_ns, drift: MAX_SLEW_SHARE + rate_error }
            }
            Judge::None(_) => ReferenceTolerance { tick_ns: 0.0, drift: 0.0 },
        }
    }

    /// The step that the clock is allowed: what its interface states or, if that is larger, the
    /// smallest one seen.
    fn tick_ns(&self) -> f64 {
        self.counts
            .smallest_step
            .map_or(self.nominal_tick_ns, |step| self.nominal_tick_ns.max(step as f64 * self.ns_per_unit))
    }

    fn ns_between(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from) as i64 as f64 * self.ns_per_unit
    }

    /// Counts the events of the next batch. Linear in its length; does not allocate.
    pub fn batch(&mut self, batch: Batch<'_>) {
        let (Some(&first), Some(&last)) = (batch.values.first(), batch.values.last()) else { return };
        let origin = *self.origin.get_or_insert(first);
        let began_ns = *self.began_ns.get_or_insert(batch.before_ns);
        self.batch_ns = batch.before_ns - began_ns;
        self.counts.span_ns = batch.after_ns - began_ns;
        let threshold_ns = self.threshold_ns(batch.cost_ns.unwrap_or(0.0));
        let (first_ns, last_ns) = (self.ns_between(origin, first), self.ns_between(origin, last));
        let mean_ns = (batch.after_ns - batch.before_ns).max(0.0) / batch.values.len() as f64;
        // Without a usual cost, an interruption of the batch would pass for a freeze.
        self.read_ns = batch.cost_ns.map_or(0.0, |cost_ns| cost_ns.min(mean_ns));
        let boundary = self.last.map(|last| self.step(last, first));
        if boundary == Some(0) {
            self.add_pause(batch.before_ns - self.ended_ns);
        }
        self.ended_ns = batch.after_ns;
        let owed_ns = self.owed_at_start(boundary, first_ns, batch.before_ns);
        let (behind_ns, went_back) = self.scan(batch.values, threshold_ns, batch.cost_ns.unwrap_or(0.0), owed_ns);
        self.last = Some(last);
        self.counts.reads += batch.values.len() as u64;
        if self.is_reference_back(batch) {
            self.level = None;
        } else if self.is_judged() {
            let changed = batch.values.iter().find(|value| **value != first);
            let changed_ns = changed.map(|value| self.ns_between(origin, *value));
            let sunk_ns = behind_ns - owed_ns;
            let scan = Scan { boundary, first_ns, last_ns, changed_ns, behind_ns, sunk_ns, went_back };
            self.judge(batch, scan, threshold_ns);
        }
    }

    /// Returns the smallest positive difference so far, in the clock's unit.
    #[must_use]
    pub const fn smallest_step(&self) -> Option<u64> {
        self.counts.smallest_step
    }

    /// Returns how many readings were equal to the one before.
    #[must_use]
    pub const fn repeats(&self) -> u64 {
        self.counts.repeats
    }

    const fn is_judged(&self) -> bool {
        matches!(self.judge, Judge::Reference { .. })
    }

    /// Time for which the clock may stand still without being stuck, in ns.
    fn max_still_ns(&self) -> f64 {
        let tick_ns = self.tick_ns();
        let late_ns = if tick_ns >= MIN_TIMER_TICK_NS { MAX_LATE_TIMER_TICK_NS } else { 0.0 };
        late_ns.max(MAX_STILL_TICKS * tick_ns)
    }

    /// Counts the pause before a batch that begins with a repeat. A clock of CPU time rightly
    /// stands still in it.
    fn add_pause(&mut self, pause_ns: f64) {
        if self.is_judged() && (0.0..=MAX_PAUSE_NS).contains(&pause_ns) {
            self.run_ns += pause_ns;
        }
    }

    /// Returns true if the reference went back during a batch, so that it shows nothing of the
    /// clock there: that the clock seems to be ahead is the reference's doing.
    fn is_reference_back(&self, batch: Batch<'_>) -> bool {
        batch.after_ns - batch.before_ns < -self.reference().tick_ns
    }

    /// Time by which the first reading stands back against the batch before: what may be returned
    /// without being a jump. A clock that falls behind by no more than rates differ has nothing to
    /// return: gaps of the next batch would pass for that.
    fn owed_at_start(&self, boundary: Option<i64>, first_ns: f64, before_ns: f64) -> f64 {
        let (Some(level), Some(boundary)) = (self.level, boundary.filter(|step| *step != 0)) else { return 0.0 };
        let stepped_back = -(boundary as f64) * self.ns_per_unit;
        let below = level.ceiling_ns - (first_ns - before_ns);
        let is_behind = below.is_finite() && below > self.slack_ns(before_ns - level.before_ns);
        stepped_back.max(if is_behind { below } else { 0.0 }).max(0.0)
    }

    /// Counts a gap of `size_ns` that fell after the last batch.
    pub fn gap_between_batches(&mut self, size_ns: f64) {
        self.counts.gap += 1;
        worst::add(&mut self.worst.gap, WorstEvent::sized(self.batch_ns, size_ns));
    }

    /// Returns the events so far and the worst of them, as [`Self::finish`] would, and
    /// goes on as if it had not been called: a run of repeats that is not over counts as it is now,
    /// and the next batch continues it.
    ///
    /// - Cost: copies some 30 kB and sorts up to 1024 numbers. Allocates, so call it between
    ///   batches.
    #[must_use]
    pub fn snapshot(&self) -> (Events, Worst) {
        self.clone().finish()
    }

    /// Closes the run of repeats that is not over, and returns the events and the worst of them.
    /// The caller adds errors, the threshold and the reference.
    #[must_use]
    pub fn finish(mut self) -> (Events, Worst) {
        self.end_run();
        let Self { judge, counts, level, thresholds, worst, .. } = self;
        // Before a clock's first step its tick is not known, so that none of the first batches
        // counts.
        let is_decidable = counts.hidden_regression > 0 || level.is_some_and(|level| level.decidable);
        let hidden_regression = if is_decidable {
            Ok(counts.hidden_regression)
        } else {
            Err("the clock's tick is longer than a batch of reads")
        };
        let events = Events {
            reads: counts.reads,
            errors: 0,
            span_ns: Figure::Known(counts.span_ns),
            stuck: counts.stuck,
            stall: counts.stall,
            warp: judge.figure(Ok(counts.warp)),
            jump: judge.figure(Ok(counts.jump)),
            gap: judge.figure(Ok(counts.gap)),
            regression: counts.regression,
            hidden_regression: judge.figure(hidden_regression),
            threshold_ns: Figure::default(),
            sure_ns: judge.figure(thresholds.most().ok_or("its value changed between no two batches of reads")),
            reference: Figure::default(),
            reference_shares_hardware: Figure::default(),
        };
        (events, worst)
    }

    /// Counts one difference by itself and returns it, in units.
    #[inline]
    fn step(&mut self, from: u64, to: u64) -> i64 {
        let step = to.wrapping_sub(from) as i64;
        if step == 0 {
            self.run += 1;
            self.run_ns += self.read_ns;
            self.counts.repeats += 1;
            return step;
        }
        if step < 0 {
            self.counts.regression += 1;
            let size_ns = -(step as f64) * self.ns_per_unit;
            worst::add(&mut self.worst.regression, WorstEvent::sized(self.batch_ns, size_ns));
        } else if self.counts.smallest_step.is_none_or(|smallest| (step as u64) < smallest) {
            self.counts.smallest_step = Some(step as u64);
        }
        if self.run != 0 {
            self.end_run();
        }
        step
    }

    /// Closes the run of repeats. Where neither a step nor the interface shows the clock's tick,
    /// any long run is stuck.
    fn end_run(&mut self) {
        let (run, run_ns) = (std::mem::take(&mut self.run), std::mem::take(&mut self.run_ns));
        match run {
            0 | 1 => {}
            2..=STALL_MAX => {
                self.counts.stall += 1;
                worst::add(&mut self.worst.stall, WorstEvent::repeated(self.batch_ns, run));
            }
            _ if run_ns <= self.max_still_ns() => {}
            _ => {
                self.counts.stuck += 1;
                worst::add(&mut self.worst.stuck, WorstEvent::repeated(self.batch_ns, run));
            }
        }
    }

    /// Returns the longest step that does not count as an event, in the clock's unit, of reads of
    /// this cost.
    fn most_usual_step(&self, cost_ns: f64) -> i64 {
        ((2.0 * cost_ns + self.tick_ns()) / self.ns_per_unit) as i64
    }

    /// Counts the differences inside a batch, collects the long ones, and returns how far the clock
    /// stands back at the end of it, in ns, having started `behind_ns` back: the return from a
    /// backward step is no second event. And whether a reading went back.
    fn scan(&mut self, values: &[u64], threshold_ns: f64, cost_ns: f64, mut behind_ns: f64) -> (f64, bool) {
        self.steps.clear();
        let mut went_back = false;
        let mut most_usual = self.most_usual_step(cost_ns);
        for pair in values.windows(2) {
            // Most steps are no event, and not the smallest.
            let known = self.counts.smallest_step.map_or(i64::MAX, |step| step as i64);
            if self.run == 0 && (known..=most_usual).contains(&(pair[1].wrapping_sub(pair[0]) as i64)) {
                continue;
            }
            let step = self.step(pair[0], pair[1]);
            if (1..known).contains(&step) {
                // The first steps of all may have been interruptions.
                most_usual = self.most_usual_step(cost_ns);
            }
            if (0..=most_usual).contains(&step) {
                continue;
            }
            // How much further the clock went than the time of a read.
            let mut step_ns = step as f64 * self.ns_per_unit - cost_ns;
            if step < 0 {
                behind_ns -= step_ns;
                went_back = true;
                continue;
            }
            let returned = behind_ns.min(step_ns);
            behind_ns -= returned;
            step_ns -= returned;
            if step_ns >= threshold_ns {
                let at_ns = self.batch_ns + pair[0].wrapping_sub(values[0]) as i64 as f64 * self.ns_per_unit;
                self.steps.push(LongStep { at_ns, size_ns: step_ns });
            }
        }
        (behind_ns, went_back)
    }

    /// Judges a batch against the reference.
    fn judge(&mut self, batch: Batch<'_>, scan: Scan, threshold_ns: f64) {
        let Batch { before_ns, after_ns, .. } = batch;
        let tick_ns = self.tick_ns();
        let highest_at_start = scan.first_ns - before_ns;
        let lowest_at_end = scan.last_ns - after_ns;
        // A first reading that repeats the last batch's was due when the value last changed.
        let fresh = scan.boundary.is_some_and(|step| step != 0);
        let ceiling_ns =
            if fresh { highest_at_start } else { self.level.map_or(f64::INFINITY, |level| level.ceiling_ns) };

        let slack_ns = self.slack_ns(after_ns - before_ns) + threshold_ns;
        // If there was a jump, any of the long steps may have been it: an interruption beside the
        // reference's readings hides part of a jump, which must not pass for a second one.
        let long_ns: f64 = self.steps.iter().map(|step| step.size_ns).sum();
        let has_jumped = self.count_jumps(lowest_at_end - ceiling_ns + scan.sunk_ns, slack_ns);
        if !has_jumped && ceiling_ns.is_finite() {
            let threshold_ns = slack_ns + ceiling_ns - lowest_at_end - scan.sunk_ns;
            self.thresholds.add(self.batch_ns, self.counts.span_ns, threshold_ns);
        }
        self.count_gaps(batch, scan, threshold_ns);

        let usual_ns = batch.cost_ns.map_or(f64::INFINITY, |cost_ns| cost_ns * batch.values.len() as f64);
        let decidable = tick_ns < usual_ns.min(after_ns - before_ns);
        let mut floor_ns = lowest_at_end;
        let mut jumped_ns = if has_jumped { long_ns } else { 0.0 };
        if let (Some(level), Some(boundary)) = (self.level, scan.boundary) {
            let slack_ns = self.slack_ns(after_ns - level.before_ns) + threshold_ns;
            let boundary_ns = boundary as f64 * self.ns_per_unit;
            let lowest_at_start = (lowest_at_end + scan.sunk_ns - jumped_ns).min(ceiling_ns);
            let ahead_ns = lowest_at_start - level.ceiling_ns - level.behind_ns;
            if boundary_ns >= threshold_ns && ahead_ns > slack_ns {
                jumped_ns = long_ns;
                self.count_jump(LongStep { at_ns: self.batch_ns, size_ns: ahead_ns });
            } else if ahead_ns.is_finite() {
                let between_ns = before_ns - level.after_ns;
                self.thresholds.add(self.batch_ns - between_ns, self.batch_ns, slack_ns - ahead_ns);
            }
            let hidden = boundary > 0 && decidable && level.floor_ns - highest_at_start > slack_ns;
            if hidden {
                self.counts.hidden_regression += 1;
                let lost = WorstEvent::sized(self.batch_ns, level.floor_ns - highest_at_start);
                worst::add(&mut self.worst.hidden_regression, lost);
            }
            // A batch that ended in a gap says little of its end: what was known before still
            // holds, unless the clock visibly stepped back. The step does not show the size of
            // that, as a gap may have hidden part of it.
            if boundary >= 0 && !hidden && !scan.went_back {
                floor_ns = floor_ns.max(level.floor_ns - self.reference().drift * (after_ns - level.after_ns));
            }
        }
        let ceiling_ns = scan.ceiling_at_end(fresh, before_ns, jumped_ns, [ceiling_ns, lowest_at_end]);
        self.level = Some(Level { ceiling_ns, floor_ns, behind_ns: scan.behind_ns, before_ns, after_ns, decidable });
    }

    /// Counts as many of the batch's long steps as jumps as it takes to explain that the clock is
    /// `ahead_ns` further than the reference allows; returns whether there was any. Those that were
    /// counted are taken from `steps`.
    fn count_jumps(&mut self, mut ahead_ns: f64, slack_ns: f64) -> bool {
        if ahead_ns <= slack_ns {
            return false;
        }
        let before = self.counts.jump;
        // Longest first; one that is longer than all that is to be explained was a gap.
        self.steps.sort_unstable_by(|a, b| b.size_ns.total_cmp(&a.size_ns));
        let mut left_ns = ahead_ns;
        for step in &self.steps {
            if left_ns > slack_ns && step.size_ns <= left_ns + slack_ns {
                left_ns -= step.size_ns;
            }
        }
        // What even all of the others do not explain is a jump that fell into a gap: one step shows
        // both, and alone.
        if left_ns > slack_ns
            && let Some(index) = self.steps.iter().rposition(|step| step.size_ns > ahead_ns + slack_ns)
        {
            let both = self.steps.remove(index);
            self.count_jump(LongStep { size_ns: ahead_ns, ..both });
            return true;
        }
        let mut steps = std::mem::take(&mut self.steps);
        steps.retain(|step| {
            let is_left = ahead_ns <= slack_ns || step.size_ns > ahead_ns + slack_ns;
            if !is_left {
                self.count_jump(*step);
                ahead_ns -= step.size_ns;
            }
            is_left
        });
        self.steps = steps;
        self.counts.jump > before
    }

    fn count_jump(&mut self, LongStep { at_ns, size_ns }: LongStep) {
        self.counts.jump += 1;
        worst::add(&mut self.worst.jump, WorstEvent::sized(at_ns, size_ns));
        if size_ns > WARP_NS {
            self.counts.warp += 1;
            worst::add(&mut self.worst.warp, WorstEvent::sized(at_ns, size_ns));
        }
    }

    /// Counts the long steps that are left as gaps if the reference saw them: the batch took that
    /// much longer than its reads do, or as long as the clock says. The first alone would miss
    /// short gaps where most batches, and so the usual cost, hold one. One for a clock whose tick
    /// is too long to show it. A batch that was slow throughout lost no time in one piece.
    fn count_gaps(&mut self, batch: Batch<'_>, scan: Scan, threshold_ns: f64) {
        let Some(cost_ns) = batch.cost_ns else { return };
        let span_ns = batch.after_ns - batch.before_ns;
        let lost_ns = span_ns - cost_ns * batch.values.len() as f64;
        if !self.steps.is_empty() {
            let ReferenceTolerance { drift, .. } = self.reference();
            let tolerance_ns = (self.tick_ns() + drift * span_ns).min(threshold_ns / 2.0);
            let is_as_long = !scan.went_back && scan.last_ns - scan.first_ns <= span_ns + tolerance_ns;
            if is_as_long || lost_ns >= threshold_ns / 2.0 {
                self.counts.gap += self.steps.len() as u64;
                for gap in &self.steps {
                    worst::add(&mut self.worst.gap, WorstEvent::sized(gap.at_ns, gap.size_ns));
                }
            }
        } else if lost_ns >= threshold_ns && self.tick_ns() >= threshold_ns {
            self.gap_between_batches(lost_ns);
        }
    }
}

#[cfg(test)]
mod tests;
