//! The pages that a browser's probe runs in, on loopback: one as any page is, and one that asks to
//! be isolated from other origins (COOP and COEP), which browsers give finer clocks.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;

use crate::process::Task;
use crate::system::{Descriptor, descriptor};

/// Longest request: the probe's lines of one page.
const MOST_REQUEST: usize = 16 << 20;
/// Most connections at once; a browser makes a few.
const MOST_CONNECTIONS: usize = 64;
/// Most fields in a request's head.
const MOST_FIELDS: usize = 100;

const UNISOLATED: &str = "plain";
const ISOLATED: &str = "isolated";
/// Header fields that make a page isolated (HTML, "cross-origin isolation").
const ISOLATION: &str = "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n";

/// Serves the pages and takes what they report.
pub(crate) struct Pages {
    listener: TcpListener,
    connections: Vec<Connection>,
    site: Site,
    /// Lines that the pages reported, in order.
    pub(crate) lines: String,
    is_done: bool,
}

/// Content that is served.
struct Site {
    probe: &'static str,
    milliseconds: u64,
    /// Begins every path, so that nobody else on this machine can report figures: only the user can
    /// read the file that leads there.
    secret: String,
}

/// Answer to a request.
struct HttpResponse {
    status: &'static str,
    kind: &'static str,
    fields: &'static str,
    body: String,
}

/// A request that has come whole.
#[derive(Debug, PartialEq)]
struct HttpRequest<'a> {
    method: &'a str,
    path: &'a str,
    body: &'a [u8],
}

impl Pages {
    /// Pages with this probe, on a free port of the loopback interface.
    ///
    /// # Errors
    /// There is no loopback interface or no free port.
    pub(crate) fn new(probe: &'static str, milliseconds: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let [first, second] = [RandomState::new(), RandomState::new()].map(|state| state.hash_one(()));
        let secret = format!("{first:016x}{second:016x}");
        let site = Site { probe, milliseconds, secret };
        Ok(Self { listener, connections: Vec::new(), site, lines: String::new(), is_done: false })
    }

    /// Address at which a browser has to begin.
    fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/{}/{UNISOLATED}/", self.listener.local_addr()?, self.site.secret))
    }

    /// A page that leads there.
    pub(crate) fn start(&self) -> io::Result<String> {
        let url = self.url()?;
        Ok(format!("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<script>location.replace(\"{url}\");</script>\n"))
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.connections.len() < MOST_CONNECTIONS && stream.set_nonblocking(true).is_ok() {
                self.connections.push(Connection { stream, received: Vec::new() });
            }
        }
    }
}

impl Task for Pages {
    fn descriptors(&self) -> Vec<Descriptor<'_>> {
        let connections = self.connections.iter().map(|connection| descriptor(&connection.stream));
        std::iter::once(descriptor(&self.listener)).chain(connections).collect()
    }

    fn attend(&mut self) -> bool {
        self.accept();
        let (site, lines, is_done) = (&self.site, &mut self.lines, &mut self.is_done);
        self.connections.retain_mut(|connection| {
            connection.attend(|request| {
                let answer = site.answer(&request);
                if let Some(page) = site.reported(&request) {
                    lines.push_str(&String::from_utf8_lossy(request.body));
                    lines.push('\n');
                    *is_done |= page == ISOLATED;
                }
                answer
            })
        });
        self.is_done
    }
}

impl Site {
    /// Below the secret: the page, and what of it.
    fn route<'a>(&self, path: &'a str) -> Option<(&'a str, &'a str)> {
        let inner = path.strip_prefix('/')?.strip_prefix(self.secret.as_str())?.strip_prefix('/')?;
        inner.split_once('/').filter(|(page, _)| [UNISOLATED, ISOLATED].contains(page))
    }

    /// The page that reports by this request.
    fn reported<'a>(&self, request: &HttpRequest<'a>) -> Option<&'a str> {
        let (page, file) = self.route(request.path)?;
        (request.method == "POST" && file == "result").then_some(page)
    }

    fn answer(&self, request: &HttpRequest<'_>) -> HttpResponse {
        let route = self.route(request.path);
        match (request.method, route) {
            ("GET", Some((page, ""))) => {
                let fields = if page == ISOLATED { ISOLATION } else { "" };
                HttpResponse { status: "200 OK", kind: "text/html", fields, body: self.page(page) }
            }
            ("GET", Some((_, "probe.js"))) => {
                HttpResponse { status: "200 OK", kind: "text/javascript", fields: "", body: self.probe.to_owned() }
            }
            ("POST", Some((_, "result"))) => {
                HttpResponse { status: "200 OK", kind: "text/plain", fields: "", body: String::new() }
            }
            _ => HttpResponse { status: "404 Not Found", kind: "text/plain", fields: "", body: String::new() },
        }
    }

    /// A page that runs the probe; the plain one goes on to the isolated one.
    fn page(&self, page: &str) -> String {
        let milliseconds = self.milliseconds;
        let settings = if page == ISOLATED {
            format!("{{ milliseconds: {milliseconds}, suffix: \" (isolated)\", isolated: true }}")
        } else {
            format!("{{ milliseconds: {milliseconds}, suffix: \"\", isolated: false, next: \"../{ISOLATED}/\" }}")
        };
        format!(
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>clockscope</title>\n<script>const CLOCKSCOPE = {settings};</script>\n\
             <script src=\"probe.js\"></script>\n"
        )
    }
}

/// The address of a file: all but the plainest characters are written by their bytes' numbers (RFC
/// 8089, RFC 3986).
pub(crate) fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => url.push(char::from(*byte)),
            other => url += &format!("%{other:02X}"),
        }
    }
    url
}

/// A connection, until its one request is answered.
struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Takes what has come and answers what is whole. Whether more is to be expected.
    fn attend(&mut self, answer: impl FnOnce(HttpRequest<'_>) -> HttpResponse) -> bool {
        let is_open = self.receive();
        match request(&self.received) {
            Ok(Some(request)) => {
                let answer = answer(request);
                // A browser that has gone needs no answer.
                let _ = self.send(&answer);
                false
            }
            Ok(None) => is_open && self.received.len() < MOST_REQUEST,
            Err(_) => false,
        }
    }

    /// Returns true if the other side may still send.
    fn receive(&mut self) -> bool {
        let mut piece = [0; 1 << 16];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return false,
                Ok(count) => self.received.extend(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
            if self.received.len() >= MOST_REQUEST {
                return true;
            }
        }
    }

    /// All of it fits into the socket's buffer on loopback, so that nothing waits here.
    fn send(&mut self, answer: &HttpResponse) -> io::Result<()> {
        let HttpResponse { status, kind, fields, body } = answer;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Connection: close\r\n{fields}\r\n",
            body.len()
        );
        self.stream.write_all((head + body).as_bytes())
    }
}

/// The request, if it has come whole.
fn request(received: &[u8]) -> Result<Option<HttpRequest<'_>>, httparse::Error> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let httparse::Status::Complete(end) = head.parse(received)? else { return Ok(None) };
    let length = head.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length =
        match length.map(|field| std::str::from_utf8(field.value).ok().and_then(|text| text.trim().parse().ok())) {
            Some(Some(length)) => length,
            Some(None) => return Err(httparse::Error::HeaderValue),
            None => 0usize,
        };
    let body = end.checked_add(length).and_then(|until| received.get(end..until));
    let (method, path) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
    Ok(body.map(|body| HttpRequest { method, path, body }))
}

/// Any bytes are a request, the beginning of one, or refused; a body lies within what came (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(received: &[u8]) {
    if let Ok(Some(request)) = request(received) {
        assert!(received.ends_with(request.body) || request.body.len() < received.len());
    }
}

#[cfg(test)]
mod tests;
