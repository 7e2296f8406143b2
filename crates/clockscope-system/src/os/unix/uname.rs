//! The kernel's names: uname(2).

#![allow(unsafe_code, reason = "a system call that fills a structure")]

use clockscope_records::{Figure, Kernel};

/// Name, release and version.
pub(crate) fn kernel() -> Kernel {
    let names = uname().map_or([const { None }; 3], |names| names.map(Some));
    let [name, release, version] = names.map(|name| Figure::of(name, "uname failed"));
    Kernel { name, release, version }
}

fn uname() -> Option<[String; 3]> {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: uname fills the structure that it is given, of which all-zero is a value.
    let (answer, names) = unsafe { (libc::uname(names.as_mut_ptr()), names.assume_init()) };
    if answer != 0 {
        return None;
    }
    let fields: [&[libc::c_char]; 3] = [&names.sysname, &names.release, &names.version];
    Some(fields.map(|field| {
        let bytes: Vec<u8> = field.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }))
}
