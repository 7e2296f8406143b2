//! One fast clock out of two: little more than a counter's cost, an operating system's time.
//!
//! [`Disciplined`] serves the OS clock at first. Readings that come often calibrate the counter
//! against it, a bracket at a time; once the rate is known well enough, the time is computed from
//! the counter by a published line. It is renewed a little before it expires, and slewed so that it
//! meets the OS clock again. Nothing runs between calls.
//!
//! `clockscope::now()` reads the one static `Disciplined<Native, Timeline>` (`native.rs`): this
//! machine's counter, disciplined by CLOCK_MONOTONIC. Both clocks are type parameters, so that
//! tests bring worlds of their own. The fast path is `Page::read`, and nothing else.
//!
//! # Parts
//!
//! Folders have values and state. The files beside them have the clock's methods (`layers`).
//!
//! - **`clocks/`**: `sources` has the two clocks as traits. `first_reading` has the reading before
//!   the system is asked to wipe memory in children. `readings` reads both clocks and takes
//!   brackets, each a comparison of them; it also reads the published line.
//! - **`page/`**: `page` is the memory that threads share. `version` is its first word, `line` is
//!   the function that it publishes, and `offsets` are those of other clocks. `sync` has the
//!   atomics. A `statement` is the system's on the time of day, and `shared_statement` keeps it for
//!   callers without a line.
//! - **`rate/`**: `calibration` bounds the rate by many brackets. `drawn_rate` (`DrawnRate`) has
//!   the rate that lines are drawn by.
//! - **`lines/`**: the lock guards `state` (`SteeringState`), each part of which changes its own
//!   fields. `agreement` (`AmbiguousChange`) distinguishes a slew from a step.
//!   `errors` (`LineErrors`) has the error that brackets prove for the readings between them.
//!   `os_speed` (`OsSpeed`, `Width`) judges the widths of brackets. `time_hold` (`TimeHold`)
//!   measures how long the time is held. `generation` (`Generation`) has the beginning of a
//!   generation and the number of short ones before it. `carried` (`BesideNextLine`, `Carried`) has
//!   the values that are published with the next line. `steering` decides when a line begins, is
//!   renewed and ends, by the brackets that `comparison` takes and judges, and `publication`
//!   publishes and ends it. `standstill` holds the time while the OS clock is behind it.
//! - **Access to a line**: `serving` serves readings with or without a fresh line. `use_rate`
//!   (`LineUse`) decides whether a line pays.
//! - **Other clocks**: `offsets` compares the wall clock and the boot clock with the timeline and
//!   keeps their offsets. `offset_clock` serves both clocks, and `bounds` the time of day.
//! - **`trust/`**: `trust` (`Trust`) decides whether the counter may be used: by the answers of
//!   system and hardware (`system_answers`, `clocksource_names`), and by the last test of it
//!   (`verified_cpus`). `admission` asks, readmits and rejects, and `decisions` applies that
//!   without the lock. `migration` notices another machine, or a CPU outside of the test.
//! - **`process/`**: `shared` has the state that a fork wipes (`wiping`). `locking` takes the
//!   `lock`.
//! - **Reports**: `report` answers questions about the clock. `observation` has one moment of all
//!   clocks, for a history.
//!
//! # Layers
//!
//! The clock's methods are in several files, each with the methods of one layer. `layers` lists the
//! layers in their order, from `observation` down to `readings`, each a type. A layer's methods
//! call those of its own and of lower layers, and the compiler allows no other call. `Disciplined`
//! has the methods that users call, and holds the highest layer.
//!
//! # Protocol
//!
//! The version names a segment of the line, if there is a line. It also shows whether the counter
//! may be used, and whether a line is announced. Every decision replaces it by compare-and-swap,
//! and no value occurs twice. No reading is below the floor.
//!
//! - **A reader** loads the version, its segment and the floor, *then* reads the counter, then
//!   loads the version again. If it changed, the words may belong to two lines, and the reader
//!   takes the slow path. The time is the larger of line and floor. The first reader in the second
//!   segment makes the version name that one: no other bit is set by readers.
//! - **A reader of another clock** does the same, and adds the offset that was published with the
//!   line.
//! - **A reader of the OS clock** loads the version, reads that clock, *then* loads the version
//!   again. If the version is the same and has neither line nor announcement, it returns the
//!   reading as it is. Otherwise it reads again and puts that into the floor first. Where another
//!   clock itself is served, its readers do the same with a comparison of both clocks.
//! - **A publisher** holds the lock and loads the line that it replaces again. It writes a slot
//!   that no version names, and makes the version name it.
//! - **A thread that begins a line** announces it in the version *before* the line's bracket.
//! - **A thread that ends a line early** puts the line's end into the floor and then replaces the
//!   version. A decision needs no lock for that.
//! - **A thread that takes over the lock** of a lost holder ends the line and continues in another
//!   epoch: with other slots and another copy of the lock's content.
//!
//! Readings stay in order for three reasons. A line and its successor agree where both cover a
//! tick, so that a reader may use either. A thread that learns of an OS reading in the floor sees
//! that floor. An OS reading outside of the floor precedes the announcement and hence the bracket,
//! and no line begins below its bracket.
//!
//! # Invariants
//!
//! Each has a test that fails without it. `protocol.rs` is checked by loom. A file without a folder
//! is in `src/disciplined/`.
//!
//! - No reading is smaller than one before it in happens-before order, but for the limits that
//!   docs/concepts/library/situations.md states: `no_reading_is_smaller_than_one_that_was_known`
//!   (`tests/platform/order.rs`).
//! - A line is a fixed function, and its successor agrees with it, because that repeats its second
//!   segment and begins at its end: `lines_join_without_a_step` (`page/line.rs`).
//! - A reading is by the words of one version, because it loads the version twice:
//!   `a_line_is_read_whole`, `wall_time_is_of_one_version` (`protocol.rs`).
//! - Nothing is evaluated at or past a line's end, because only its end goes into the floor:
//!   `ticks_around_a_wrap_of_the_counter_are_covered` (`page/line.rs`).
//! - A line that ends early leaves its end in the floor, because readings may have been as late:
//!   `a_counter_that_was_given_up_is_not_served` (`protocol.rs`).
//! - An OS reading is in the floor before it is returned if a line may begin, because the bracket
//!   may be older: `an_unwritten_reading_is_below_the_line_that_begins` (`protocol.rs`).
//! - A thread that knows of a raised floor reads no less, because a reading acquires first:
//!   `a_floor_that_was_heard_of_is_seen` (`protocol.rs`).
//! - A line begins no lower than its bracket, because OS readings before that may not be in the
//!   floor: `batches_are_served_by_the_counter` (`tests/simulated/daemons.rs`, to 60 ns).
//! - A preempted bracket is not an anchor, because it is wider than the others:
//!   `an_interrupted_bracket_is_no_anchor` (`tests/simulated/worlds.rs`).
//! - A stale decision, such as "expired", does nothing to a line with another end, because the lock
//!   holder loads the line again: `a_thread_that_was_preempted_does_no_harm`
//!   (`tests/simulated/scripts.rs`).
//! - A late lock holder publishes nothing, because the version is another one:
//!   `a_lock_is_taken_over_once_and_for_good` (`protocol.rs`).
//! - A decision holds at once, because it replaces the version that a publisher would replace:
//!   `a_decision_holds_beside_an_owner_that_is_stopped` (`tests/simulated/owners.rs`).
//! - A set of the wall clock, or a suspend, shows at once when it is noticed, because a line
//!   without it is ended or never published: `a_line_of_before_a_set_is_not_served_after_a_check`
//!   (`protocol.rs`).
//! - The lock's content is cleared after a decision without the lock, because `version_left`
//!   differs: `a_slower_clock_that_the_kernel_stands_by_is_followed_after_a_recheck`
//!   (`tests/simulated/os_clock.rs`).
//! - No reading of a new generation is by the old line, because that ends first:
//!   `no_reading_of_a_new_generation_is_by_the_old_line` (`tests/simulated/worlds.rs`).
//! - The time is held when the OS clock steps back, and goes on after 10 ms, by an offset:
//!   `an_os_clock_that_steps_back_is_waited_for_ten_milliseconds` (`tests/simulated/os_clock.rs`).
//! - A forked child starts from zero, because `Shared` is wiped there:
//!   `a_forked_child_starts_afresh` (`tests/process/children.rs`).
//! - The counter is not read where it may not be, because every caller loads the version first:
//!   `a_counter_that_may_not_be_read_is_not`, `a_counter_that_is_forbidden_during_a_pause_stays_so`
//!   (`tests/simulated/worlds.rs`).
//! - No bracket is compared across an announced move, because the marker is read before it:
//!   `a_move_is_noticed_at_the_next_renewal` (`tests/simulated/migrations.rs`).
//! - The published error covers the largest that brackets prove, because their rates bound the OS
//!   clock's path if that bends once: `no_error_between_two_brackets_is_larger`
//!   (`lines/errors.rs`).
//! - No reading asks about the counter after the second, because the answers are stored:
//!   `no_question_follows_the_first_calibration` (`tests/simulated/os_clock.rs`).
//!
//! One rule has no test of its own: a line begins no lower than the floor. Readers use the larger
//! of both, so only the line's recorded error would show it.
//!
//! # Tests
//!
//! - Clocks in simulated worlds: `cargo test -p clockscope --test simulated`.
//! - Memory orderings: `cargo test -p clockscope-models`, and `cargo xtask test loom`, the four
//!   longest models.
//! - Threads, processes and broken counters of this machine: `cargo test -p clockscope --test
//!   platform order`, `--test process`, `--test process trap -- --include-ignored`.
//! - Machine code of a reading, and its size: `cargo xtask test fast-path size`.
//! - More cases of the property tests: `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=5000`.
//! - Speed: `cargo xtask bench library`, in half an hour.
//!
//! Random scripts of faults and preemption run in `tests/simulated/scripts.rs`. Real processes are
//! interfered with in `tests/process/`, and `machines/` emulates what kernels do.
//! docs/concepts/library/situations.md explains why; docs/decisions/library.md has the design
//! decisions.

mod admission;
mod bounds;
mod clocks;
mod comparison;
mod decisions;
mod layers;
mod lines;
mod locking;
mod migration;
mod observation;
mod offset_clock;
mod offsets;
mod page;
mod process;
#[cfg(test)]
#[cfg(clockscope_models)]
mod protocol;
mod publication;
mod rate;
mod readings;
mod report;
mod serving;
mod standstill;
mod steering;
mod trust;
mod use_rate;

#[cfg(test)]
pub(crate) use clocks::sources::trusted_counter;
pub use clocks::sources::{Counter, OsClock};
#[cfg(not(clockscope_models))]
pub use page::layout;
#[cfg(all(test, not(clockscope_models)))]
pub(crate) use page::shared_statement::carried_on;
pub use page::statement::{BoundedAt, WallStatement};
#[cfg(not(clockscope_models))]
pub(crate) use process::wiping::{Wiped, forget_in_children, wipe_on_fork};
#[cfg(not(clockscope_models))]
pub(crate) use trust::verified_cpus::MAX_CPUS;

use alloc::vec::Vec;
use core::time::Duration;

use crate::conversion::Conversion;
#[cfg(feature = "std")]
use crate::conversion::Uncalibrated;
use crate::evidence::{Demotion, ErrorBound, Evidence, Frequency, Source};
use crate::{Errno, Instant};
pub use clocks::first_reading::FirstReading;
use layers::Observer;
pub(crate) use lines::errors::{MAX_SLOWDOWN, MAX_SPEEDUP, error_ns};
pub(crate) use lines::generation::was_suspended;
pub(crate) use observation::Observation;
pub use observation::{BoundsRequest, Unobserved};
pub(crate) use page::statement::MAX_DRIFT;
pub(crate) use page::sync::{AtomicU64 as SharedWord, array_of, const_fn, fence};
pub(crate) use page::{ClockOffset, OffsetClock};
pub(crate) use process::lock::{ProcessGuard, ProcessLock, ProcessMark};
pub(crate) use process::shared::Shared;
pub(crate) use rate::calibration::Calibration;
use readings::Readings;

/// A clock that serves the time of the OS clock `S` by the counter `C`.
///
/// It never goes back, as long as the CPUs' counters agree and the counter does not step back by
/// less than two milliseconds at once. Larger steps are noticed at the first read; changes of rate,
/// by less than that, when the line is renewed: every millisecond while it is in use.
///
/// The counter is used where it may be read and the kernel builds its own clocks on it; where the
/// kernel does not, only after [`Disciplined::readmit`]. Counter and system are asked about that at
/// the second reading, or by [`Disciplined::prepare`], and then only by [`Disciplined::recheck`].
///
/// Most programs want the clock of the process: [`crate::now`]. This type is for clocks of one's
/// own, and for tests.
///
/// ```
/// use clockscope::disciplined::{Counter, Disciplined, OsClock};
/// # use std::cell::Cell;
/// /// A counter of 1 GHz and a clock that agrees with it; every read takes 10 ns.
/// struct Machine(Cell<u64>);
/// impl Counter for Machine {
///     fn ordered(&self) -> u64 {
///         self.0.set(self.0.get() + 10);
///         self.0.get()
///     }
///     fn is_permitted(&self) -> Option<bool> { Some(true) }
///     fn is_clocksource(&self) -> Option<bool> { Some(true) }
///     fn is_invariant(&self) -> Option<bool> { Some(true) }
/// }
/// impl OsClock for Machine {
///     fn now_ns(&self) -> Result<u64, clockscope::Errno> { Ok(self.ordered()) }
///     fn tick_ns(&self, _: bool) -> u64 { 1 }
/// }
///
/// let machine = Machine(Cell::new(0));
/// let clock = Disciplined::new(&machine, &machine);
/// assert_eq!(clock.source(), clockscope::Source::OsClock);
/// for _ in 0..200_000 {
///     clock.now();
/// }
/// assert_eq!(clock.source(), clockscope::Source::Counter);
/// ```
pub struct Disciplined<C, S> {
    pub(crate) layers: Observer<C, S>,
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    const_fn! {
        /// A clock of `counter` and `os`. Reads neither.
        pub fn new(counter: C, os: S) -> Self {
            Self { layers: Observer::new(Shared::new(Readings::new(counter, os))) }
        }
    }

    /// Returns this clock with segments of `ns` nanoseconds, between 1 µs and 100 ms. Longer ones
    /// follow the OS clock more slowly, shorter ones are renewed more often.
    ///
    /// # Panics
    /// `ns` is outside of that.
    #[must_use]
    pub const fn with_window_ns(mut self, ns: u64) -> Self {
        assert!(ns >= 1_000 && ns <= 100_000_000, "a window is 1 µs to 100 ms long");
        self.layers.readings_mut().requested_window_ns = ns;
        self
    }

    /// The time, ordered: a reading taken after another one, on any thread, in happens-before
    /// order, is never smaller.
    ///
    /// Unit: ns on the OS clock's timeline. Error: [`Disciplined::error_bound`]. Cost: the
    /// counter's ordered read and about 2 ns; about once a millisecond, 0.2 µs more; the OS clock's
    /// cost where that is served.
    #[inline(always)]
    pub fn now(&self) -> Instant {
        Instant::from_reading(self.layers.read())
    }

    /// Returns the time as [`Disciplined::now`] does, or the OS clock's error while no clock
    /// answers and the time stands still.
    ///
    /// # Errors
    /// The OS clock's.
    #[inline(always)]
    pub fn try_now(&self) -> Result<Instant, Errno> {
        self.layers.try_read().map(Instant::from_reading)
    }

    /// The time by a bare read of the counter, which the processor may take earlier, or later, than
    /// the program says, by as much as it has instructions in flight. Two of them may be out of
    /// order, across threads and even on one.
    ///
    /// Unit and error as [`Disciplined::now`]; cost: that of the bare read.
    #[inline(always)]
    pub fn now_unordered(&self) -> Instant {
        Instant::from_reading(self.layers.read_unordered())
    }

    /// The wall clock's time in ns since the Unix epoch, ordered as [`Disciplined::now`] is while
    /// that clock is not set back. At the epoch and after where no wall clock answers.
    ///
    /// Error: [`Disciplined::wall_error_ns`]. Cost: that of `now`.
    #[inline(always)]
    pub fn wall_ns(&self) -> i64 {
        self.layers.offset_clock_ns(OffsetClock::Wall)
    }

    /// The time of [`Disciplined::wall_ns`] by a bare read of the counter, as
    /// [`Disciplined::now_unordered`].
    #[inline(always)]
    pub fn wall_ns_unordered(&self) -> i64 {
        self.layers.offset_clock_ns_unordered(OffsetClock::Wall)
    }

    /// The time since the machine was started, in ns, with suspends; ordered as
    /// [`Disciplined::now`] is. Our own timeline if no such clock answers.
    ///
    /// Error: that of [`Disciplined::wall_error_ns`]. Cost: that of `now`.
    #[inline(always)]
    pub fn boot_ns(&self) -> i64 {
        self.layers.offset_clock_ns(OffsetClock::Boot)
    }

    /// The time of [`Disciplined::boot_ns`] by a bare read of the counter, as
    /// [`Disciplined::now_unordered`].
    #[inline(always)]
    pub fn boot_ns_unordered(&self) -> i64 {
        self.layers.offset_clock_ns_unordered(OffsetClock::Boot)
    }

    /// The interval in which the true time is, where the system states one.
    ///
    /// Cost: the counter's ordered read and two products; without a line, four reads of the
    /// system's clocks; once a second, the questions of [`OsClock::wall_statement`]. Without
    /// [`OsClock::raw_ns`] there is a question at each call that no line answers.
    #[inline(always)]
    pub fn bounded(&self) -> BoundedAt {
        self.layers.bounded()
    }

    /// Asks counter and system the questions of the second reading now, once for this process and
    /// its children. After that, no reading asks.
    pub fn prepare(&self) {
        self.layers.prepare();
    }

    /// Asks counter and system again, and follows the answers: stops using the counter, or uses it
    /// again if only former answers were against it. A question without a new answer keeps its
    /// former one. Returns true if the counter may be used. [`Disciplined::evidence`] reports these
    /// answers from now on.
    ///
    /// Compares the wall clock and the boot clock if they were read before: a suspend shows from
    /// now on.
    pub fn recheck(&self) -> bool {
        let is_used = self.layers.recheck_all();
        self.layers.check_other_clocks();
        is_used
    }

    /// Takes the counter although the kernel does not, because the library's test has shown that it
    /// may be trusted on every CPU ([`crate::revalidate`]). Takes effect at once, without the lock.
    /// `false` if it still may not be used: it may not be read, or is not invariant, or too many
    /// threads did not return from renewing the clock.
    pub fn readmit(&self) -> bool {
        self.layers.readmit_as_of(None, self.layers.os.disruptions())
    }

    /// Does what [`Disciplined::readmit`] does after a test on these CPUs. A renewal on another one
    /// ([`OsClock::current_cpu`]) revokes it. CPUs from 1024 on are not covered. `false` as well
    /// while another thread stores a test.
    pub fn readmit_on(&self, cpus: &[u32]) -> bool {
        self.layers.readmit_as_of(Some(cpus), self.layers.os.disruptions())
    }

    /// Stops using the counter, because the library's test of it has failed. Takes effect at once,
    /// without the lock.
    pub fn give_up(&self) {
        self.layers.give_up();
    }

    /// Compares the wall clock with our timeline now. Where its offset has changed, the line is
    /// published with the new one, so that all readings after this show it.
    pub fn check_wall(&self) {
        self.layers.check_offset(OffsetClock::Wall);
    }

    /// Compares the wall clock now, and returns a number that changes whenever a comparison shows
    /// that the wall clock was set, or leapt, or that the machine slept.
    pub fn wall_generation(&self) -> u64 {
        self.layers.wall_generation()
    }

    /// Returns the error of [`Disciplined::wall_ns`] against the wall clock beyond
    /// [`Disciplined::error_bound`], in ns: by a fresh comparison, and the largest since the wall
    /// clock was set. `None` if that clock does not answer.
    pub fn wall_error_ns(&self) -> Option<(u64, u64)> {
        self.layers.offset_error_ns(OffsetClock::Wall)
    }

    /// Returns the error of [`Disciplined::boot_ns`] against the boot clock, since the last
    /// suspend, as [`Disciplined::wall_error_ns`] does.
    pub fn boot_error_ns(&self) -> Option<(u64, u64)> {
        self.layers.offset_error_ns(OffsetClock::Boot)
    }

    /// Source of the time that would be served now.
    pub fn source(&self) -> Source {
        self.layers.source()
    }

    /// Returns a number that changes whenever the calibration of the counter is invalidated; 0
    /// before the first reading.
    pub fn generation(&self) -> u64 {
        self.layers.generation()
    }

    /// Returns |ours − OS| with the bracket's width: by a fresh bracket, and the largest since the
    /// generation began, with the one in which the generation before ended. While the OS clock is
    /// served, its tick, with the lead of a held time. `None` if it does not answer.
    ///
    /// The largest holds for every reading whose segment has ended, three windows ago at most, if
    /// the OS clock's rate changes at most once in two windows in which it is read.
    pub fn error_bound(&self) -> Option<ErrorBound> {
        self.layers.error_bound()
    }

    /// Returns the counter's mean frequency over the calibration's window, which is extended by a
    /// fresh bracket. Calibrates for a window or two if that was not done yet. `None` if the
    /// counter is not used.
    pub fn frequency(&self) -> Option<Frequency> {
        self.layers.frequency()
    }

    /// Returns the timeline's lead over the OS clock since that stepped back; zero if it never did.
    /// To compare the time with that clock's, add it there.
    pub fn timeline_offset(&self) -> Duration {
        Duration::from_nanos(self.layers.timeline_offset_ns())
    }

    /// Returns a conversion of ticks into time, by the window of [`Disciplined::frequency`].
    pub fn conversion(&self) -> Option<Conversion> {
        self.layers.conversion()
    }

    /// Returns a conversion of ticks into time, by two brackets. Waits for `duration` between them.
    ///
    /// # Errors
    /// [`Uncalibrated`].
    #[cfg(feature = "std")]
    pub fn calibrate_blocking(&self, duration: Duration) -> Result<Conversion, Uncalibrated> {
        self.layers.calibrate_blocking(duration)
    }

    /// Returns the smallest step between two consecutive readings; `None` if there was none.
    pub fn resolution(&self) -> Option<Duration> {
        self.layers.resolution()
    }

    /// Returns true if the time is a monotonic clock's, of a tick of 1 µs or less.
    pub fn is_high_resolution(&self) -> bool {
        self.layers.is_high_resolution()
    }

    /// Returns the evidence for and against the counter, and the reason why it is used or not.
    /// Counter and system are not asked: their answers are those of the second reading,
    /// [`Disciplined::prepare`] or the last [`Disciplined::recheck`].
    pub fn evidence(&self) -> Vec<Evidence> {
        self.layers.evidence()
    }

    /// The OS clock.
    #[cfg(not(clockscope_models))]
    pub(crate) fn os(&self) -> &S {
        &self.layers.os
    }

    /// The state that a forked child must not inherit; all-zero before the first use.
    #[cfg(not(clockscope_models))]
    pub(crate) fn shared(&self) -> &Shared<C, S> {
        &self.layers.shared
    }
}
