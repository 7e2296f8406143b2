//! Finds `clock_gettime` in the vDSO, the ELF image that the kernel maps into every process
//! (vdso(7)).

#![allow(unsafe_code, reason = "the vDSO is an ELF image at an address that the kernel names")]

use core::ffi::{CStr, c_int, c_long};

use super::elf;
use crate::Unavailable;

/// The exported function. It answers 0 or a negative error number.
pub(super) type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;

/// `getcpu`: the CPU, and two words that are not wanted. 0 or a negative error number.
pub(super) type GetCpu = unsafe extern "C" fn(*mut u32, *mut u32, *mut core::ffi::c_void) -> c_long;

/// Name of clock_gettime in the vDSO, which depends on the architecture (vdso(7)).
const SYMBOL: &CStr = if cfg!(any(target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x")) {
    c"__kernel_clock_gettime"
} else {
    c"__vdso_clock_gettime"
};

/// Name of getcpu in the vDSO, which depends on the architecture (vdso(7)). Arm's vDSO has none.
const GETCPU: &CStr =
    if cfg!(any(target_arch = "powerpc64", target_arch = "s390x")) { c"__kernel_getcpu" } else { c"__vdso_getcpu" };

const DT_NULL: isize = 0;
const DT_HASH: isize = 4;
const DT_STRTAB: isize = 5;
const DT_SYMTAB: isize = 6;
const DT_GNU_HASH: isize = 0x6fff_fef5;

/// `clock_gettime` of the vDSO.
///
/// # Errors
/// The kernel maps no vDSO, or it exports no such function.
pub(super) fn clock_gettime() -> Result<ClockGettime, Unavailable> {
    let address = exported(SYMBOL)?.ok_or_else(|| Unavailable::Missing("the vDSO exports no clock_gettime".into()))?;
    // SAFETY: the symbol of this name has this signature on every architecture that exports it
    // (vdso(7)).
    Ok(unsafe { core::mem::transmute::<*const u8, ClockGettime>(address) })
}

/// `getcpu` of the vDSO; `None` where there is none. Costs a few ns, and no system call.
pub(super) fn getcpu() -> Option<GetCpu> {
    // RISC-V's is a system call, which a confined process may not be allowed to make.
    if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
        return None;
    }
    let address = exported(GETCPU).ok()??;
    // SAFETY: as above.
    Some(unsafe { core::mem::transmute::<*const u8, GetCpu>(address) })
}

/// The address of a symbol of the vDSO; `None` if it exports none of this name.
///
/// # Errors
/// The kernel maps no vDSO.
fn exported(name: &CStr) -> Result<Option<*const u8>, Unavailable> {
    // SAFETY: getauxval takes any number and answers 0 for an entry that is not there.
    let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
    if base.is_null() {
        return Err(Unavailable::Missing("the kernel maps no vDSO into this process".into()));
    }
    // SAFETY: the kernel names the address of a complete ELF image that stays mapped and is not
    // written to.
    let image = unsafe { mapped(base) };
    let offset = image.and_then(|image| find(image, name));
    // SAFETY: the place is inside the image.
    Ok(offset.map(|offset| unsafe { base.add(offset) }))
}

/// Bytes of the image that hold its headers: every mapping has a page, and no page is smaller.
const HEADER_BYTES: usize = 4096;

/// The image at `base`, as far as it is loaded; `None` if it is not an ELF image.
///
/// # Safety
/// An ELF image must be mapped at `base` for the rest of the process and never be written to.
unsafe fn mapped(base: *const u8) -> Option<&'static [u8]> {
    // SAFETY: what is mapped has a page at least.
    let first = unsafe { core::slice::from_raw_parts(base, HEADER_BYTES) };
    let (mut end, mut index) = (None, 0);
    while let Some(segment) = segment(first, index) {
        if segment.p_type == libc::PT_LOAD {
            end = end.max(segment.p_offset.checked_add(segment.p_filesz));
        }
        index += 1;
    }
    // SAFETY: what the image says to be loaded is mapped.
    Some(unsafe { core::slice::from_raw_parts(base, end?) })
}

/// Parts of the image: integers alone, so that any bytes are a value.
///
/// # Safety
/// Every pattern of bits must be a value of the type.
unsafe trait FromBytes: Copy {}
// SAFETY: structures of integers (elf(5)).
unsafe impl FromBytes for elf::Header {}
// SAFETY: as above.
unsafe impl FromBytes for elf::ProgramHeader {}
// SAFETY: as above.
unsafe impl FromBytes for elf::Symbol {}
// SAFETY: as above.
unsafe impl FromBytes for elf::Dynamic {}
// SAFETY: an integer.
unsafe impl FromBytes for u32 {}
// SAFETY: an integer.
unsafe impl FromBytes for u64 {}

/// The value at this place; `None` if it is not whole inside the image.
fn read<T: FromBytes>(image: &[u8], offset: usize) -> Option<T> {
    let bytes = image.get(offset..offset.checked_add(size_of::<T>())?)?;
    // SAFETY: the bytes are as many as the type has, and any of them are a value of it.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// The value at this index of a list that begins at `offset`; `None` if it is not whole inside the
/// image.
fn item<T: FromBytes>(image: &[u8], offset: usize, index: usize) -> Option<T> {
    read(image, offset.checked_add(index.checked_mul(size_of::<T>())?)?)
}

/// The image's program header of this index (elf(5)); `None` if there is none, or if it is not an
/// ELF image.
#[inline(never)]
fn segment(image: &[u8], index: usize) -> Option<elf::ProgramHeader> {
    let header: elf::Header = read(image, 0)?;
    if !header.e_ident.starts_with(b"\x7fELF") || index >= usize::from(header.e_phnum) {
        return None;
    }
    item(image, header.e_phoff, index)
}

/// The image's first program header of this type.
#[inline(never)]
fn segment_of_type(image: &[u8], p_type: u32) -> Option<elf::ProgramHeader> {
    (0..).map_while(|index| segment(image, index)).find(|segment| segment.p_type == p_type)
}

/// Position of the symbol `name` in an ELF image. Any bytes are answered.
fn find(image: &[u8], name: &CStr) -> Option<usize> {
    let load = segment_of_type(image, libc::PT_LOAD)?;
    let dynamic = segment_of_type(image, libc::PT_DYNAMIC)?;

    let (mut symbols, mut strings, mut hash, mut gnu_hash, mut other) = (None, None, None, None, None);
    let mut index = 0;
    while let Some(entry) = item::<elf::Dynamic>(image, dynamic.p_offset, index) {
        let position = match entry.tag {
            DT_NULL => break,
            DT_SYMTAB => &mut symbols,
            DT_STRTAB => &mut strings,
            DT_HASH => &mut hash,
            DT_GNU_HASH => &mut gnu_hash,
            _ => &mut other,
        };
        *position = load.offset(entry.value);
        index += 1;
    }
    let (symbols, strings) = (symbols?, strings?);
    let count = match hash {
        Some(table) => sysv_count(image, table)?,
        None => gnu_count(image, gnu_hash?)?,
    };
    let mut table = (0..count).map_while(|index| item::<elf::Symbol>(image, symbols, index));
    let symbol = table.find(|symbol| {
        let found = strings.checked_add(symbol.st_name as usize).and_then(|start| image.get(start..));
        found.is_some_and(|found| found.starts_with(name.to_bytes_with_nul())) && symbol.st_shndx != 0
    })?;
    load.offset(symbol.st_value).filter(|offset| *offset < image.len())
}

/// Length of the symbol table by the System V hash table: its number of chains. s390x alone has
/// 64-bit entries.
fn sysv_count(image: &[u8], table: usize) -> Option<usize> {
    // The second entry.
    if cfg!(target_arch = "s390x") {
        item::<u64>(image, table, 1).map(|chains| chains as usize)
    } else {
        word(image, table, 1)
    }
}

/// The 32-bit number at this index of a table.
fn word(image: &[u8], table: usize, index: usize) -> Option<usize> {
    item::<u32>(image, table, index).map(|word| word as usize)
}

/// Length of the symbol table by the GNU hash table: one past the last entry of the last chain.
/// Header (nbuckets, symoffset, bloom size, shift), bloom words, buckets and chains follow one
/// another; a chain ends at an odd hash.
fn gnu_count(image: &[u8], table: usize) -> Option<usize> {
    let (buckets, first, bloom) = (word(image, table, 0)?, word(image, table, 1)?, word(image, table, 2)?);
    let bucket = table.checked_add(16)?.checked_add(bloom.checked_mul(size_of::<usize>())?)?;
    let heads = (0..buckets).map_while(|index| word(image, bucket, index));
    let Some(last) = heads.max().filter(|last| *last >= first) else { return Some(first) };
    let chain = bucket.checked_add(buckets.checked_mul(size_of::<u32>())?)?;
    let of_last = chain.checked_add((last - first).checked_mul(size_of::<u32>())?)?;
    let more = (0..).map_while(|index| word(image, of_last, index)).position(|hash| hash & 1 == 1)?;
    last.checked_add(more)?.checked_add(1)
}

/// Looks for the function in any bytes (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(image: &[u8]) {
    assert!(find(image, SYMBOL).is_none_or(|offset| offset < image.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_not_found() {
        // SAFETY: as in `clock_gettime`.
        let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
        if base.is_null() {
            // Only user-mode emulators of other architectures map none.
            assert_ne!(std::env::consts::ARCH, "x86_64", "no vDSO");
            return clockscope_testing::skip("no vDSO is mapped into this process");
        }
        // SAFETY: as in `clock_gettime`.
        let image = unsafe { mapped(base) }.expect("an ELF image");
        assert!(find(image, SYMBOL).is_some());
        assert!(find(image, c"__vdso_no_such_function").is_none());
        // Part of a name is not a name, and part of an image is not an image.
        assert!(find(image, c"__vdso_clock").is_none());
        for length in (0..image.len()).step_by(7) {
            assert!(find(&image[..length], SYMBOL).is_none_or(|offset| offset < length));
        }
    }

    #[test]
    fn both_hash_tables_of_an_image_count_the_same_symbols() {
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        // A GNU hash table with one bloom word, two buckets and symbols 2..5: chains (2, 3) and
        // (4).
        let mut table = vec![2u32, 2, 1, 0];
        table.extend(std::iter::repeat_n(0, size_of::<usize>() / 4));
        table.extend([2, 4]);
        table.extend([10, 11, 21]);
        assert_eq!(gnu_count(&bytes(&table), 0), Some(5));
        // Whose last chain has no end.
        assert_eq!(gnu_count(&bytes(&table[..table.len() - 1]), 0), None);
        // nbucket, nchain.
        #[cfg(not(target_arch = "s390x"))]
        assert_eq!(sysv_count(&bytes(&[2, 5]), 0), Some(5));
    }
}
