//! chronyd's state: the request *tracking* of its command protocol, version 6, over the loopback
//! (candm.h of its sources). Every user may send it.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::kernel_clock::Leap;

/// Address at which chronyd answers, unless it is configured otherwise.
pub const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 323);
/// It answers within some 100 µs, or not at all.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// Length of the reply, and so of the request: chronyd answers none that is shorter than its reply.
pub const LENGTH: usize = 104;
const VERSION: u8 = 6;
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const TRACKING: u16 = 33;
const TRACKING_REPLY: u16 = 5;
const UNSYNCHRONIZED: u16 = 3;
/// Its own clock (directive `local`), whose error it does not know.
const LOCAL: u32 = 0x7f7f_0101;

/// Answer of chronyd. In seconds and ppm, as it was sent: absurd values are among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracking {
    /// True if it knows an error: it is synchronized, and not by its own clock.
    pub is_synchronized: bool,
    /// The leap second that it announces.
    pub leap: Leap,
    /// Servers from here to a reference clock, and one.
    pub stratum: u16,
    /// Time by which the clock is behind, and will be moved.
    pub correction_s: f64,
    /// Correction of the frequency.
    pub freq_ppm: f64,
    /// Estimated error of that.
    pub skew_ppm: f64,
    /// Time to the reference clock and back.
    pub root_delay_s: f64,
    /// Errors that have added up on the way.
    pub root_dispersion_s: f64,
    /// Time between the last two measurements.
    pub update_interval_s: f64,
}

impl Tracking {
    /// Returns the largest error that the clock has beside the correction, as chrony's manual
    /// states it.
    #[must_use]
    pub fn error_s(&self) -> f64 {
        self.root_delay_s.abs() / 2.0 + self.root_dispersion_s.abs()
    }
}

/// Asks, and waits for [`PATIENCE`]; `None` where no answer comes. The answer has to bear the
/// number of the request.
#[must_use]
pub fn ask_at(address: SocketAddr, sequence: u32) -> Option<Tracking> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    socket.connect(address).ok()?;
    socket.set_read_timeout(Some(PATIENCE)).ok()?;
    socket.send(&request(sequence)).ok()?;
    let mut reply = [0; LENGTH + 1];
    let length = socket.recv(&mut reply).ok()?;
    tracking(reply.get(..length)?, sequence)
}

/// Big-endian, as all of the protocol.
fn request(sequence: u32) -> [u8; LENGTH] {
    let mut request = [0; LENGTH];
    request[0..2].copy_from_slice(&[VERSION, REQUEST]);
    request[4..6].copy_from_slice(&TRACKING.to_be_bytes());
    request[8..12].copy_from_slice(&sequence.to_be_bytes());
    request
}

/// Decodes the reply to the request of that number; `None` if it is another one, or a refusal.
#[must_use]
pub fn tracking(reply: &[u8], sequence: u32) -> Option<Tracking> {
    let reply: &[u8; LENGTH] = reply.try_into().ok()?;
    let is_reply = reply[0..2] == [VERSION, REPLY]
        && (half(reply, 4), half(reply, 6), half(reply, 8), word(reply, 16)) == (TRACKING, TRACKING_REPLY, 0, sequence);
    let (reference, leap) = (word(reply, 28), half(reply, 54));
    let found = Tracking {
        is_synchronized: leap < UNSYNCHRONIZED && ![0, LOCAL].contains(&reference),
        leap: [Leap::None, Leap::Insert, Leap::Delete].get(usize::from(leap)).copied().unwrap_or_default(),
        stratum: half(reply, 52),
        correction_s: number(word(reply, 68)),
        freq_ppm: number(word(reply, 80)),
        skew_ppm: number(word(reply, 88)),
        root_delay_s: number(word(reply, 92)),
        root_dispersion_s: number(word(reply, 96)),
        update_interval_s: number(word(reply, 100)),
    };
    is_reply.then_some(found)
}

fn half(reply: &[u8; LENGTH], at: usize) -> u16 {
    u16::from_be_bytes([reply[at], reply[at + 1]])
}

fn word(reply: &[u8; LENGTH], at: usize) -> u32 {
    u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]])
}

const COEFFICIENT_BITS: i32 = 25;
/// Largest rounding of a number of the protocol, as a share: its coefficient has 24 bits and a
/// sign.
pub const MAX_ROUNDING_SHARE: f64 = 1.0 / (1u32 << (COEFFICIENT_BITS - 2)) as f64;

/// Decodes a number of the protocol: a signed exponent of 7 bits and a signed coefficient of 25, of
/// which all are fraction bits.
#[must_use]
pub fn number(word: u32) -> f64 {
    let exponent = (word as i32) >> COEFFICIENT_BITS;
    let coefficient = ((word << 7) as i32) >> 7;
    f64::from(coefficient) * 2f64.powi(exponent - COEFFICIENT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_protocol() {
        for (word, value) in [(0, 0.0), (0x0100_0000 | 1 << 25, -1.0), (0x0480_0000, 1.0), (0x0280_0000, 0.5)] {
            assert!((number(word) - value).abs() < 1e-12, "{word:#x}: {} {value}", number(word));
        }
    }

    #[test]
    fn where_no_program_listens_the_answer_is_none() {
        let unused = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        assert_eq!(ask_at(unused, 1), None);
    }

    #[test]
    fn a_request_is_as_long_as_its_reply() {
        assert_eq!(request(0x0102_0304)[..12], [6, 1, 0, 0, 0, 33, 0, 0, 1, 2, 3, 4]);
    }

    /// A reply to request 7, as chronyd sends it.
    fn reply(reference: u32, leap: u16) -> [u8; LENGTH] {
        let mut reply = [0; LENGTH];
        reply[0..2].copy_from_slice(&[VERSION, REPLY]);
        for (at, half) in [(4, TRACKING), (6, TRACKING_REPLY), (52, 3), (54, leap)] {
            reply[at..at + 2].copy_from_slice(&half.to_be_bytes());
        }
        // A root delay of 0.5 s, a root dispersion of 1 s.
        for (at, word) in [(16, 7), (28, reference), (92, 0x0280_0000), (96, 0x0480_0000)] {
            reply[at..at + 4].copy_from_slice(&u32::to_be_bytes(word));
        }
        reply
    }

    #[test]
    fn the_error_is_half_of_the_delay_and_the_dispersion() {
        let found = tracking(&reply(0xc000_0201, 1), 7).unwrap();
        assert!((found.error_s() - 1.25).abs() < 1e-12, "{found:?}");
        assert_eq!((found.is_synchronized, found.leap, found.stratum), (true, Leap::Insert, 3));
        assert_eq!(tracking(&reply(0xc000_0201, 1), 8), None, "the number is that of another request");
    }

    #[test]
    fn a_clock_of_its_own_has_no_known_error() {
        for (reference, leap) in [(0, 0), (LOCAL, 0), (0xc000_0201, UNSYNCHRONIZED)] {
            let found = tracking(&reply(reference, leap), 7).unwrap();
            assert!(!found.is_synchronized, "{reference:#x} {leap}");
        }
    }
}
