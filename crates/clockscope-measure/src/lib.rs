//! Answers the questions of clockscope about clocks. The answers are records.
//!
//! `platform` is the machine, as four traits. `instrument` measures a clock, and knows no question.
//! `questions` has one module each. Each imports only from those before it.
//!
//! This crate renders nothing and prints nothing. While a batch is being sampled nothing draws,
//! allocates or locks. Nothing here reads time through the C library except the clocks that are
//! being measured.
//!
//! # From a clock to a record
//!
//! Every question is asked of a [`Session`]: a machine, the facts about it, and a flag that ends
//! the question early. The session reaches its machine through the trait [`Platform`] alone (but
//! [`clocksources()`] switches those of the real one). Platforms are type parameters: a timed loop
//! is compiled for its clock and its timer, and tests bring simulated machines. A reading takes
//! this way:
//!
//! 1. `Setup` (`bench`) pins the thread, tries the clocks in a child, and calibrates the timer.
//! 2. `Bench` has the timer, the reference, and the timer's rate.
//! 3. `MeasuredClock` is a clock and its state: the events, the differences, and the readings that
//!    the tick is found from.
//! 4. `Sampler` is the timed loop. A platform hands each clock with its type to a `Visitor`. The
//!    catalog is such a visitor, and wraps the clock in a `Probe`, whose loops are compiled for it:
//!    `Sampler` has those of one thread, `PairSampler` those of two. The type is forgotten only
//!    outside the batch: `dyn ErasedClock` is one virtual call for about 20 µs of reads.
//! 5. `EventCounter`, `TickCollector` and `Reservoir` of `clockscope-statistics` judge the readings
//!    after the batch. They know no clock.
//! 6. The record is made of that state. It copies the clock's facts from its `ClockInfo`.
//!
//! # Questions
//!
//! - [`measure()`] interleaves the clocks and keeps their costs. [`steps()`] reads one after the
//!   other and keeps more detail; its runs can be recorded and replayed ([`record()`],
//!   [`replay()`]).
//! - [`after_work()`] reads the clocks of a measurement around other work as well.
//! - [`advise()`] computes from a record of either, fresh or from a file.
//! - [`order()`] and [`offsets()`] run on pairs of CPUs (`across`).
//! - [`rate()`] brackets pairs of clocks. [`gaps()`] watches one thread per CPU and asks the system
//!   for its counts. [`sleep()`] times calls that sleep.
//! - `measure --extended` adds order, offsets and rates in a few seconds (`extended`).
//! - [`check()`] asks all of these within a budget and judges. [`shootout()`] compares two clocks
//!   by the same questions.
//! - [`clocksources()`] and [`switched()`] are about the kernel's clocksources; `clockscope-system`
//!   switches them and puts them back.
//! - [`compare()`] compares records. [`info()`] and [`list()`] read no clock, [`bounds()`] reads
//!   the time of day.
//!
//! Each gives a record in an `Envelope`, the head that all documents share.

mod instrument;
mod platform;
mod questions;

pub use instrument::bench::Progress;
pub use instrument::catalog::{Catalog, Paths, UnknownClock};
pub use instrument::error::{MeasureError, PolicyError};
pub use instrument::missing_clock::{MissingClock, known_clocksource, missing_clock};
pub use instrument::session::Session;
pub use instrument::timer::TimerError;
pub use platform::{
    Clocks, Facts, Platform, ReferenceClock, SharedWord, SleepingCalls, Sleeps, ThisMachine, ThreadError, Threads,
    steering,
};
pub use questions::across::offsets::{OffsetsRequest, offsets};
pub use questions::across::order::{Handoff, OrderRequest, order};
pub use questions::advise::{AdviceInput, LanguageReadings, advise};
pub use questions::after_work::{AfterWorkRequest, Trial, after_work};
pub use questions::bounds::bounds;
pub use questions::check::{CheckRequest, accepted, check};
pub use questions::clocksource::{
    PerClocksource, SwitchedRequest, clocksources, switched, warning, with_each_clocksource,
};
pub use questions::compare::{
    CompareError, CompareRequest, ComparedQuestion, ComparedRecord, MISRATE, MachineDifference, comparable, compare,
};
pub use questions::gaps::{GapsRequest, gaps};
pub use questions::info::info;
pub use questions::list::{all_clocks, list};
pub use questions::measure::repeat::{MIN_INTERVAL_RUNS, between_runs};
pub use questions::measure::{MeasureRequest, measure};
pub use questions::rate::{Live, RateRequest, rate};
pub use questions::recording::{RecordRequest, RecordingFault, ReplayError, record, replay};
pub use questions::shootout::{ShootoutRequest, shootout};
pub use questions::sleep::{SleepRequest, calls as sleeping_calls, sleep};
pub use questions::steps::{Amount, StepsRequest, steps};
