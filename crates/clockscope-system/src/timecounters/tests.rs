use proptest::prelude::*;

use super::*;

/// timecounters(4) of FreeBSD.
const FREEBSD: &str = "TSC-low(-100) HPET(950) i8254(0) ACPI-fast(900) dummy(-1000000)";
/// As kern_tc.c of NetBSD prints it.
const NETBSD: &str = "TSC(q=3000, f=2400000000 Hz) clockinterrupt(q=0, f=100 Hz) lapic(q=-100, f=1000000000 Hz) \
                      hpet0(q=2000, f=14318180 Hz) ACPI-Fast(q=1000, f=3579545 Hz) i8254(q=100, f=1193182 Hz) \
                      dummy(q=-1000000, f=1000000 Hz)";
/// As kern_tc.c of OpenBSD prints it.
const OPENBSD: &str = "i8254(0) acpihpet0(1000) tsc(2000) acpitimer0(1000)";

fn names(listing: &str) -> Vec<(String, i64)> {
    parse_timecounters(listing).unwrap().into_iter().map(|one| (one.name, one.quality)).collect()
}

fn of_x86(listing: &str, current: &str) -> KernelVerdict {
    verdict(Architecture::X86, Some(current), &parse_timecounters(listing).unwrap())
}

fn causes_of(verdict: &KernelVerdict) -> Vec<KernelCause> {
    verdict.reasons.clone()
}

#[test]
fn the_forms_of_three_kernels_are_read() {
    let own =
        |pairs: &[(&str, i64)]| pairs.iter().map(|(name, quality)| ((*name).to_owned(), *quality)).collect::<Vec<_>>();
    assert_eq!(
        names(FREEBSD),
        own(&[("TSC-low", -100), ("HPET", 950), ("i8254", 0), ("ACPI-fast", 900), ("dummy", -1_000_000)])
    );
    assert_eq!(names(OPENBSD), own(&[("i8254", 0), ("acpihpet0", 1000), ("tsc", 2000), ("acpitimer0", 1000)]));
    assert_eq!(names("ARM MPCore Timecounter(1000) dummy(-1000000)")[0], ("ARM MPCore Timecounter".to_owned(), 1000));
    let of_netbsd = parse_timecounters(NETBSD).unwrap();
    let hz = |name: &str| of_netbsd.iter().find(|one| one.name == name).unwrap().frequency_hz;
    assert_eq!((of_netbsd.len(), hz("TSC"), hz("hpet0")), (7, Some(2_400_000_000), Some(14_318_180)));
    assert!(parse_timecounters(FREEBSD).unwrap().iter().all(|one| one.frequency_hz.is_none()));
    assert_eq!(parse_timecounters(""), Some(Vec::new()));
}

#[test]
fn a_text_of_another_form_is_refused() {
    for text in [
        "TSC",
        "TSC(",
        "TSC()",
        "TSC(1000",
        "(1000)",
        "TSC(1.5)",
        "TSC(99999999999999999999)",
        "TSC(1000) HPET",
        "TSC(q=3000)",
        "TSC(q=3000, f=1 MHz)",
        "TSC(q=3000, f=-1 Hz)",
        "TSC(1000)) HPET(950)",
        "T\u{1b}C(1000)",
        "TSC\u{202e}(1000)",
    ] {
        assert_eq!(parse_timecounters(text), None, "{text}");
    }
}

/// A quality below 0 means that the counter is broken and should not be used (timecounters(4)).
#[test]
fn a_negative_quality_is_the_kernels_judgment() {
    let found = of_x86(FREEBSD, "HPET");
    let negative = KernelCause::NegativeQuality { timecounter: "TSC-low".to_owned(), quality: -100 };
    assert!(negative.is_fault());
    assert_eq!(causes_of(&found), [negative]);
    assert_eq!(
        (found.name.as_deref(), found.is_current, found.is_available),
        (Some("TSC-low"), Some(false), Some(false))
    );
}

#[test]
fn the_counter_in_use_needs_no_reason() {
    for (listing, current) in [("TSC-low(1000) HPET(950)", "TSC-low"), (NETBSD, "TSC"), (OPENBSD, "tsc")] {
        let found = of_x86(listing, current);
        assert_eq!((found.is_current, found.is_available), (Some(true), Some(true)), "{listing}");
        assert!(found.reasons.is_empty());
    }
    // An administrator may use what the kernel rejects.
    let forced = of_x86(FREEBSD, "TSC-low");
    assert_eq!((forced.is_current, forced.is_available), (Some(true), Some(false)));
}

#[test]
fn another_selection_is_the_kernels_or_an_administrators() {
    let timecounter = || "TSC-low".to_owned();
    // FreeBSD gives the TSC 800 on machines whose CPUs are synchronized, but not invariant.
    let found = of_x86("TSC-low(800) HPET(950) ACPI-fast(900)", "HPET");
    let prefers = KernelCause::PrefersTimecounter {
        timecounter: timecounter(),
        quality: 800,
        chosen: "HPET".to_owned(),
        chosen_quality: 950,
    };
    assert!(!prefers.is_fault());
    assert_eq!((causes_of(&found), found.is_available), (vec![prefers], Some(true)));
    let found = of_x86("TSC-low(1000) HPET(950) ACPI-fast(900)", "ACPI-fast");
    let chosen = KernelCause::ChosenTimecounter { timecounter: timecounter(), chosen: "ACPI-fast".to_owned() };
    assert!(!chosen.is_fault());
    assert_eq!(causes_of(&found), [chosen]);
    // Without the counter (machdep.disable_tsc), and with one that is not in the list.
    assert_eq!(causes_of(&of_x86("HPET(950) i8254(0)", "HPET")), [KernelCause::NoTimecounter]);
    assert!(causes_of(&of_x86("TSC-low(1000)", "sundial")).is_empty());
    assert!(verdict(Architecture::X86, None, &parse_timecounters(NETBSD).unwrap()).is_current.is_none());
    // The counter of another architecture is not this one's.
    let arm = verdict(Architecture::Arm, Some("TSC"), &parse_timecounters("TSC(1000)").unwrap());
    assert_eq!(arm.is_current, Some(false));
}

/// Masks of timecounters(4).
#[test]
fn a_mask_is_a_number_of_bits() {
    let bits = |mask: Option<u64>| Timecounter { name: "x".to_owned(), quality: 0, frequency_hz: None, mask }.bits();
    assert_eq!([0xFFFF, 0xFF_FFFF, 0xFFFF_FFFF, u64::MAX].map(|mask| bits(Some(mask))), [16, 24, 32, 64].map(Some));
    assert_eq!([None, Some(0), Some(0b101), Some(0b110)].map(bits), [None; 4]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", start in 0usize..70, cut in 0usize..20) {
        let _ = parse_timecounters(&text);
        for listing in [FREEBSD, NETBSD, OPENBSD] {
            // One of these with a piece lost or replaced.
            let mut odd = listing.to_owned();
            let start = start.min(odd.len());
            odd.replace_range(start..(start + cut).min(odd.len()), &text);
            for one in parse_timecounters(&odd).into_iter().flatten() {
                prop_assert!(pseudo_files::is_name_of_words(&one.name), "{one:?}");
            }
        }
    }

    #[test]
    fn what_is_listed_is_read(
        listed in prop::collection::vec(("[A-Za-z][A-Za-z0-9-]{0,8}( [A-Z][a-z]{1,4})?", any::<i32>(), any::<u64>()), 0..6)
    ) {
        let list = |form: &dyn Fn(&(String, i32, u64)) -> String| listed.iter().map(form).collect::<Vec<_>>().join(" ");
        let freebsd = list(&|(name, quality, _)| format!("{name}({quality})"));
        let netbsd = list(&|(name, quality, hz)| format!("{name}(q={quality}, f={hz} Hz)"));
        for (text, has_frequency) in [(freebsd, false), (netbsd, true)] {
            let expected: Vec<_> = listed.iter().map(|(name, quality, hz)| Timecounter {
                name: name.clone(),
                quality: i64::from(*quality),
                frequency_hz: has_frequency.then_some(*hz),
                mask: None,
            }).collect();
            prop_assert_eq!(parse_timecounters(&text), Some(expected));
        }
    }
}
