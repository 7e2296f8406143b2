//! Pages of the documentation, by the names that users type.

/// The topic that lists the lines and numbers of all symptoms.
pub(super) const INDEX: &str = "symptoms";

/// A page, by the name that users type.
pub(super) struct Topic {
    pub(super) name: &'static str,
    /// Its file below docs/, to which topics/NAME.md is a link.
    pub(super) page: &'static str,
    /// The page, in Markdown.
    pub(super) text: &'static str,
}

macro_rules! topics {
    ($($name:literal is $page:literal),+ $(,)?) => {
        &[$(Topic {
            name: $name,
            page: $page,
            text: include_str!(concat!("../../topics/", $name, ".md")),
        }),+]
    };
}

/// All topics.
pub(super) const TOPICS: &[Topic] = topics![
    "columns" is "start/reading.md",
    "comparison" is "reference/method/compare.md",
    "evidence" is "concepts/evidence.md",
    "exit-codes" is "reference/exit-codes.md",
    "glossary" is "reference/glossary.md",
    "method" is "reference/method/README.md",
    "records" is "reference/records/README.md",
    "runtime-clocks" is "reference/runtimes/README.md",
    "stamps-file" is "reference/stamps-file.md",
    "symptoms" is "symptoms/README.md",
    "backward-between-threads" is "symptoms/backward-between-threads.md",
    "boot-lines" is "symptoms/boot-lines.md",
    "busy-machine" is "symptoms/busy-machine.md",
    "cntvct-trapped" is "symptoms/cntvct-trapped.md",
    "containers" is "symptoms/containers.md",
    "late-sleeps" is "symptoms/late-sleeps.md",
    "negative-durations" is "symptoms/negative-durations.md",
    "slewed-clock" is "symptoms/slewed-clock.md",
    "slow-clock-gettime" is "symptoms/slow-clock-gettime.md",
    "time-jumps-after-suspend" is "symptoms/time-jumps-after-suspend.md",
    "tsc-adjust" is "symptoms/tsc-adjust.md",
    "tsc-not-used-in-vm" is "symptoms/tsc-not-used-in-vm.md",
    "tsc-unstable" is "symptoms/tsc-unstable.md",
    "unsynchronized-host" is "symptoms/unsynchronized-host.md",
    "windows-timer-period" is "symptoms/windows-timer-period.md",
    "wrong-rate" is "symptoms/wrong-rate.md",
    "zero-ns-benchmark" is "symptoms/zero-ns-benchmark.md",
];

impl Topic {
    /// Returns true for a page of one symptom.
    pub(super) fn is_symptom(&self) -> bool {
        self.page.starts_with("symptoms/") && self.name != INDEX
    }

    /// Returns the name of the other topic that a link of this one leads to.
    pub(super) fn linked(&self, target: &str) -> Option<&'static str> {
        self.linked_topic(target).map(|topic| topic.name)
    }

    /// Returns the other topic that a link of this one leads to.
    pub(super) fn linked_topic(&self, target: &str) -> Option<&'static Topic> {
        let file = target.split('#').next().filter(|file| !file.is_empty())?;
        let mut folders: Vec<&str> = self.page.split('/').collect();
        folders.pop();
        for part in file.split('/') {
            match part {
                ".." => drop(folders.pop()),
                part => folders.push(part),
            }
        }
        let target = folders.join("/");
        TOPICS.iter().find(|topic| topic.page == target && topic.name != self.name)
    }
}
