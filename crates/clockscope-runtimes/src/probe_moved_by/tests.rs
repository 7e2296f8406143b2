use clockscope_records::MovedBy::{Clocksource, Scheduler, TimerTick};

use super::*;
use crate::registry::{OnWindows, RUNTIMES};

/// Windows has no clocksource of the kernel's: a probe that runs there names what there is.
#[test]
fn probes_that_run_on_windows_state_its_clocks() {
    for runtime in RUNTIMES.iter().filter(|runtime| runtime.windows != OnWindows::NotYet) {
        let text = runtime.probe().text;
        assert!(text.contains("performance_counter"), "{}", runtime.title);
        assert!(!text.contains(r#""moved_by":"clocksource""#), "{}", runtime.title);
        assert!(!text.contains(r#"\"moved_by\":\"clocksource\""#), "{}", runtime.title);
    }
}

#[test]
fn a_system_that_is_not_named_has_the_word_of_the_others() {
    let of = |text: &str| serde_json::from_str::<ProbeMovedBy>(text).unwrap();
    let each = [System::Linux, System::Macos, System::Windows, System::Other];
    let on = |text: &str| each.map(|system| of(text).on(system));
    assert_eq!(on(r#""timer_tick""#), [Some(TimerTick); 4]);
    let others = r#"{"windows":"timer_tick","others":"clocksource"}"#;
    assert_eq!(on(others), [Clocksource, Clocksource, TimerTick, Clocksource].map(Some));
    assert_eq!(on(r#"{"macos":"scheduler"}"#), [None, Some(Scheduler), None, None]);
    assert_eq!(on("{}"), [None; 4]);
}
