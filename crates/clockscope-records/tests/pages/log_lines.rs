//! The table of the kernel's lines that give the counter up: what each means, and its remedy.

use clockscope_records::{KernelCause, LogFault};

/// Returns the table, a row a line: what it means where the hypervisor corrects the clocksource in
/// use, and elsewhere.
pub(super) fn table() -> String {
    let mut table =
        "| the line contains | with kvm-clock, hyperv_clocksource_tsc_page, xen | with hpet, acpi_pm, jiffies | \
                     remedy with these |\n|---|---|---|---|\n"
            .to_owned();
    for fault in LogFault::ALL {
        let phrases: Vec<String> = fault.phrases().iter().map(|phrase| format!("`{}`", phrase.trim())).collect();
        let counter = if fault.is_counters() { "unfit" } else { "limited" };
        let advice = KernelCause::log_line("", fault).advice();
        table += &format!(
            "| {} | counter *limited*, clocks as their own tests say, no remedy | counter *{counter}*, clocks slow and right | \
             {advice} |\n",
            phrases.join(", ")
        );
    }
    table
}
