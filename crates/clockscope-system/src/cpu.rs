//! The processor's names, and the CPUs that there are.

use clockscope_records::{Cpu, Figure, texts};

use crate::affinity;
use crate::os::facts;

pub(crate) fn read(cpuinfo: &str) -> Cpu {
    let (vendor, model) = names(cpuinfo);
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        vendor: Figure::of(vendor, texts::NO_NAME),
        model: Figure::of(model, texts::NO_NAME),
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
    let first = |keys: &[&str]| keys.iter().find_map(|key| crate::pseudo_files::field(cpuinfo, key)).map(str::to_owned);
    (first(&["vendor_id", "CPU implementer", "mvendorid"]), first(&["model name", "cpu", "CPU part", "uarch", "isa"]))
}
