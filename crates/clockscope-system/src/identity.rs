//! Names of this machine in a fleet, without the identifiers that the system has for it.
//!
//! The strings by which firmware names a cloud are those of cloud-init's `ds-identify`.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clockscope_records::{Figure, Identity, Unknown, texts};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The message whose code is published in place of its key.
const MESSAGE: &[u8] = b"clockscope";

const MACHINE_ID: &str = "etc/machine-id";
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";
const DMI: &str = "sys/class/dmi/id";

/// Returns the names of this machine; the label is the user's. Reads a few small files, and changes
/// nothing.
#[must_use]
pub fn identity(label: Option<String>) -> Identity {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        return Identity { label, ..read(Path::new("/")) };
    }
    let unknown = Figure::unknown(texts::ONLY_LINUX);
    Identity { label, host: unknown.clone(), boot: unknown.clone(), cloud: unknown.clone(), instance_type: unknown }
}

/// Returns the names of the machine with these files of /sys, /proc and /etc below `root`; without
/// a label.
fn read(root: &Path) -> Identity {
    let dmi = Dmi(root.join(DMI));
    let cloud = cloud(&dmi, root);
    let instance_type = match &cloud {
        Figure::Known(cloud) if cloud == EC2 => dmi.text("product_name").filter(|name| name.contains('.')),
        _ => None,
    };
    Identity {
        label: None,
        host: published(root, MACHINE_ID),
        boot: published(root, BOOT_ID),
        instance_type: Figure::of(instance_type, "the firmware does not state it"),
        cloud,
    }
}

/// The code of [`MESSAGE`], keyed by the text of a file that holds an identifier.
fn published(root: &Path, file: &str) -> Figure<String> {
    let id = match beginning(&root.join(file)) {
        Ok(text) => text.trim().to_owned(),
        Err(error) => return Figure::unknown(format!("/{file} cannot be read: {error}")),
    };
    if !is_identifier(&id) {
        return Figure::unknown(format!("/{file} holds no identifier"));
    }
    let Ok(code) = Hmac::<Sha256>::new_from_slice(id.as_bytes()) else {
        return Figure::unknown(format!("/{file} holds no key"));
    };
    Figure::Known(hex(&code.chain_update(MESSAGE).finalize().into_bytes()))
}

/// The first bytes of a file, which has no more if it is an identifier. Another kind of file, which
/// may have no end, is an error.
fn beginning(file: &Path) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    fs::File::open(file)?.take(MAX_IDENTIFIER_BYTES + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// The length of an identifier with its hyphens and a line's end, in bytes.
const MAX_IDENTIFIER_BYTES: u64 = 37;

/// Returns true for 128 bits in hexadecimal digits, with or without hyphens, that are not all zero.
/// systemd writes `uninitialized` where a boot has to make the first identifier.
fn is_identifier(text: &str) -> bool {
    let digits: String = text.split('-').collect();
    digits.len() == 32 && u128::from_str_radix(&digits, 16).is_ok_and(|number| number != 0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of the firmware's table (SMBIOS) of the system.
struct Dmi(PathBuf);

impl Dmi {
    /// A text of it; `None` where there is none.
    fn text(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.0.join(name)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}

const EC2: &str = "Amazon EC2";

/// Clouds by a file of DMI and the beginning of its text.
const CLOUDS: [(&str, &str, &str); 13] = [
    ("sys_vendor", "Amazon EC2", EC2),
    ("product_name", "Google Compute Engine", "Google Compute Engine"),
    // The chassis of Azure alone: Hyper-V elsewhere has the same vendor.
    ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "Microsoft Azure"),
    ("chassis_asset_tag", "OracleCloud.com", "Oracle Cloud"),
    ("product_name", "Alibaba Cloud ECS", "Alibaba Cloud"),
    ("sys_vendor", "DigitalOcean", "DigitalOcean"),
    ("sys_vendor", "Hetzner", "Hetzner Cloud"),
    ("sys_vendor", "Scaleway", "Scaleway"),
    ("sys_vendor", "Vultr", "Vultr"),
    ("sys_vendor", "Exoscale", "Exoscale"),
    ("sys_vendor", "UpCloud", "UpCloud"),
    ("product_name", "OpenStack Nova", "OpenStack"),
    ("product_name", "OpenStack Compute", "OpenStack"),
];

/// The cloud that the firmware names. EC2's machines under Xen have no such vendor, but a UUID of
/// the hypervisor that begins with `ec2`.
fn cloud(dmi: &Dmi, root: &Path) -> Figure<String> {
    let mut clouds = CLOUDS.iter();
    let named = clouds.find(|(file, beginning, _)| dmi.text(file).is_some_and(|text| text.starts_with(beginning)));
    if let Some((_, _, cloud)) = named {
        return Figure::Known((*cloud).to_owned());
    }
    let uuid = fs::read_to_string(root.join("sys/hypervisor/uuid")).unwrap_or_default();
    if uuid.to_ascii_lowercase().starts_with("ec2") {
        return Figure::Known(EC2.to_owned());
    }
    let reason: Unknown = match dmi.text("sys_vendor") {
        Some(vendor) => format!("the firmware states the vendor {vendor:?}, not that of a known cloud").into(),
        None => format!("the kernel shows no vendor in /{DMI}").into(),
    };
    Figure::Unknown(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    fn reason(figure: &Figure<String>) -> String {
        figure.reason().unwrap().to_string()
    }

    /// The codes are those of `printf clockscope | openssl dgst -sha256 -hmac ID`.
    #[test]
    fn identifiers_are_published_as_codes() {
        let id = "0123456789abcdef0123456789abcdef";
        let found =
            read(root(&[(MACHINE_ID, &format!("{id}\n")), (BOOT_ID, "01234567-89ab-cdef-0123-456789abcdee\n")]).path());
        let (host, boot) = (found.host.known().unwrap(), found.boot.known().unwrap());
        assert_eq!(host, "ea566f1cc164500685a6be1c89b524a6a8008e1d35cfa48d2f215393e10fead5");
        assert_eq!(boot, "ecf4665693fd765868d6de89363b10e211769a9b83a18fb86b6ab01536f1f334");
        assert!(!host.contains(&id[..8]));
    }

    #[test]
    fn a_missing_or_empty_identifier_has_a_reason() {
        let none = read(root(&[]).path());
        assert!(reason(&none.host).starts_with("/etc/machine-id cannot be read: "), "{}", reason(&none.host));
        let zeros = "0".repeat(32);
        let (long, two) = ("a".repeat(1000), format!("{zeros}1\n"));
        for text in ["", "\n", "uninitialized\n", &zeros, &long, &two, "0123456789abcdef0123456789abcdeg"] {
            let empty = read(root(&[(MACHINE_ID, text)]).path());
            assert_eq!(reason(&empty.host), "/etc/machine-id holds no identifier");
        }
        // Such as a pipe, which would be waited for.
        let folder = read(root(&[(&format!("{MACHINE_ID}/file"), "")]).path());
        assert_eq!(reason(&folder.host), "/etc/machine-id cannot be read: it is not a regular file");
    }

    #[test]
    fn clouds_are_known_by_their_firmware() {
        let dmi = |file: &str, text: &str| read(root(&[(&format!("{DMI}/{file}"), text)]).path());
        for (file, text, cloud) in CLOUDS {
            assert_eq!(dmi(file, &format!("{text}\n")).cloud, Figure::Known(cloud.to_owned()), "{file}");
        }
        let ec2 = read(
            root(&[(&format!("{DMI}/sys_vendor"), "Amazon EC2\n"), (&format!("{DMI}/product_name"), "m7i.large\n")])
                .path(),
        );
        assert_eq!(ec2.instance_type.known().unwrap(), "m7i.large");
        let xen = read(root(&[("sys/hypervisor/uuid", "ec2abcde-0000\n")]).path());
        assert_eq!((xen.cloud.known().unwrap().as_str(), xen.instance_type.known()), (EC2, None));
        let unknown = dmi("sys_vendor", "QEMU\n");
        assert_eq!(reason(&unknown.cloud), "the firmware states the vendor \"QEMU\", not that of a known cloud");
        assert_eq!(reason(&read(root(&[]).path()).cloud), "the kernel shows no vendor in /sys/class/dmi/id");
    }
}
