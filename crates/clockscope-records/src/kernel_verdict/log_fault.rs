//! Meanings of the lines of the kernel's log that give the processor's counter up.

use serde::{Deserialize, Serialize};

/// The fault of a clocksource that the kernel gives up, by a line of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogFault {
    /// The watchdog, which is another clocksource, counted another time.
    FrequencySkew,
    /// CPUs' counters are apart.
    CpuSkew,
    /// Reading watchdog and clocksource took too long, so that they could not be compared.
    SlowRead,
    /// The kernel presumes that CPUs' counters are apart, and has not compared them.
    PresumedApart,
    /// The host does not offer an invariant counter.
    NotInvariant,
    /// The counter stops while a CPU is idle.
    HaltsInIdle,
    /// The counter follows the frequency of its core.
    FollowsCore,
    /// The kernel found no frequency for it.
    NoFrequency,
    /// The kernel was booted with an option against it.
    BootParameter,
    /// A virtual machine that moved between a KVM host's CPUs found the counter behind.
    Backward,
    /// The line only repeats a verdict of the watchdog, whose own line is lost.
    Repeated,
    /// Another reason, which the line may have.
    Unstated,
}

impl LogFault {
    /// All of them, in the order in which a line is compared with their phrases.
    pub const ALL: [Self; 12] = [
        Self::CpuSkew,
        Self::FrequencySkew,
        Self::SlowRead,
        Self::PresumedApart,
        Self::NotInvariant,
        Self::HaltsInIdle,
        Self::FollowsCore,
        Self::NoFrequency,
        Self::BootParameter,
        Self::Backward,
        Self::Repeated,
        Self::Unstated,
    ];

    /// Returns words of the line by which it is recognized (Linux, `kernel/time/clocksource.c`,
    /// `arch/x86/kernel/tsc.c`, `tsc_sync.c` and those that call `mark_tsc_unstable`).
    #[must_use]
    pub const fn phrases(self) -> &'static [&'static str] {
        match self {
            Self::CpuSkew => &["TSC warp between CPUs", "check_tsc_sync_source failed", "inter CPU skew"],
            Self::FrequencySkew => &["the skew is too large", "frequency skew", " unstable (delta = "],
            Self::SlowRead => &["read-back delay of"],
            Self::PresumedApart => &["TSCs unsynchronized"],
            Self::NotInvariant => &["running on Hyper-V"],
            Self::HaltsInIdle => &["TSC halts in"],
            Self::FollowsCore => &["cpufreq changes"],
            Self::NoFrequency => &["could not calculate TSC khz"],
            Self::BootParameter => &["due to boot parameter"],
            Self::Backward => &["KVM discovered backwards TSC"],
            Self::Repeated => &["due to clocksource watchdog"],
            Self::Unstated => &[],
        }
    }

    /// Returns whether it says that the counter itself is bad, where no hypervisor corrects it.
    #[must_use]
    pub const fn is_counters(self) -> bool {
        !matches!(self, Self::SlowRead | Self::NotInvariant | Self::NoFrequency | Self::BootParameter)
    }

    /// Returns the remedy, apart from what may stop the watchdog.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Self::FrequencySkew => {
                "update firmware and hypervisor, which set the counters; a guest that was paused (suspend, snapshot, \
                 migration) has a sound counter again after a reboot"
            }
            Self::CpuSkew => "the CPUs' counters differ: update firmware and hypervisor, which set them",
            Self::SlowRead => {
                "the kernel could not compare the counter in time, which is not evidence against it; newer kernels leave \
                 such a comparison out"
            }
            Self::PresumedApart => {
                "the kernel presumes it of CPUs without constant_tsc and of several chassis, and has not compared them: \
                 `clockscope order --offsets` does; on a virtual machine have the hypervisor pass that flag on"
            }
            Self::NotInvariant => {
                "have the host offer an invariant counter, which newer ones do, or use hyperv_clocksource_tsc_page, which \
                 the host corrects"
            }
            Self::HaltsInIdle => {
                "do not use the counter: it stops while a CPU is idle; a processor with nonstop_tsc is needed, or a \
                 hypervisor that passes that flag on"
            }
            Self::FollowsCore => {
                "do not use the counter: it follows the frequency of its core; a processor with constant_tsc is needed"
            }
            Self::NoFrequency => {
                "have the hypervisor state the counter's frequency (CPUID 15h, or 40000010h), or give it as \
                 tsc_early_khz= on the kernel's command line"
            }
            Self::BootParameter => "remove the option (tsc=unstable, notsc) from the kernel's command line",
            Self::Backward => {
                "the counters of the host's CPUs differ, or restarted when it woke up: reboot the host, and ask \
                 `clockscope order --offsets` there"
            }
            Self::Repeated => "read the lines before it, which have the reason: journalctl -k -b",
            Self::Unstated => "clockscope does not know the line's reason: look for it in the kernel's sources",
        }
    }
}
