//! The hypervisor that this machine runs under, and its word on the counter.

use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{Figure, Hypervisor};

pub(crate) fn read() -> Figure<Hypervisor> {
    Figure::of(found(), "the system does not show whether there is one")
}

/// The signature of CPUID leaf 40000000h if the hypervisor bit (leaf 1, ECX bit 31) is set.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn found() -> Option<Hypervisor> {
    let cpuid = raw_cpuid::CpuId::new();
    if !cpuid.get_feature_info().is_some_and(|features| features.has_hypervisor()) {
        return Some(Hypervisor::None);
    }
    let signature = signature()?;
    let names: [(&[u8], &str); 10] = [
        (b"KVMKVMKVM\0\0\0", "KVM"),
        (b"Linux KVM Hv", "KVM (Hyper-V interface)"),
        (b"Microsoft Hv", "Hyper-V"),
        (b"VMwareVMware", "VMware"),
        (b"XenVMMXenVMM", "Xen"),
        (b"TCGTCGTCGTCG", "QEMU TCG"),
        (b"bhyve bhyve ", "bhyve"),
        (b"VBoxVBoxVBox", "VirtualBox"),
        (b"ACRNACRNACRN", "ACRN"),
        (b" QNXQVMBSQG ", "QNX"),
    ];
    Some(Hypervisor::Named(match names.iter().find(|(known, _)| **known == signature) {
        Some((_, name)) => (*name).to_owned(),
        None => String::from_utf8_lossy(&signature).trim_matches(['\0', ' ']).to_owned(),
    }))
}

/// The twelve bytes of the hypervisor's signature.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
pub(crate) fn signature() -> Option<[u8; 12]> {
    use raw_cpuid::CpuIdReader;
    let reader = raw_cpuid::CpuIdReaderNative;
    let leaf = reader.cpuid1(0x4000_0000);
    let mut signature = [0; 12];
    for (part, register) in signature.chunks_exact_mut(4).zip([leaf.ebx, leaf.ecx, leaf.edx]) {
        part.copy_from_slice(&register.to_le_bytes());
    }
    (signature != [0; 12]).then_some(signature)
}

/// Returns what the hypervisor states about the counter that it gives to this machine. Those that
/// are known to state something: KVM (Linux `asm/kvm_para.h`), Hyper-V (Hypervisor Top Level
/// Functional Specification, 2.4) and Xen (`arch-x86/cpuid.h`).
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
#[must_use]
pub fn statement() -> Option<HypervisorStatement> {
    use raw_cpuid::CpuIdReader;
    if found()? == Hypervisor::None {
        return None;
    }
    said(&signature()?, |leaf, bit| raw_cpuid::CpuIdReaderNative.cpuid1(leaf).eax & (1 << bit) != 0)
}

/// Returns the statement of the hypervisor with this signature. `has` returns whether a leaf sets a
/// bit of EAX.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn said(signature: &[u8; 12], has: impl Fn(u32, u32) -> bool) -> Option<HypervisorStatement> {
    match signature {
        b"KVMKVMKVM\0\0\0" if has(0x4000_0001, 24) => Some(HypervisorStatement::StableClocksource),
        b"Microsoft Hv" if has(0x4000_0003, 15) => Some(HypervisorStatement::InvariantCounter),
        b"Microsoft Hv" if has(0x4000_0003, 9) => Some(HypervisorStatement::ReferencePage),
        b"XenVMMXenVMM" if has(0x4000_0003, 0) => Some(HypervisorStatement::EmulatedReads),
        b"XenVMMXenVMM" if has(0x4000_0003, 1) => Some(HypervisorStatement::ReliableHost),
        _ => None,
    }
}

/// Returns nothing: elsewhere none is known to state anything.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
#[must_use]
pub fn statement() -> Option<HypervisorStatement> {
    None
}

/// The hypervisor that the kernel found: Xen in /sys/hypervisor, others in the device tree.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn found() -> Option<Hypervisor> {
    crate::pseudo_files::line_of("/sys/hypervisor/type")
        .or_else(|| crate::pseudo_files::line_of("/proc/device-tree/hypervisor/compatible"))
        .map(Hypervisor::from)
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "x86")))]
mod tests {
    use super::*;

    #[test]
    fn each_hypervisor_says_it_in_its_own_bits() {
        let statement = |signature: &[u8; 12], set: (u32, u32)| said(signature, |leaf, bit| (leaf, bit) == set);
        assert_eq!(statement(b"KVMKVMKVM\0\0\0", (0x4000_0001, 24)), Some(HypervisorStatement::StableClocksource));
        assert_eq!(statement(b"KVMKVMKVM\0\0\0", (0x4000_0001, 0)), None);
        assert_eq!(statement(b"Microsoft Hv", (0x4000_0003, 15)), Some(HypervisorStatement::InvariantCounter));
        assert_eq!(statement(b"Microsoft Hv", (0x4000_0003, 9)), Some(HypervisorStatement::ReferencePage));
        assert_eq!(statement(b"XenVMMXenVMM", (0x4000_0003, 0)), Some(HypervisorStatement::EmulatedReads));
        assert_eq!(statement(b"XenVMMXenVMM", (0x4000_0003, 1)), Some(HypervisorStatement::ReliableHost));
        assert_eq!(statement(b"TCGTCGTCGTCG", (0x4000_0001, 24)), None);
    }
}
