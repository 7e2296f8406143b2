//! The kernel's log: /dev/kmsg.

use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

use crate::Errno;

/// Longest record of the log; the kernel's own limit is 8 KiB with all that belongs to it.
const MAX_RECORD_BYTES: usize = 16 << 10;

/// The log's records that are still kept, the oldest first.
pub(crate) fn kernel_log() -> Option<Result<Vec<String>, Errno>> {
    Some(records().map_err(|error| Errno::from(&error)))
}

fn records() -> io::Result<Vec<String>> {
    let mut file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg")?;
    let mut record = vec![0; MAX_RECORD_BYTES];
    let mut records = Vec::new();
    loop {
        match file.read(&mut record) {
            Ok(0) => return Ok(records),
            Ok(length) => records.push(String::from_utf8_lossy(&record[..length]).into_owned()),
            // The newest record was read.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(records),
            // The oldest was overwritten meanwhile: the next read goes on behind it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe || error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
