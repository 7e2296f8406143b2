//! The processor's names and numbers, and the CPUs that there are.

use clockscope_records::{Cpu, Figure, ProcessorIdentity, texts};

use crate::os::facts;
use crate::{affinity, pseudo_files};

pub(crate) fn read(cpuinfo: &str) -> Cpu {
    let (vendor, model) = names(cpuinfo);
    let no_microcode = if pseudo_files::ARE_READ { texts::NO_MICROCODE } else { texts::ONLY_LINUX };
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        vendor: Figure::of(vendor, texts::NO_NAME),
        model: Figure::of(model, texts::NO_NAME),
        identity: Figure::of(identity(cpuinfo), texts::NO_IDENTITY),
        microcode: Figure::of(microcode(cpuinfo), no_microcode),
        online: facts::online_cpus(),
        allowed: affinity::allowed().map_err(|error| error.to_string()).into(),
    }
}

/// Vendor and model by CPUID (leaves 0 and 80000002h to 80000004h).
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn names(_: &str) -> (Option<String>, Option<String>) {
    let cpuid = raw_cpuid::CpuId::new();
    let vendor = cpuid.get_vendor_info().map(|vendor| vendor.as_str().to_owned());
    let model = cpuid.get_processor_brand_string().map(|brand| brand.as_str().trim().to_owned());
    (vendor, model.filter(|model| !model.is_empty()))
}

/// Vendor and model as /proc/cpuinfo names them, which is different on every architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn names(cpuinfo: &str) -> (Option<String>, Option<String>) {
    let vendor = first_field(cpuinfo, &["vendor_id", "CPU implementer", "mvendorid"]);
    (vendor, first_field(cpuinfo, &["model name", "cpu", "CPU part", "uarch", "isa"]))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn first_field(cpuinfo: &str, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| pseudo_files::field(cpuinfo, key)).map(str::to_owned)
}

/// Family, model and stepping by CPUID leaf 1.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn identity(_: &str) -> Option<ProcessorIdentity> {
    raw_cpuid::CpuId::new().get_feature_info()?;
    Some(ProcessorIdentity::from_cpuid(raw_cpuid::cpuid!(1).eax))
}

/// Part, variant and revision by MIDR_EL1, which Linux shows in /sys, or by /proc/cpuinfo.
#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
fn identity(cpuinfo: &str) -> Option<ProcessorIdentity> {
    let midr = pseudo_files::line_of("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    arm_identity(midr.as_deref(), cpuinfo)
}

/// Other architectures have no such numbers.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64", target_arch = "arm")))]
fn identity(_: &str) -> Option<ProcessorIdentity> {
    None
}

/// The identity of an Arm processor, by the text of its register or else by /proc/cpuinfo.
#[cfg_attr(
    not(any(target_arch = "aarch64", target_arch = "arm")),
    allow(dead_code, reason = "x86 is identified by CPUID")
)]
pub(crate) fn arm_identity(midr: Option<&str>, cpuinfo: &str) -> Option<ProcessorIdentity> {
    // The register is wider than its numbers are: the upper half is reserved.
    if let Some(midr) = midr.and_then(number).filter(|midr| *midr != 0) {
        return Some(ProcessorIdentity::from_midr((midr & u64::from(u32::MAX)) as u32));
    }
    let keys = [("CPU part", 0xfff), ("CPU variant", 0xf), ("CPU revision", 0xf)];
    let [model, variant, revision] = keys.map(|(key, max)| {
        let found = pseudo_files::field(cpuinfo, key).and_then(number)?;
        u32::try_from(found).ok().filter(|found| *found <= max)
    });
    Some(ProcessorIdentity { family: None, model: model?, stepping: variant? << 4 | revision? })
}

/// The microcode's revision, which only x86 has.
pub(crate) fn microcode(cpuinfo: &str) -> Option<String> {
    pseudo_files::field(cpuinfo, "microcode").filter(|text| number(text).is_some()).map(str::to_owned)
}

/// A number as /proc/cpuinfo writes it: decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n\
        CPU part\t: 0xd0c\nCPU revision\t: 1\n";

    #[test]
    fn arm_is_identified_by_the_register_or_by_cpuinfo() {
        let n1 = Some(ProcessorIdentity { family: None, model: 0xd0c, stepping: 0x31 });
        let v1 = Some(ProcessorIdentity { family: None, model: 0xd40, stepping: 0x11 });
        assert_eq!(arm_identity(Some("0x00000000411fd401"), ARM), v1);
        assert_eq!(arm_identity(Some("0x0000000000000000"), ARM), n1);
        assert_eq!(arm_identity(Some("hidden"), ARM), n1);
        assert_eq!(arm_identity(None, ARM), n1);
        assert_eq!(arm_identity(None, &ARM.replace("0xd0c", "0x1d0c")), None);
        assert_eq!(arm_identity(None, &ARM.replace("CPU variant\t: 0x3\n", "")), None);
    }

    #[test]
    fn the_microcode_is_a_number() {
        assert_eq!(microcode("stepping\t: 8\nmicrocode\t: 0x2b0004b1\n").as_deref(), Some("0x2b0004b1"));
        assert_eq!(microcode("microcode\t: 17\n").as_deref(), Some("17"));
        for text in ["", "microcode\t:\n", "microcode\t: 0x\n", "microcode\t: \u{1b}[31m\n"] {
            assert_eq!(microcode(text), None, "{text:?}");
        }
    }

    /// The kernel decodes the same register. A confined process has no /proc.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn cpuid_says_what_the_kernel_says() {
        let Some(cpuinfo) = pseudo_files::file("/proc/cpuinfo") else { return };
        let field = |key: &str| pseudo_files::field(&cpuinfo, key).and_then(number);
        let [family, model, stepping] = ["cpu family", "model", "stepping"].map(field);
        let found = identity("").unwrap();
        assert_eq!(
            [found.family.map(u64::from), Some(found.model.into()), Some(found.stepping.into())],
            [family, model, stepping]
        );
        assert_eq!(read("").identity, Figure::Known(found));
    }
}
