//! Functions that `fuzz/` feeds with texts that no runtime prints. Each function asserts what holds
//! of any answer.

use clockscope_records::is_steering;

use crate::probe_line::{ProbeReport, parse};
use crate::{descendants, pages, row, runtime_version};

/// Takes what programs print: the lines of probes, versions, and what /proc says of their
/// processes.
pub fn probe_lines(printed: &str) {
    for line in parse(printed) {
        match line {
            Ok(ProbeReport::Read(readings)) => {
                assert!(!readings.api.contains(is_steering) && !readings.built_on.contains(is_steering));
                row::fuzz(&readings);
            }
            Ok(ProbeReport::Unavailable { api, reason }) => {
                assert!(!api.contains(is_steering) && !reason.contains(is_steering))
            }
            Err(error) => assert!(!error.to_string().contains(is_steering)),
        }
    }
    for title in ["Java", "Python", ".NET"] {
        assert!(!runtime_version::version(printed, title).contains(is_steering));
    }
    let _ = (runtime_version::framework(printed), descendants::described(1, printed));
}

/// Requests to the pages of browsers' probes.
pub fn http_heads(received: &[u8]) {
    pages::fuzz(received);
}
