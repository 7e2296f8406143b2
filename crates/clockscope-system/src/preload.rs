//! Libraries that the dynamic linker loads into a program before those that it asks for: their
//! functions take the place of the C library's.

/// The file that lists them for all programs (ld.so(8)).
const FOR_ALL: &str = "/etc/ld.so.preload";
/// Variables that list them for one program: of Linux and the BSDs, and of macOS.
const VARIABLES: [&str; 2] = ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES"];

/// Returns the libraries that are to be preloaded into this process, as they were named. Into one
/// that is not dynamically linked none is, whatever is named.
#[must_use]
pub fn preloaded() -> Vec<String> {
    let listed = std::fs::read_to_string(FOR_ALL).ok();
    named(VARIABLES.into_iter().filter_map(|name| std::env::var(name).ok()).chain(listed))
}

/// Returns the names in lists that are separated by colons or white space.
fn named(lists: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for list in lists {
        for name in list.split([':', ' ', '\t', '\n']).filter(|name| !name.is_empty()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_colons_and_white_space() {
        let lists = ["libfaketime.so.1:/lib/a.so  b.so", "\n/lib/a.so\n\n"].map(str::to_owned);
        assert_eq!(named(lists.into_iter()), ["libfaketime.so.1", "/lib/a.so", "b.so"]);
        assert_eq!(named(std::iter::empty()), [""; 0]);
    }
}
