//! Which hypervisor this machine runs under.

use clockscope_records::Unknown;

use crate::known;

pub(crate) fn read(unknown: &mut Unknown) -> Option<String> {
    known(name(), unknown, "hypervisor", "the system does not tell whether there is one")
}

/// The signature of CPUID leaf 40000000h if the hypervisor bit (leaf 1, ECX bit 31) is set.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn name() -> Option<String> {
    let cpuid = raw_cpuid::CpuId::new();
    if !cpuid.get_feature_info().is_some_and(|features| features.has_hypervisor()) {
        return Some("none".to_owned());
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
    let found = names.iter().find(|(known, _)| **known == signature).map(|(_, name)| (*name).to_owned());
    Some(found.unwrap_or_else(|| String::from_utf8_lossy(&signature).trim_matches(['\0', ' ']).to_owned()))
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

/// What the kernel found: Xen in /sys/hypervisor, others in the device tree.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn name() -> Option<String> {
    crate::text::line_of("/sys/hypervisor/type")
        .or_else(|| crate::text::line_of("/proc/device-tree/hypervisor/compatible"))
}
