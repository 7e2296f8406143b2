//! The counter and the clocks, now and at every time in the past.
//!
//! Threads do not have the same time. A thread that is behind a change reads what was there before.

use super::change::{Change, TimedChange};
use crate::simulation::clock::SimulatedClock;
use crate::simulation::counter::SimulatedCounter;

/// The counter and the clocks between two changes.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) counter: SimulatedCounter,
    pub(super) clocks: Vec<SimulatedClock>,
}

impl World {
    /// Applies what a change does to clocks and counter.
    fn apply(&mut self, now_ps: u128, change: &Change) {
        match change {
            Change::StepClock { clock, ns } => self.clocks[*clock].step(*ns),
            Change::SlewClock { clock, share } => self.clocks[*clock].slew(now_ps, *share),
            Change::FreezeClock { clock } => self.clocks[*clock].freeze(now_ps, &self.counter),
            Change::ThawClock { clock } => self.clocks[*clock].thaw(),
            Change::RefuseClock { clock, refused } => self.clocks[*clock].refuse(*refused),
            Change::SetClockTick { clock, ns } => self.clocks[*clock].set_tick_ns(*ns),
            Change::SetCounterRate { hz } => self.counter.set_rate(now_ps, *hz),
            Change::StepCounter { ticks } => self.counter.line().step(i128::from(*ticks)),
            Change::SetCounterOffset { cpu, ticks } => self.counter.set_offset(*cpu, *ticks),
            Change::GlitchCounter { ticks } => self.counter.glitch(ticks.iter().copied()),
            Change::MoveMachine { ticks, hz, .. } => {
                self.counter.line().step(i128::from(*ticks));
                self.counter.set_rate(now_ps, *hz);
            }
            Change::Suspend { ps, left_out } => {
                left_out.iter().for_each(|clock| self.clocks[*clock].leave_out(now_ps, u128::from(*ps)));
            }
            Change::SetLoad { .. } | Change::SetOnline { .. } => {}
        }
    }

    /// Returns the same world while the machine is suspended: these clocks stand still.
    fn halted(&self, now_ps: u128, clocks: &[usize]) -> Self {
        let mut halted = self.clone();
        clocks.iter().for_each(|clock| halted.clocks[*clock].line().set_rate(now_ps, 0.0));
        halted
    }
}

/// All worlds so far.
#[derive(Clone, Debug)]
pub(super) struct History {
    now: World,
    /// Start of the present one.
    since_ps: u128,
    /// Those before, each with its end.
    former: Vec<(u128, World)>,
    /// Events that were applied.
    applied: usize,
    /// Time at which the next one is due.
    due_ps: u128,
}

impl History {
    pub(super) fn new(counter: SimulatedCounter) -> Self {
        let now = World { counter, clocks: Vec::new() };
        Self { now, since_ps: 0, former: Vec::new(), applied: 0, due_ps: u128::MAX }
    }

    /// Adds a clock, which has always been there.
    pub(super) fn add(&mut self, clock: &SimulatedClock) -> usize {
        self.former.iter_mut().for_each(|(_, world)| world.clocks.push(clock.clone()));
        self.now.clocks.push(clock.clone());
        self.now.clocks.len() - 1
    }

    /// Learns that events were added after those that were applied.
    pub(super) fn expect(&mut self, events: &[TimedChange]) {
        self.due_ps = events.get(self.applied).map_or(u128::MAX, |event| event.at_ps);
    }

    /// Returns the first place among the events that is not fixed.
    pub(super) fn applied(&self) -> usize {
        self.applied
    }

    /// Returns whether a change is due at this time.
    #[inline]
    pub(super) fn is_due(&self, now_ps: u128) -> bool {
        self.due_ps <= now_ps
    }

    /// Applies the next event. Returns when it happened: not before the end of a suspend.
    pub(super) fn apply_next(&mut self, events: &[TimedChange]) -> u128 {
        let TimedChange { at_ps, change } = &events[self.applied];
        let at_ps = (*at_ps).max(self.since_ps);
        self.end(at_ps);
        if let Change::Suspend { ps, left_out } = change {
            let halted = self.now.halted(at_ps, left_out);
            self.former.push((at_ps + u128::from(*ps), halted));
            self.since_ps = at_ps + u128::from(*ps);
        }
        self.now.apply(at_ps, change);
        self.applied += 1;
        self.expect(events);
        at_ps
    }

    fn end(&mut self, at_ps: u128) {
        let mut former = self.now.clone();
        former.counter.drop_glitches();
        self.former.push((at_ps, former));
        self.since_ps = at_ps;
    }

    /// Returns the world at a time.
    #[inline]
    pub(super) fn at(&mut self, ps: u128) -> &mut World {
        if ps >= self.since_ps {
            return &mut self.now;
        }
        let index = self.former.partition_point(|(until_ps, _)| *until_ps <= ps);
        self.former.get_mut(index).map_or(&mut self.now, |(_, world)| world)
    }
}
