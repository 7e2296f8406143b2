//! PTP hardware clocks: the devices /dev/ptp*.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use clockscope_core::Errno;
use clockscope_core::brackets::Bracket;
use clockscope_core::os::posix::{BySyscall, Timespec};
use clockscope_records::{Figure, PtpClock, Unknown, texts};

use crate::failure::system_error;

/// Comparisons, of which the narrowest counts. One over a PCI bus takes some µs.
const COMPARISONS: usize = 25;

pub(crate) fn ptp() -> Vec<PtpClock> {
    clocks_in(Path::new("/dev"), Path::new("/sys/class/ptp"))
}

/// The devices of a folder, by their numbers, with their names from another one.
fn clocks_in(devices: &Path, names: &Path) -> Vec<PtpClock> {
    let entries = fs::read_dir(devices).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("ptp")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| clock(format!("ptp{number}"), devices, names)).collect()
}

fn clock(device: String, devices: &Path, names: &Path) -> PtpClock {
    let name = fs::read_to_string(names.join(&device).join("clock_name")).ok();
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let compared = compared(&devices.join(&device));
    PtpClock {
        name: Figure::of(name, texts::PTP_NAME_HIDDEN),
        offset_s: compared.clone().map(|(offset_s, _)| offset_s).into(),
        bound_s: compared.map(|(_, bound_s)| bound_s).into(),
        device,
    }
}

/// The offset of a device from the time of day and its bound, in s.
fn compared(path: &Path) -> Result<(f64, f64), Unknown> {
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| format!("open of {}: {error}", path.display()))?;
    // FD_TO_CLOCKID of the kernel's uapi: a dynamic clock's id is made of its file descriptor.
    let device = BySyscall::new((!file.as_raw_fd() << 3) | 3);
    let realtime = BySyscall::new(libc::CLOCK_REALTIME);
    let brackets: Result<Vec<Bracket>, Errno> = (0..COMPARISONS).map(|_| bracket(&realtime, &device)).collect();
    let brackets =
        brackets.map_err(|errno| format!("clock_gettime of {}: {}", path.display(), system_error(errno).words))?;
    offset(&brackets).ok_or_else(|| "the time of day was set during each comparison".into())
}

/// Reads the time of day before and after the device.
fn bracket(realtime: &BySyscall, device: &BySyscall) -> Result<Bracket, Errno> {
    Ok(Bracket { before: read(realtime)?, inner: read(device)?, after: read(realtime)? })
}

fn read(clock: &BySyscall) -> Result<u64, Errno> {
    let mut time = Timespec::default();
    clock.read(&mut time)?;
    Ok(time.nanoseconds())
}

/// Returns the lead of the device, the inner clock, by the narrowest of these brackets, and its
/// bound: in s. `None` where the other clock went back in each.
fn offset(brackets: &[Bracket]) -> Option<(f64, f64)> {
    let narrowest = brackets.iter().filter(|bracket| !bracket.went_back()).min_by_key(|bracket| bracket.width())?;
    let (least, most) = narrowest.ahead();
    // Twice the offset is a whole number, although the middle need not be.
    let twice = i128::from(least) + i128::from(most);
    // Either clock shows whole nanoseconds.
    let bound_ns = narrowest.span() as f64 / 2.0 + 1.0;
    Some((twice as f64 / 2e9, bound_ns / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that is there and is not a clock has its name, and the reason why it is not
    /// read.
    #[test]
    fn a_device_that_is_not_read_has_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let [devices, names] = ["dev", "class"].map(|name| folder.path().join(name));
        fs::create_dir_all(names.join("ptp1")).unwrap();
        fs::create_dir(&devices).unwrap();
        for name in ["ptp10", "ptp1", "ptp", "ptp_kvm", "tty0"] {
            fs::write(devices.join(name), "").unwrap();
        }
        fs::write(names.join("ptp1/clock_name"), "KVM virtual PTP\n").unwrap();
        let found = clocks_in(&devices, &names);
        let [first, second] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((first.device.as_str(), second.device.as_str()), ("ptp1", "ptp10"));
        assert_eq!(first.name, Figure::Known("KVM virtual PTP".to_owned()));
        assert_eq!(second.name, Figure::unknown(texts::PTP_NAME_HIDDEN));
        assert!(!first.offset_s.is_known() && !first.bound_s.is_known(), "{first:?}");
        assert_eq!(clocks_in(&folder.path().join("nowhere"), &names), []);
    }

    #[test]
    fn the_narrowest_comparison_counts() {
        let second = 1_000_000_000;
        let at = |before: u64, inner: u64, after: u64| {
            let [before, inner, after] = [before, inner, after].map(|ns| second + ns);
            Bracket { before, inner, after }
        };
        let (offset_s, bound_s) = offset(&[at(0, 90_000, 10_000), at(20_000, 37_500, 21_001), at(9, 0, 5)]).unwrap();
        // The middle of the second is 20,500.5 ns; half of its width is 500.5 ns.
        assert!((offset_s * 1e9 - 16_999.5).abs() < 1e-3, "{offset_s}");
        assert!((bound_s * 1e9 - 501.5).abs() < 1e-3, "{bound_s}");
        let (behind, _) = offset(&[at(100, 0, 100)]).unwrap();
        assert!((behind * 1e9 + 100.0).abs() < 1e-3, "{behind}");
        assert_eq!(offset(&[at(2, 0, 1)]), None, "the clock was set");
        assert_eq!(offset(&[]), None);
    }
}
