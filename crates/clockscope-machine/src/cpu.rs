//! The processor's names, and the CPUs that there are.

use clockscope_records::{Cpu, Figure};

use crate::{affinity, text};

pub(crate) fn read(cpuinfo: &str) -> Cpu {
    let (vendor, model) = names(cpuinfo);
    let online = text::line_of("/sys/devices/system/cpu/online").and_then(|line| text::cpu_list(&line));
    let online = online.map(|cpus| cpus.len() as u32);
    let unnamed = "neither the processor nor /proc/cpuinfo names it";
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        vendor: Figure::of(vendor, unnamed),
        model: Figure::of(model, unnamed),
        online: Figure::of(online, "/sys/devices/system/cpu/online cannot be read"),
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
    let first = |keys: &[&str]| keys.iter().find_map(|key| text::field(cpuinfo, key)).map(str::to_owned);
    (first(&["vendor_id", "CPU implementer", "mvendorid"]), first(&["model name", "cpu", "CPU part", "uarch", "isa"]))
}
