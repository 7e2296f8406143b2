use super::*;

const PROBE: &str = "// clockscope_probe";

/// Sends these bytes in pieces and gives the answer, while the pages attend to all.
fn responses(pages: &mut Pages, pieces: &[&[u8]]) -> (String, bool) {
    let mut stream = TcpStream::connect(pages.listener.local_addr().unwrap()).unwrap();
    let mut is_done = false;
    for piece in pieces {
        stream.write_all(piece).unwrap();
        is_done |= pages.attend();
    }
    stream.set_nonblocking(true).unwrap();
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        is_done |= pages.attend();
        match stream.read(&mut piece) {
            Ok(0) => return (String::from_utf8(answer).unwrap(), is_done),
            Ok(count) => answer.extend(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // What could not be read of a refused request is answered by a reset.
            Err(_) => return (String::from_utf8(answer).unwrap(), is_done),
        }
    }
}

fn path(pages: &Pages) -> String {
    let url = pages.url().unwrap();
    let (_, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    format!("/{path}")
}

#[test]
fn a_browser_finds_its_way_and_reports() {
    let mut pages = Pages::new(PROBE, 300).unwrap();
    assert!(pages.url().unwrap().starts_with("http://127.0.0.1:"));
    let unisolated = path(&pages);
    let isolated = unisolated.replace("/plain/", "/isolated/");
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes();
    let (answer, _) = responses(&mut pages, &[&get(&unisolated)]);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("milliseconds: 300"), "{answer}");
    assert!(answer.contains("next: \"../isolated/\"") && !answer.contains("Cross-Origin"), "{answer}");
    let (answer, _) = responses(&mut pages, &[&get(&isolated)]);
    assert!(answer.contains("Cross-Origin-Opener-Policy: same-origin\r\n") && !answer.contains("next:"), "{answer}");
    assert!(answer.contains("Cross-Origin-Embedder-Policy: require-corp\r\n"), "{answer}");
    let (answer, _) = responses(&mut pages, &[&get(&format!("{isolated}probe.js"))]);
    assert!(answer.ends_with(PROBE), "{answer}");

    // In pieces, as networks deliver; the plain page is not the last.
    let post = format!("POST {unisolated}result HTTP/1.1\r\ncontent-length: 5\r\n\r\n");
    let (answer, is_done) = responses(&mut pages, &[&post.as_bytes()[..20], &post.as_bytes()[20..], b"on", b"e\n1"]);
    assert!(answer.starts_with("HTTP/1.1 200") && !is_done, "{answer}");
    let post = format!("POST {isolated}result HTTP/1.1\r\nContent-Length: 3\r\n\r\ntwo");
    let (_, is_done) = responses(&mut pages, &[post.as_bytes()]);
    assert!(is_done);
    assert_eq!(pages.lines, "one\n1\ntwo\n");
}

#[test]
fn strangers_get_and_leave_nothing() {
    let mut pages = Pages::new(PROBE, 300).unwrap();
    let path = path(&pages);
    for request in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "GET /favicon.ico HTTP/1.1\r\n\r\n".to_owned(),
        "POST /plain/result HTTP/1.1\r\nContent-Length: 1\r\n\r\nx".to_owned(),
        "POST /0123456789abcdef/isolated/result HTTP/1.1\r\nContent-Length: 1\r\n\r\nx".to_owned(),
        format!("PUT {path}result HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"),
        format!("GET {path}../../etc/passwd HTTP/1.1\r\n\r\n"),
    ] {
        let (answer, is_done) = responses(&mut pages, &[request.as_bytes()]);
        assert!(answer.starts_with("HTTP/1.1 404") && !is_done, "{request}: {answer}");
    }
    for rubbish in
        ["\0\0\0\0 rubbish\r\n\r\n".to_owned(), format!("POST {path}result HTTP/1.1\r\nContent-Length: -1\r\n\r\n")]
    {
        let (answer, is_done) = responses(&mut pages, &[rubbish.as_bytes()]);
        assert!(answer.is_empty() && !is_done, "{answer}");
    }
    assert_eq!(pages.lines, "");
    assert!(pages.connections.is_empty());
}

#[test]
fn what_leads_there_is_a_file_of_any_name() {
    let pages = Pages::new(PROBE, 300).unwrap();
    assert!(pages.start().unwrap().contains(&format!("location.replace(\"{}\")", pages.url().unwrap())));
    assert_eq!(file_url(Path::new("/tmp/a b%#\u{e4}/x.html")), "file:///tmp/a%20b%25%23%C3%A4/x.html");
}

#[test]
fn whoever_connects_and_says_nothing_is_no_hindrance() {
    let mut pages = Pages::new(PROBE, 300).unwrap();
    let address = pages.listener.local_addr().unwrap();
    let silent: Vec<TcpStream> = (0..MOST_CONNECTIONS / 2).map(|_| TcpStream::connect(address).unwrap()).collect();
    let unisolated = path(&pages);
    let (answer, _) = responses(&mut pages, &[format!("GET {unisolated} HTTP/1.1\r\n\r\n").as_bytes()]);
    assert!(answer.starts_with("HTTP/1.1 200"));
    drop(silent);
    while !pages.connections.is_empty() {
        pages.attend();
    }
}
