//! The timecounters of the BSDs: what the kernel could build its clocks on, how good it says that
//! each is, and why it does not use the processor's counter.
//!
//! Sources: timecounters(4) of FreeBSD, with an example of each key; the function `tc_init` of
//! FreeBSD's kern_tc.c, which never switches to a timecounter of a quality below 0 by itself; the
//! functions that print `kern.timecounter.choice` in kern_tc.c of NetBSD and of OpenBSD.

use clockscope_core::clocksource::{Architecture, is_counter_of};
use clockscope_records::{KernelCause, KernelVerdict};

use crate::os::facts;
use crate::pseudo_files;

/// A timecounter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timecounter {
    /// Its name.
    pub name: String,
    /// Quality, compared with others. Below 0, the kernel never chooses it by itself.
    pub quality: i64,
    /// Frequency at which it counts, in Hz, where the kernel shows that.
    pub frequency_hz: Option<u64>,
    /// The bits that count, where the kernel shows them.
    pub mask: Option<u64>,
}

impl Timecounter {
    /// Returns how many bits count; `None` where that is not shown, or no number of bits.
    #[must_use]
    pub fn bits(&self) -> Option<u32> {
        let bits = self.mask?.trailing_ones();
        let is_whole = self.mask?.checked_shr(bits).unwrap_or(0) == 0;
        (is_whole && bits > 0).then_some(bits)
    }
}

/// Returns all timecounters in the kernel's order; `None` on systems without, and where the kernel
/// does not show them.
#[must_use]
pub fn read() -> Option<Vec<Timecounter>> {
    let mut timecounters = parse_timecounters(&facts::timecounters()?)?;
    for one in &mut timecounters {
        one.frequency_hz = facts::timecounter_number(&one.name, "frequency").or(one.frequency_hz);
        one.mask = facts::timecounter_number(&one.name, "mask").or(one.mask);
    }
    Some(timecounters)
}

/// Reads `kern.timecounter.choice`: `TSC-low(1000) HPET(950)` of FreeBSD and OpenBSD, `TSC(q=3000,
/// f=2400000000 Hz) hpet0(q=2000, f=14318180 Hz)` of NetBSD. Names may have spaces. `None` for a
/// text of another form.
#[cfg_attr(
    not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd", test, fuzzing)),
    allow(dead_code, reason = "only the BSDs have such a text")
)]
pub(crate) fn parse_timecounters(listing: &str) -> Option<Vec<Timecounter>> {
    let mut remaining = listing.trim();
    let mut found = Vec::new();
    while !remaining.is_empty() {
        let (name, after) = remaining.split_once('(')?;
        let (facts, after) = after.split_once(')')?;
        let name = pseudo_files::is_name_of_words(name).then(|| name.to_owned())?;
        let (quality, frequency_hz) = facts_of(facts)?;
        found.push(Timecounter { name, quality, frequency_hz, mask: None });
        remaining = after.trim_start();
    }
    Some(found)
}

/// The quality, and the frequency where there is one.
fn facts_of(facts: &str) -> Option<(i64, Option<u64>)> {
    let Some(both) = facts.strip_prefix("q=") else { return Some((facts.parse().ok()?, None)) };
    let (quality, frequency) = both.split_once(", f=")?;
    Some((quality.parse().ok()?, Some(frequency.strip_suffix(" Hz")?.parse().ok()?)))
}

/// The kernel's verdict on an architecture's counter, by its timecounters.
pub(crate) fn verdict(architecture: Architecture, current: Option<&str>, all: &[Timecounter]) -> KernelVerdict {
    let counters = all.iter().filter(|one| is_counter_of(architecture, one.name.as_bytes()));
    let counter = counters.max_by_key(|one| one.quality);
    let is_current = current.map(|name| is_counter_of(architecture, name.as_bytes()));
    let reasons = if is_current == Some(true) { Vec::new() } else { causes(counter, current, all) };
    KernelVerdict {
        name: counter.map(|counter| counter.name.clone()),
        is_current,
        is_available: Some(counter.is_some_and(|counter| counter.quality >= 0)),
        reasons,
        log_error: None,
    }
}

/// Reasons why the counter is not used.
fn causes(counter: Option<&Timecounter>, current: Option<&str>, all: &[Timecounter]) -> Vec<KernelCause> {
    let Some(counter) = counter else { return vec![KernelCause::NoTimecounter] };
    let (timecounter, quality) = (counter.name.clone(), counter.quality);
    if quality < 0 {
        return vec![KernelCause::NegativeQuality { timecounter, quality }];
    }
    let chosen = current.and_then(|current| all.iter().find(|one| one.name == current));
    let cause = chosen.map(|chosen| match chosen.quality {
        chosen_quality if chosen_quality >= quality => {
            KernelCause::PrefersTimecounter { timecounter, quality, chosen: chosen.name.clone(), chosen_quality }
        }
        _ => KernelCause::ChosenTimecounter { timecounter, chosen: chosen.name.clone() },
    });
    cause.into_iter().collect()
}

/// Any text is read or refused; what is read is shown and read again (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(listing: &str) {
    for one in parse_timecounters(listing).into_iter().flatten() {
        assert!(!one.name.is_empty() && one.bits().is_none());
    }
}

#[cfg(test)]
mod tests;
