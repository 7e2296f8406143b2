//! Notices by the hypervisor that it has moved this machine or restored it from a snapshot.
//!
//! Two devices make them: VMClock (ACPI's AMZNC10C; Linux 6.13 offers it as /dev/vmclock0) and the
//! VM generation ID (VMGENCTR, since Linux 5.18 for the kernel's own use). ACPI lists what the
//! firmware offers; a driver of the kernel has to take it.

use std::fs;
use std::path::Path;

use clockscope_core::Errno;
use clockscope_records::{ErrorCause, Figure, MoveNotice, MoveNotices};

use crate::failure::cause;

/// ACPI's names for each, as a device or as what it is compatible with (`modalias` has both, in
/// capitals).
const VMCLOCK: [&str; 2] = ["AMZNC10C", "VMCLOCK"];
const GENERATION: [&str; 2] = ["VMGENCTR", "VM_GEN_COUNTER"];

pub(crate) fn read() -> MoveNotices {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        let only_linux = "only Linux shows which devices the firmware offers";
        return MoveNotices { vmclock: Figure::unknown(only_linux), vm_generation: Figure::unknown(only_linux) };
    }
    read_in(Path::new("/sys/bus/acpi/devices"), Path::new("/dev/vmclock0"))
}

fn read_in(acpi: &Path, device: &Path) -> MoveNotices {
    let vmclock = match opened(device) {
        Ok(_) => Some(MoveNotice::Available),
        Err(error) if cause(Errno::from(&error)) == ErrorCause::Denied => Some(MoveNotice::NotPermitted),
        // As in a container whose /dev has less than the host's.
        Err(_) => offered(acpi, &VMCLOCK).map(without_device),
    };
    // It has no device of its own that a process could open.
    let generation = offered(acpi, &GENERATION).map(without_device);
    let hidden = "the kernel does not show which devices the firmware offers";
    MoveNotices { vmclock: Figure::of(vmclock, hidden), vm_generation: Figure::of(generation, hidden) }
}

/// Opens a device without waiting for it.
fn opened(device: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(device)
}

fn without_device(found: Offered) -> MoveNotice {
    match found {
        Offered::Bound => MoveNotice::KernelOnly,
        Offered::Unbound => MoveNotice::NoDriver,
        Offered::Not => MoveNotice::NotOffered,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    Bound,
    Unbound,
    Not,
}

/// State of a device of one of these names: whether ACPI lists it, and whether a driver has it.
/// `None` where ACPI's devices are not shown.
fn offered(acpi: &Path, names: &[&str]) -> Option<Offered> {
    let mut found = Offered::Not;
    for entry in fs::read_dir(acpi).ok()?.flatten() {
        let folder = entry.path();
        let alias = fs::read_to_string(folder.join("modalias")).unwrap_or_default();
        if !alias.trim().split(':').skip(1).any(|name| names.contains(&name)) {
            continue;
        }
        if folder.join("driver").exists() || folder.join("physical_node/driver").exists() {
            return Some(Offered::Bound);
        }
        found = Offered::Unbound;
    }
    Some(found)
}

// Names of devices have colons, which no file of Windows may have.
#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// The folder of ACPI's devices with these, each with its alias and with a driver or without.
    fn acpi(name: &str, devices: &[(&str, &str, bool)]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("clockscope-acpi-{name}-{}", std::process::id()));
        for (device, alias, has_driver) in devices {
            let device = folder.join(device);
            fs::create_dir_all(device.join("physical_node")).unwrap();
            fs::write(device.join("modalias"), format!("{alias}\n")).unwrap();
            if *has_driver {
                fs::create_dir(device.join("physical_node/driver")).unwrap();
            }
        }
        folder
    }

    #[test]
    fn what_the_firmware_offers_is_found_with_and_without_a_driver() {
        let vmclock = ("AMZNC10C:00", "acpi:AMZNC10C:VMCLOCK:");
        let generation = ("QEMUVGID:00", "acpi:QEMUVGID:VM_GEN_COUNTER:");
        let other = ("PNP0501:00", "acpi:PNP0501:", true);
        let examples = [
            ("none", vec![other], (MoveNotice::NotOffered, MoveNotice::NotOffered)),
            (
                "unbound",
                vec![other, (vmclock.0, vmclock.1, false), (generation.0, generation.1, false)],
                (MoveNotice::NoDriver, MoveNotice::NoDriver),
            ),
            (
                "bound",
                vec![(vmclock.0, vmclock.1, true), (generation.0, generation.1, true)],
                (MoveNotice::KernelOnly, MoveNotice::KernelOnly),
            ),
        ];
        for (name, devices, (vmclock, generation)) in examples {
            let folder = acpi(name, &devices);
            let found = read_in(&folder, Path::new("/nonexistent/vmclock0"));
            assert_eq!((found.vmclock.get(), found.vm_generation.get()), (Some(vmclock), Some(generation)), "{name}");
            // The device itself is the proof that there is a driver.
            let with_device = read_in(&folder, &folder);
            assert_eq!(with_device.vmclock.get(), Some(MoveNotice::Available));
            fs::remove_dir_all(folder).unwrap();
        }
        let hidden = read_in(Path::new("/nonexistent"), Path::new("/nonexistent/vmclock0"));
        assert_eq!((hidden.vmclock.get(), hidden.vm_generation.get()), (None, None));
    }
}
