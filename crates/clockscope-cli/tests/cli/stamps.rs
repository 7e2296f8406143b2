//! Files of stamps that the command converts, as the process does that took them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{clockscope, run, stderr};
use clockscope::stamps::{self, Header, Stamp, Stamps};

/// Columns behind those of the input.
const COLUMNS: &str = "monotonic_ns,error_ns,wall,earliest,latest,state,boot,process,generation,reason";

/// A header that is the same on every machine.
const HEADER: &str = "clockscope stamps 1
clock counter
boot -
process 4711
generation 1
tail 0 0
piece 1000 1000 5000 9223372036854775808 62 20 1000000 30 synchronized 1000000 500
piece 4000 1000 90000 9223372036854775808 61 40 - - unsynchronized 0 0
end
";

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn converted(path: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let output = run(clockscope(&[&["stamps", path.to_str().unwrap()], arguments].concat()), code);
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The rows that a process expects for its stamps.
fn expected(stamps: Stamps, taken: &[Stamp], header: &Header) -> String {
    let row = |stamp: &Stamp| {
        let (instant, bound) = stamps.instant_with_bound(*stamp).unwrap();
        let wall = stamps.wall(*stamp).map_or(String::new(), |wall| wall.to_string());
        let interval = stamps.bounded(*stamp).unwrap();
        let ends = if interval.state.is_bounded() {
            format!("{},{}", interval.earliest, interval.latest)
        } else {
            ",".to_owned()
        };
        let (ns, bound, state) = (instant.as_ns(), bound.as_nanos(), interval.state.as_str());
        let origin = format!("{},{},{}", header.boot().unwrap_or_default(), header.process(), header.generation());
        format!("{},{ns},{bound},{wall},{ends},{state},{origin},\n", stamp.count())
    };
    format!("count,{COLUMNS}\n{}", taken.iter().map(row).collect::<String>())
}

/// As CSV, as little-endian counts, and with the header beside, whatever clock they are of.
#[test]
fn stamps_become_the_times_of_their_process() {
    fn check(stamps: Stamps) {
        let folder = tempfile::tempdir().unwrap();
        let mut taken = Vec::new();
        for _ in 0..5 {
            taken.extend((0..10).map(|_| stamps.now()));
            stamps::renew().unwrap();
        }
        let header = stamps.header(taken[0]).unwrap();
        let text = header.to_string().into_bytes();
        let csv: Vec<u8> = taken.iter().flat_map(|stamp| format!("{}\n", stamp.count()).into_bytes()).collect();
        let le64: Vec<u8> = taken.iter().flat_map(|stamp| stamp.count().to_le_bytes()).collect();
        let expected = expected(stamps, &taken, &header);
        let beside = written(folder.path(), "header", &text);
        let beside = ["--header", beside.to_str().unwrap(), "--counts", "le64"];
        for (name, bytes, arguments) in [
            ("csv", [&text[..], &csv].concat(), &[][..]),
            ("le64", [&text[..], &le64].concat(), &["--counts", "le64"]),
            ("bare", le64, &beside),
        ] {
            let path = written(folder.path(), name, &bytes);
            assert_eq!(converted(&path, arguments, 0), (expected.clone(), String::new()), "{name}");
        }
    }
    check(stamps::os());
    match stamps::counter() {
        Ok(stamps) => check(stamps),
        Err(refused) => clockscope_testing::skip(&refused.to_string()),
    }
}

/// Rows keep their columns; each header converts the rows below it, and what it does not have is
/// named.
#[test]
fn rows_are_converted_by_the_header_above_them() {
    let folder = tempfile::tempdir().unwrap();
    let later = HEADER.replace("boot -\nprocess 4711\ngeneration 1", "boot b\nprocess 4712\ngeneration 2");
    let later = later.replace(" 5000 ", " 7000 ");
    let rows = "name,stamp,\n\"a,b\", 1500,\"  kept  \"\nc,3000,\n";
    let text = format!("\u{feff}{HEADER}{rows}{later}name,stamp,\nd,1500,\ne,6000,\n").replace('\n', "\r\n");
    let path = written(folder.path(), "two", text.as_bytes());
    let (rows, said) = converted(&path, &["--column", "stamp"], 3);
    let time = |ns: u64| format!("1970-01-01T00:00:00.00{ns}Z");
    let first = format!("{},{},{}", time(1_006_000), time(1_005_980), time(1_006_520));
    let second = format!("{},{},{}", time(1_008_000), time(1_007_980), time(1_008_520));
    assert_eq!(
        rows,
        format!(
            "name,stamp,,{COLUMNS}\n\"a,b\", 1500,  kept  ,6000,20,{first},synchronized,,4711,1,\n\
             c,3000,,,,,,,,,4711,1,gap\nd,1500,,8000,20,{second},synchronized,b,4712,2,\n\
             e,6000,,,,,,,,b,4712,2,after_header\n"
        )
    );
    assert!(said.starts_with("warning: 1 of 4 counts have no time: between ") && said.lines().count() == 2, "{said}");
    let (again, _) = converted(&path, &["--column", "2"], 3);
    assert_eq!(again, rows);
}

/// A file that is wrong anywhere is named with its line, and nothing is written.
#[test]
fn a_wrong_stamp_file_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let header = written(folder.path(), "header", HEADER.as_bytes());
    let header = header.to_str().unwrap();
    let path = folder.path().join("wrong");
    let path = path.to_str().unwrap();
    let output = folder.path().join("out.csv");
    let output = output.to_str().unwrap();
    let le64 = &["--counts", "le64"][..];
    let below = |rows: &str| format!("{HEADER}{rows}");
    for (text, arguments, code, said) in [
        (below("1500\nx\n"), &[][..], 4, "line 11: \"x\" is not a count"),
        (below("1500\r\n\r\n\r\n+1\r\n"), &[], 4, "line 13: \"+1\" is not a count"),
        (below("-1\n1500\n"), &[], 4, "line 10: \"-1\" is not a count"),
        (below("1.5\n1500\n"), &[], 4, "line 10: \"1.5\" is not a count"),
        (below("99999999999999999999999\n"), &[], 4, "line 10: \"99999999999999999999999\" is not a count"),
        (below("read,1500\n"), &[], 4, "\"read\" is not a count: expected 0 to 18446744073709551615; --column names"),
        (below("1500;a\n"), &[], 4, "commas separate columns"),
        (below("a\n1500\na\n"), &[], 4, "line 12: \"a\" is not a count"),
        (below("1500,a\n1500\n"), &[], 4, "line 11 has 1 columns: expected 2"),
        (below("1500,a\n1500,\"b\n1500,c\n"), &[], 4, "the rows from line 10 on are an odd number"),
        (below("1500\n\u{0}\u{1}\n"), &[], 4, "--counts le64 is for little-endian ones"),
        (below("\u{1}b\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"), &[], 4, "--counts le64 is for little-endian ones"),
        (below("wall\n1500\n"), &[], 4, "has a column wall, as the answer has"),
        (below(&format!("a,b\n1,2\n{HEADER}b,a\n")), &[], 4, "line 21: the names of the columns are not those"),
        (below("123456789"), le64, 4, "9 bytes are not a multiple of 8"),
        (below(&format!("12345678{HEADER}12345678")), le64, 4, "another header follows after 8 bytes"),
        ("1500\n".to_owned(), &[], 4, "it does not begin with a header of stamps; --header names"),
        (String::new(), &[], 4, "it does not begin with a header of stamps; --header names"),
        (HEADER.replace("end\n", ""), &[], 4, "line 9 of the header, \"\": the header is cut short"),
        (HEADER.replace(" 20 ", " twenty "), &[], 4, "the header at line 1: line 7 of the header, \"piece 1000"),
        (HEADER.replace("stamps 1", "stamps 2"), &[], 4, "\"clockscope stamps 2\": this version is not known"),
        (below(&format!("1\n{}", HEADER.replace("stamps 1", "stamps 2"))), &[], 4, "the header at line 11: line 1 of"),
        (below("a,b\n1,2\n"), &["--column", "c"], 2, "--column c: the columns are 1 (a), 2 (b)"),
        (below("a,a\n1,2\n"), &["--column", "a"], 2, "--column a: two columns have this name"),
        (below("a,b\n1,2\n"), &["--column", "3"], 2, "--column 3: expected 1 to 2"),
        (below("1,2\n"), &["--column", "a"], 2, "--column a: the first row has no names"),
        (below("12345678"), &["--counts", "le64", "--column", "a"], 2, "leave it out"),
        (HEADER.to_owned(), &["--header", header], 2, "leave --header out"),
        (HEADER.to_owned(), &["-o", path], 2, "an input of this command: name another file"),
        ("1500\n".to_owned(), &["--header", header, "-o", header], 2, "an input of this command: name another file"),
    ] {
        written(folder.path(), "wrong", text.as_bytes());
        let own: &[&str] = if arguments.contains(&"-o") { &[] } else { &["-o", output] };
        let arguments = [&["stamps", path], arguments, own].concat();
        let message = stderr(&arguments, code);
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{arguments:?}");
    }
    assert!(stderr(&["stamps", "-", "--header", "-"], 2).contains("are both standard input"));
    let empty = written(folder.path(), "empty", HEADER.as_bytes());
    assert_eq!(converted(&empty, &["--column", "stamp"], 0), (format!("count,{COLUMNS}\n"), String::new()));
}

/// The documentation shows a file, and what the command makes of it.
#[cfg(unix)]
#[test]
fn the_documented_file_is_converted_as_shown() {
    let text = fs::read_to_string(clockscope_testing::project().join("docs/reference/stamps-file.md")).unwrap();
    let (_, shown) = text.split_once("$ cat run.stamps\n").unwrap();
    let (file, rest) = shown.split_once("$ clockscope stamps run.stamps\n").unwrap();
    let (expected, _) = rest.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "run.stamps", file.as_bytes());
    assert_eq!(converted(&path, &[], 0), (expected.to_owned(), String::new()));
}

/// A reader that has seen enough is not an error.
#[cfg(unix)]
#[test]
fn a_reader_that_closes_the_pipe_ends_the_conversion() {
    use std::io::Read;
    use std::process::Stdio;

    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "long", format!("{HEADER}{}", "1500\n".repeat(100_000)).as_bytes());
    let mut command = clockscope(&["stamps", path.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut beginning = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
