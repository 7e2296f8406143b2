//! Asks chronyd how far the clock is off: the request *tracking* of its command protocol, version
//! 6, over the loopback (candm.h of its sources). Every user may ask that.

use std::net::SocketAddr;

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;

use clockscope_core::chrony::{self, ADDRESS, MAX_ROUNDING_SHARE, PATIENCE};
use clockscope_core::kernel_clock::{KernelClockState, Leap};
use clockscope_core::os;

use crate::wall_bounds::kernel::KernelBounds;
use crate::wall_bounds::{Unbounded, WallInterval};
use crate::{Instant, now};
use clockscope_core::Basis;
use clockscope_core::WallState;

/// Time without questions after one without an answer, in ns.
const SILENCE_NS: u64 = 1_000_000_000;

/// Largest slew of the OS clock, as a share (adjtimex(2)).
const MAX_SLEW: f64 = 0.1005;

/// Limit of a correction and of an error, in s.
const DAY_S: f64 = 86_400.0;

/// The interval of the true time by chronyd's answer, or by the kernel's state without one. The
/// state was read after `began`.
///
/// # Errors
/// The kernel states none, or it is worth nothing.
pub(super) fn bounded(kernel: KernelClockState, began: Instant) -> Result<(WallInterval, KernelClockState), Unbounded> {
    const TRIES: u32 = 2;
    let (mut kernel, mut read) = (kernel, (began, now()));
    for _ in 0..TRIES {
        let Some(tracking) = ask() else { break };
        let answered = now();
        let later = os::kernel_clock().map_err(Unbounded::Refused)?;
        let read_later = (answered, now());
        // A clock that was set in between is not the one that the answer is about.
        if is_continuous((&kernel, read), (&later, read_later)) {
            let took_ns = (read_later.1.ns_since(answered), answered.ns_since(read.0));
            return Ok((tracking.interval(&later, took_ns), later));
        }
        (kernel, read) = (later, read_later);
    }
    // Anew: an answer may have been waited for.
    let again = now();
    let kernel = os::kernel_clock().map_err(Unbounded::Refused)?;
    Ok((kernel.interval(now().ns_since(again))?, kernel))
}

/// Returns true if a slew explains the advance of the kernel's clock between two states. Each was
/// read between two moments.
fn is_continuous(
    (former, (began, read)): (&KernelClockState, (Instant, Instant)),
    (later, (began_later, read_later)): (&KernelClockState, (Instant, Instant)),
) -> bool {
    let advance = (later.unix_ns - former.unix_ns) as f64;
    let (least, most) = (began_later.ns_since(read) as f64, read_later.ns_since(began) as f64);
    let rounded = former.unit_ns.max(later.unit_ns) as f64 + 1_000.0;
    (least * (1.0 - MAX_SLEW) - rounded..=most * (1.0 + MAX_SLEW) + rounded).contains(&advance)
}

/// Figures of chronyd for the clock's error. In seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tracking {
    /// The clock's lag, which will be corrected.
    correction: f64,
    root_delay: f64,
    root_dispersion: f64,
    leap: Leap,
}

/// Asks; `None` if chronyd does not answer, or is not synchronized.
fn ask() -> Option<Tracking> {
    static SILENT_UNTIL_NS: AtomicU64 = AtomicU64::new(0);
    let start = now();
    if start.as_ns() < SILENT_UNTIL_NS.load(Ordering::Relaxed) {
        return None;
    }
    let answer = ask_at(ADDRESS);
    if answer.is_none() && start.elapsed() >= PATIENCE {
        SILENT_UNTIL_NS.store(start.as_ns().saturating_add(SILENCE_NS), Ordering::Relaxed);
    }
    answer
}

fn ask_at(address: SocketAddr) -> Option<Tracking> {
    Tracking::accepted(&chrony::ask_at(address, now().as_ns() as u32)?)
}

impl Tracking {
    /// Returns the figures of an answer; `None` if it is not synchronized or not plausible.
    fn accepted(answer: &chrony::Tracking) -> Option<Self> {
        // Every clock has an error.
        let is_plausible = answer.error_s() > 0.0 && answer.error_s() < DAY_S && answer.correction_s.abs() < DAY_S;
        if !answer.is_synchronized || !is_plausible {
            return None;
        }
        Some(Self {
            correction: answer.correction_s,
            root_delay: answer.root_delay_s,
            root_dispersion: answer.root_dispersion_s,
            leap: answer.leap,
        })
    }

    /// The largest error that the clock has beside the correction, as chrony's manual states it.
    fn error_s(&self) -> f64 {
        self.root_delay.abs() / 2.0 + self.root_dispersion.abs()
    }

    /// The interval of the true time, where the kernel's clock was read in `reading_ns`, after an
    /// answer that took `answer_ns`. The clock is slewed on meanwhile.
    pub(super) fn interval(&self, kernel: &KernelClockState, (reading_ns, answer_ns): (u64, u64)) -> WallInterval {
        let rounded_s = self.correction.abs() * MAX_ROUNDING_SHARE;
        let slewed_ns = MAX_SLEW * (reading_ns + answer_ns) as f64;
        let error_ns = (self.error_s() + rounded_s) * 1e9 + slewed_ns;
        let error_ns = (error_ns.ceil() as u64).saturating_add(kernel.unit_ns).saturating_add(reading_ns);
        // In ns both are exact enough: a float has 53 bits, and a correction of months is none.
        let unix_ns = kernel.unix_ns + (self.correction * 1e9) as i128;
        // chronyd may correct a leap second by itself, without the kernel's.
        let leap = if kernel.leap == Leap::None { self.leap } else { kernel.leap };
        WallInterval::around(unix_ns, error_ns, (Basis::Chronyd, WallState::Synchronized), leap)
    }
}

/// Decodes any bytes (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(reply: &[u8]) {
    if let Some(found) = chrony::tracking(reply, 0).and_then(|found| Tracking::accepted(&found)) {
        assert!(found.correction.is_finite() && found.error_s() > 0.0);
        let interval = found.interval(&KernelClockState::unsynchronized(0), (0, 0));
        assert!(interval.earliest_ns <= interval.latest_ns);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    use clockscope_core::chrony::LENGTH;

    use super::*;

    fn tracking(reply: &[u8], sequence: u32) -> Option<Tracking> {
        chrony::tracking(reply, sequence).and_then(|found| Tracking::accepted(&found))
    }

    /// Replies that chronyd 4.3 gave, with what chronyc printed of each, and the true time less the
    /// clock's just after: `name hex correction_s root_delay_s root_dispersion_s leap
    /// true_minus_real_ns`.
    const REPLIES: &str = include_str!("tracking.txt");

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    fn sequence(reply: &[u8]) -> u32 {
        u32::from_be_bytes(reply[16..20].try_into().unwrap())
    }

    fn recorded() -> impl Iterator<Item = Vec<&'static str>> {
        REPLIES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_whitespace().collect())
    }

    #[test]
    fn recorded_replies_are_decoded_as_chronyc_does() {
        let mut seen = (0, 0);
        for fields in recorded() {
            let [name, hex, correction, root_delay, root_dispersion, leap, true_minus_real] = fields[..] else {
                panic!("{fields:?}")
            };
            let reply = bytes(hex);
            let found = tracking(&reply, sequence(&reply));
            if leap == "unsynchronized" || name.starts_with("local") {
                assert_eq!(found, None, "{name}");
                seen.0 += 1;
                continue;
            }
            let found = found.unwrap_or_else(|| panic!("{name}"));
            let printed = [correction, root_delay, root_dispersion].map(|text| text.parse::<f64>().unwrap());
            for (ours, printed) in [found.correction, found.root_delay, found.root_dispersion].iter().zip(printed) {
                assert!((ours - printed).abs() < 0.6e-9, "{name}: {ours} {printed}");
            }
            // The slew went on for some ms between the reply and the reading of the true time.
            let truth: i128 = true_minus_real.parse().unwrap();
            let interval = found.interval(&KernelClockState::unsynchronized(0), (0, 20_000_000));
            assert!((interval.earliest_ns..=interval.latest_ns).contains(&truth), "{name}: {interval:?} {truth}");
            seen.1 += 1;
        }
        assert!(seen.0 >= 3 && seen.1 >= 12, "{seen:?}");
    }

    #[test]
    fn what_is_no_reply_to_the_request_is_rejected() {
        let reply = bytes(recorded().find(|fields| fields[0] == "rtcsync-settled").unwrap()[1]);
        let sequence = sequence(&reply);
        assert!(tracking(&reply, sequence).is_some());
        assert_eq!(tracking(&reply, sequence ^ 1), None);
        assert_eq!(tracking(&reply[..LENGTH - 1], sequence), None);
        // Version, kind, command, reply, status.
        for at in [0, 1, 5, 7, 9] {
            let mut other = reply.clone();
            other[at] ^= 1;
            assert_eq!(tracking(&other, sequence), None, "byte {at}");
        }
        for at in 92..100 {
            let mut other = reply.clone();
            other[at] = 0;
            let _ = tracking(&other, sequence);
        }
        let mut without_error = reply.clone();
        without_error[92..100].fill(0);
        assert_eq!(tracking(&without_error, sequence), None);
    }

    /// A server on the loopback that answers as chronyd does.
    #[test]
    fn a_server_is_queried() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.local_addr().unwrap();
        let mut reply = bytes(recorded().find(|fields| fields[0] == "rtcsync-settled").unwrap()[1]);
        let expected = tracking(&reply, sequence(&reply)).unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let (server, is_over) = (&server, &is_over);
        server.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let mut request = [0; 2 * LENGTH];
                    let Ok((length, client)) = server.recv_from(&mut request) else { continue };
                    assert_eq!((length, request[0], request[1]), (LENGTH, 6, 1));
                    reply[16..20].copy_from_slice(&request[8..12]);
                    server.send_to(&reply, client).unwrap();
                }
            });
            // A busy machine may not answer in time.
            let found = (0..1000).find_map(|_| ask_at(address));
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(found, Some(expected));
        });
    }

    #[test]
    fn nobody_is_waited_for_where_nobody_listens() {
        let unused = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        assert_eq!(ask_at(unused), None);
    }

    #[test]
    fn absurd_numbers_are_rejected() {
        let reply = bytes(recorded().find(|fields| fields[0] == "rtcsync-settled").unwrap()[1]);
        // The largest and the smallest numbers that there are.
        for (at, word) in [(68, 0x7eff_ffff_u32), (68, 0x7f00_0000), (92, 0x7eff_ffff), (96, 0x7eff_ffff)] {
            let mut other = reply.clone();
            other[at..at + 4].copy_from_slice(&word.to_be_bytes());
            assert_eq!(tracking(&other, sequence(&other)), None, "{at} {word:#x}");
        }
        let mut leap = reply.clone();
        leap[55] = 1;
        let interval = tracking(&leap, sequence(&leap)).unwrap().interval(&KernelClockState::unsynchronized(0), (0, 0));
        assert_eq!(interval.leap, Leap::Insert);
    }

    #[test]
    fn a_clock_that_was_set_meanwhile_is_noticed() {
        let (at, state) = (Instant::from_ns, KernelClockState::unsynchronized);
        for (later_ns, is_set) in [
            (900_000, false),
            (1_000_000, false),
            (1_100_000, false),
            (-1_000_000, true),
            (0, true),
            (880_000, true),
            (1_110_000, true),
            (1_000_000_000, true),
        ] {
            let later = (&state(later_ns), (at(1_000_000), at(1_001_000)));
            assert_eq!(is_continuous((&state(0), (at(0), at(1_000))), later), !is_set, "{later_ns}");
        }
    }
}
