//! Things that the system offers or hides, arranged by mounts of the process's own: a page of the
//! hypervisor that announces moves, and a container without /sys.

use std::ffi::CStr;
use std::os::unix::fs::FileExt;
use std::process::Command;

use clockscope::{Finding, Source};
use clockscope_testing::{allowed_cpus, skip};

use super::{assert_right, in_a_process, read, settle};

/// Starts a program in a mount namespace of its own; `None` where that is not allowed.
fn with_own_mounts() -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["unshare", "--mount"], &["unshare", "--user", "--map-root-user", "--mount"]];
    ways.into_iter().find(|way| {
        let tried = Command::new(way[0]).args(&way[1..]).args(["mount", "-t", "tmpfs", "tmpfs", "/sys"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    })
}

/// Puts an empty folder over another one, for this process alone.
fn hide(folder: &CStr) {
    // SAFETY: strings that end with 0; a temporary file system takes no data.
    let answer = unsafe { libc::mount(c"tmpfs".as_ptr(), folder.as_ptr(), c"tmpfs".as_ptr(), 0, core::ptr::null()) };
    assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
}

/// The page of include/uapi/linux/vmclock-abi.h, with this marker.
fn vmclock(sequence: u32, marker: u64) -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[0..4].copy_from_slice(b"VCLK");
    page[4..8].copy_from_slice(&4096u32.to_le_bytes());
    page[8..10].copy_from_slice(&1u16.to_le_bytes());
    page[12..16].copy_from_slice(&sequence.to_le_bytes());
    page[16..24].copy_from_slice(&marker.to_le_bytes());
    page
}

#[test]
fn a_move_of_the_machine_begins_a_new_generation() {
    let Some(through) = with_own_mounts() else { return skip("a mount namespace needs root or user namespaces") };
    let status = in_a_process(here!(a_move_of_the_machine_begins_a_new_generation), through, || {
        hide(c"/dev");
        std::fs::write("/dev/vmclock0", vmclock(2, 5)).unwrap();
        let page = std::fs::OpenOptions::new().write(true).open("/dev/vmclock0").unwrap();
        settle();
        // Where the counter is not used, nothing but a question looks at the page.
        let _ = clockscope::error_bound();
        let generation = clockscope::generation();
        for moved in 1..=5_u64 {
            // As a hypervisor does: odd, the marker, even again.
            page.write_all_at(&(1 + 2 * moved as u32).to_le_bytes(), 12).unwrap();
            page.write_all_at(&(5 + moved).to_le_bytes(), 16).unwrap();
            let _ = clockscope::error_bound();
            assert_eq!(clockscope::generation(), generation + moved - 1, "the page is being changed");
            page.write_all_at(&(2 + 2 * moved as u32).to_le_bytes(), 12).unwrap();
            let _ = clockscope::error_bound();
            assert_eq!(clockscope::generation(), generation + moved);
            read(1000);
            settle();
            assert_right();
        }
        let evidence = clockscope::evidence();
        let found = evidence.iter().find(|evidence| evidence.name == "announced moves").unwrap();
        assert_eq!(found.finding, Finding::For, "{found:?}");
    });
    assert!(status.success(), "{status}");
}

/// A container that is bound to one CPU, on a clocksource that is unknown there.
#[test]
fn a_container_of_one_cpu_may_use_the_counter_after_a_test() {
    let Some(through) = with_own_mounts() else { return skip("a mount namespace needs root or user namespaces") };
    if clockscope_core::counter::is_invariant() != Some(true) {
        return skip("the processor does not promise a constant rate");
    }
    let test = here!(a_container_of_one_cpu_may_use_the_counter_after_a_test);
    let status = in_a_process(test, through, || {
        hide(c"/sys");
        let cpus = allowed_cpus();
        let (one, other) = (cpus[0], *cpus.last().unwrap());
        clockscope_core::os::set_allowed_cpus(&[one]).unwrap();
        read(20_000);
        assert_eq!(clockscope::source(), Source::OsClock);
        let answer = clockscope::revalidate();
        assert!(answer.passed, "{answer:?}");
        settle();
        assert!(!clockscope::evidence().iter().any(|evidence| evidence.name == "outcome"));
        if one == other {
            return skip("one CPU: that others may be used later is not tried");
        }
        // Whoever set the limits widens them.
        clockscope_core::os::set_allowed_cpus(&[other]).unwrap();
        let _ = clockscope::error_bound();
        let evidence = clockscope::evidence();
        let outcome = evidence.iter().find(|evidence| evidence.name == "outcome").expect("an outcome");
        assert!(outcome.seen.contains("other CPUs"), "{outcome:?}");
        assert_eq!(clockscope::source(), Source::OsClock);
        assert!(clockscope::revalidate().passed);
        settle();
        assert_right();
    });
    assert!(status.success(), "{status}");
}
