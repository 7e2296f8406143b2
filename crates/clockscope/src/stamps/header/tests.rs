use super::*;

/// Two pieces of 1000 counts at 2 and 4 ns a count, a gap of 1000, and one more.
const TEXT: &str = "clockscope stamps 1
clock counter
boot 5c1dd3a7-6a0c-4cf9-b3a6-2f8b3c1d9e10
process 4711
generation 1
hz 250000000
doubt 100 50
tail 4500 300
piece 1000 1000 5000 9223372036854775808 62 20 1000000 30 synchronized 1000000 500
piece 2000 1000 7000 9223372036854775808 61 25 - - unsynchronized 0 0
piece 4000 1000 90000 9223372036854775808 61 40 1000000 30 synchronized 1000000 500
end
";

fn header() -> Header {
    TEXT.parse().unwrap()
}

fn converted(count: u64) -> Result<(u64, u128), StampError> {
    let converted = header().convert(Stamp::from_count(count))?;
    Ok((converted.instant.as_ns(), converted.error_bound.as_nanos()))
}

#[test]
fn a_header_is_read_as_it_was_written() {
    assert_eq!(header().to_string(), TEXT);
    let with_counts = [TEXT.as_bytes(), b"1000\n"].concat();
    assert_eq!(Header::split(&with_counts), Ok((header(), &b"1000\n"[..])));
    let of_windows = TEXT.replace('\n', "\r\n");
    assert_eq!(of_windows.parse(), Ok(header()));
    assert!(Header::begins_with(b"clockscope stamps 2\n") && !Header::begins_with(b"clockscope"));
}

#[test]
fn a_header_converts_what_it_has() {
    for (count, expected) in [
        (1000, Ok((5000, 20))),
        (1500, Ok((6000, 20))),
        (1999, Ok((6998, 20))),
        (2000, Ok((7000, 25))),
        (3000, Ok((11000, 25))),
        (4000, Ok((90000, 40))),
        // The tail's.
        (4500, Ok((92000, 300))),
        (5000, Ok((94000, 300))),
        (999, Err(StampError::BeforeHistory)),
        (120, Err(StampError::CounterWentBack)),
        (3001, Err(StampError::Gap)),
        (5001, Err(StampError::AfterHeader)),
    ] {
        assert_eq!(converted(count), expected, "{count}");
    }
    let first = header().convert(Stamp::from_count(1000)).unwrap();
    assert_eq!(first.wall, Some(WallTime::from_unix_ns(1_005_000)));
    let interval = first.interval.unwrap();
    assert_eq!(
        (interval.earliest, interval.latest),
        (WallTime::from_unix_ns(1_004_980), WallTime::from_unix_ns(1_005_520))
    );
    let second = header().convert(Stamp::from_count(2000)).unwrap();
    assert_eq!((second.wall, second.interval.unwrap().state), (None, WallState::Unsynchronized));
    assert_eq!(header().hz(), Some(250e6));
}

/// Every word that is changed, left out or added is an error of its line.
#[test]
fn a_spoiled_header_is_refused() {
    let lines: Vec<&str> = TEXT.lines().collect();
    for (number, text, reason) in [
        (1, "clockscope stamps 2", Reason::Version),
        (1, "clockscope", Reason::NoHeader),
        (3, "clock counter", Reason::Repeated),
        (4, "process +1", Reason::Value),
        (6, "hz nan", Reason::Value),
        (2, "clock sundial", Reason::Value),
        (3, "boot", Reason::Value),
        (3, "boots -", Reason::UnknownKey),
        (4, "process -1", Reason::Value),
        (5, "generation 18446744073709551616", Reason::Value),
        (8, "tail 1 2 3", Reason::Value),
        (9, "piece 1000", Reason::Value),
        (9, "piece 1000 1000 5000 9223372036854775808 128 20 - - synchronized 0 0", Reason::Value),
        (9, "piece 1000 36028797018963968 5000 9223372036854775808 62 20 - - synchronized 0 0", Reason::Value),
        (9, "piece 1000 1000 5000 9223372036854775808 62 20 - 30 synchronized 0 0", Reason::Value),
        (9, "piece 1000 1000 5000 9223372036854775808 62 20 - - dubious 0 0", Reason::Value),
        (9, "piece 1000 1000 5000 9223372036854775808 62 20 +5 30 synchronized 0 0", Reason::Value),
        (10, "piece 1999 1000 7000 9223372036854775808 61 25 - - unsynchronized 0 0", Reason::OutOfOrder),
        (10, "piece 2000 1000 6999 9223372036854775808 61 25 - - unsynchronized 0 0", Reason::OutOfOrder),
        (10, "piece 999 1000 7000 9223372036854775808 61 25 - - unsynchronized 0 0", Reason::OutOfOrder),
    ] {
        let spoiled: Vec<&str> =
            lines.iter().enumerate().map(|(at, line)| if at + 1 == number { text } else { line }).collect();
        let error = Header::split((spoiled.join("\n") + "\n").as_bytes()).unwrap_err();
        assert_eq!((error.line, error.reason), (number, reason), "{text}");
    }
    for length in 0..TEXT.len() - "end\n".len() {
        assert!(Header::split(&TEXT.as_bytes()[..length]).is_err(), "{length} bytes of it");
    }
    let without_tail = TEXT.replace("tail 4500 300\n", "");
    let missing = without_tail.parse::<Header>().unwrap_err();
    assert_eq!((missing.line, missing.reason), (11, Reason::Missing));
    let long = TEXT.replace("generation 1", &"x".repeat(1000)).parse::<Header>().unwrap_err().to_string();
    let shown = "x".repeat(60);
    assert_eq!(long, format!("line 5 of the header, {shown:?}: its first word is not known"));
    assert_eq!(
        Header::split(b"1234\n").unwrap_err().to_string(),
        "found \"1234\" where a header begins: expected \"clockscope stamps 1\""
    );
}
