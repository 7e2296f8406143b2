//! The two clocks that the clock of the process is made of: the processor's counter, and the
//! system's timeline.

use core::sync::atomic::{AtomicBool, Ordering};

use clockscope_core::clocksource::{self, ClocksourceName};
use clockscope_core::os::{self, Timeline};
use clockscope_core::{Errno, counter};

use crate::disciplined::{Counter, Disciplined, FirstReading, OsClock, Shared, WallStatement, Wiped, wipe_on_fork};
use crate::wall_bounds::kernel::KernelBounds;

/// The processor's counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native;

const _: () = assert!(size_of::<Native>() == 0, "it lies in memory that a fork wipes");

/// The clock of the process.
pub(crate) static CLOCK: Disciplined<Native, Timeline> = Disciplined::new(Native, Timeline::new());

impl Wiped for Native {
    fn shared() -> &'static Shared<Self, Timeline> {
        CLOCK.shared()
    }
}

impl Counter for Native {
    /// Not `ticks::now()`: DSB on aarch64 and SYNC on POWER cost more than the rest of a reading.
    #[inline(always)]
    fn ordered(&self) -> u64 {
        counter::after_branches()
    }

    #[inline(always)]
    fn unordered(&self) -> u64 {
        counter::unordered()
    }

    /// x86: the bare read. Every OS clock begins with an instruction that waits for it: the vDSO's
    /// own ordered read, or SYSCALL. Elsewhere the ordered one.
    #[inline(always)]
    fn before_os(&self) -> u64 {
        if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { self.unordered() } else { self.ordered() }
    }

    fn is_permitted(&self) -> Option<bool> {
        if counter::EXISTS { os::counter_is_permitted() } else { Some(false) }
    }

    fn is_clocksource(&self) -> Option<bool> {
        match os::counter_is_clocksource() {
            None if IS_ADMITTED.load(Ordering::Relaxed) => os::counter_is_accepted(),
            answer => answer,
        }
    }

    fn is_invariant(&self) -> Option<bool> {
        counter::is_invariant()
    }

    /// On Linux one file answers both. Elsewhere the name is a question of its own.
    fn clocksource(&self) -> (Option<bool>, Option<ClocksourceName>) {
        if !cfg!(any(target_os = "linux", target_os = "android")) {
            return (self.is_clocksource(), None);
        }
        let name = os::clocksource();
        (name.map(|name| clocksource::is_counter(name.as_bytes())), name)
    }

    fn clocksource_name(&self) -> Option<ClocksourceName> {
        os::clocksource()
    }

    fn nominal_hz(&self) -> Option<(f64, &'static str)> {
        counter::nominal_frequencies().nominal_hz(|| None).map(|(hz, by)| (hz, by.name()))
    }

    fn kernel_hz(&self) -> Option<f64> {
        os::perf_frequency().ok()
    }
}

impl OsClock for Timeline {
    #[inline(always)]
    fn now_ns(&self) -> Result<u64, Errno> {
        Timeline::now_ns(self)
    }

    fn tick_ns(&self, is_the_counter: bool) -> u64 {
        os::keep_errno(|| Timeline::tick_ns(self, is_the_counter))
    }

    fn is_monotonic(&self) -> bool {
        Timeline::is_monotonic(self)
    }

    fn suspended_ns(&self) -> Option<u64> {
        Timeline::suspended_ns(self)
    }

    fn disruptions(&self) -> Option<u64> {
        Timeline::disruptions(self)
    }

    fn current_cpu(&self) -> Option<u32> {
        Timeline::current_cpu(self)
    }

    fn raw_ns(&self) -> Option<u64> {
        Timeline::raw_ns(self)
    }

    #[inline(always)]
    fn wall_ns(&self) -> Result<i64, Errno> {
        Timeline::wall_ns(self)
    }

    /// Linux steers both alike (kernel/time/timekeeping.c: one mult, two bases). Of others it is
    /// not known.
    fn is_wall_steered_alike(&self) -> bool {
        cfg!(any(target_os = "linux", target_os = "android"))
    }

    #[inline(always)]
    fn boot_ns(&self) -> Result<i64, Errno> {
        Timeline::boot_ns(self)
    }

    /// As the wall clock.
    fn is_boot_steered_alike(&self) -> bool {
        self.is_wall_steered_alike()
    }

    fn wall_statement(&self) -> Option<WallStatement> {
        os::kernel_clock().ok().map(|state| state.wall_statement())
    }

    fn process(&self) -> u64 {
        os::process()
    }

    fn first_reading<'a>(&'a self, _: &'a FirstReading) -> &'a FirstReading {
        static FIRST_READING: FirstReading = FirstReading::in_used_memory();
        &FIRST_READING
    }

    #[inline(never)]
    fn prepare(&self, may_read_counter: Option<bool>) {
        os::keep_errno(|| {
            Timeline::prepare(self, may_read_counter == Some(false));
            wipe_on_fork::<Native>();
        });
    }
}

/// True if the program takes the counter where the system accepts it. Not forgotten in a child.
static IS_ADMITTED: AtomicBool = AtomicBool::new(false);

/// The program takes the counter where the system accepts it, or not.
pub(crate) fn admit(is_admitted: bool) {
    IS_ADMITTED.store(is_admitted, Ordering::Relaxed);
}
