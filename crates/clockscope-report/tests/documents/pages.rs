//! HTML pages and images: what browsers get, whatever a record holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{Place, places, replace};
use crate::support::{NO_CHART, document, fixtures, kind, rendered, text_of, without_constants};
use clockscope_records::Document;
use clockscope_report::{Format, RenderError, Style, render, render_all, render_chart};
use serde_json::{Value, json};

/// A start tag with its attributes, or an end tag.
#[derive(Debug)]
enum Tag {
    Start { name: String, attributes: Vec<(String, String)>, is_empty: bool },
    End(String),
}

/// Reads tags as strictly as the pages are written: attributes in double quotes, and no `<`
/// elsewhere.
fn tags(markup: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    for part in markup.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("<{part}: a tag without an end"));
        if let Some(name) = tag.strip_prefix('/') {
            tags.push(Tag::End(name.to_owned()));
            continue;
        }
        if tag.starts_with(['!', '?']) {
            assert!(["!doctype html", "?xml version=\"1.0\" encoding=\"UTF-8\"?"].contains(&tag), "{tag}");
            continue;
        }
        let is_empty = tag.ends_with('/');
        let mut remaining = tag.trim_end_matches('/');
        let end = remaining.find(' ').unwrap_or(remaining.len());
        let name = remaining[..end].to_owned();
        remaining = &remaining[end..];
        let mut attributes = Vec::new();
        while !remaining.is_empty() {
            let (attribute, after) = remaining
                .strip_prefix(' ')
                .and_then(|remaining| remaining.split_once("=\""))
                .unwrap_or_else(|| panic!("{tag}"));
            let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("{tag}"));
            attributes.push((attribute.to_owned(), value.to_owned()));
            remaining = after;
        }
        // HTML's own elements that have no end.
        let is_empty = is_empty || name == "meta";
        tags.push(Tag::Start { name, attributes, is_empty });
    }
    tags
}

/// Elements and their attributes.
const ALLOWED: [(&str, &[&str]); 39] = [
    ("a", &["href"]),
    ("body", &[]),
    ("caption", &[]),
    ("circle", &["class", "cx", "cy", "r"]),
    ("dd", &[]),
    ("details", &["class"]),
    ("div", &["aria-label", "class", "role", "tabindex"]),
    ("dl", &[]),
    ("dt", &[]),
    ("figcaption", &[]),
    ("figure", &["id"]),
    ("h1", &[]),
    ("h2", &["class", "id"]),
    ("h3", &[]),
    ("h4", &[]),
    ("head", &[]),
    ("header", &[]),
    ("html", &["lang"]),
    ("li", &["class"]),
    ("main", &[]),
    ("meta", &["charset", "content", "http-equiv", "name"]),
    ("nav", &["aria-label"]),
    ("ol", &[]),
    ("p", &["class"]),
    ("path", &["class", "d"]),
    ("rect", &["class", "height", "width", "x", "y"]),
    ("script", &[]),
    ("style", &[]),
    ("summary", &[]),
    ("svg", &["aria-labelledby", "class", "role", "viewBox", "xmlns"]),
    ("table", &["class"]),
    ("tbody", &["class"]),
    ("td", &["class"]),
    ("text", &["class", "text-anchor", "transform", "x", "y"]),
    ("th", &["class", "colspan", "scope"]),
    ("thead", &[]),
    ("title", &["id"]),
    ("tr", &["class"]),
    ("ul", &[]),
];

/// Panics unless elements are those of the renderer, nested as they should be, and identifiers
/// distinct.
fn assert_sound(markup: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut level = 0;
    for tag in tags(&without_constants(markup)) {
        match tag {
            Tag::End(name) => assert_eq!(open.pop(), Some(name)),
            Tag::Start { name, attributes, is_empty } => {
                let allowed = allowed(&name);
                for (attribute, value) in &attributes {
                    assert!(allowed.contains(&attribute.as_str()), "{attribute} of {name}");
                    assert!(attribute != "id" || ids.insert(value.clone()), "{value} twice");
                    assert!(attribute != "href" || value.starts_with("#report-"), "{value}");
                    assert!(!shows_no_number(value), "{name} {attribute}: {value}");
                }
                if let Some(heading) = name.strip_prefix('h').and_then(|level| level.parse::<usize>().ok()) {
                    assert!(heading <= level + 1, "{name} below h{level}");
                    level = heading;
                }
                if name == "svg" {
                    let has = |attribute: &str| attributes.iter().any(|(name, _)| name == attribute);
                    assert!(has("role") && has("aria-labelledby"), "{attributes:?}");
                }
                if !is_empty {
                    open.push(name);
                }
            }
        }
    }
    assert_eq!(open, [""; 0]);
    for text in without_constants(markup).split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text) {
        assert!(!shows_no_number(text), "{text}");
    }
}

/// Returns the attributes that an element may have. Others than these elements are not written.
fn allowed(name: &str) -> &'static [&'static str] {
    ALLOWED.iter().find(|(element, _)| *element == name).unwrap_or_else(|| panic!("{name}")).1
}

/// Returns whether a text shows what arithmetic made of numbers that are too large. Beside the `i`
/// and `N` of others, it is found in paths, too: `M10 NaN`.
fn shows_no_number(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| ["NaN", "inf", "infinity"].contains(&word))
        || text.contains("NaN")
}

/// The list of what a page may hold is as narrow as what is written.
#[test]
fn what_is_allowed_is_written() {
    let mut written: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let documents: Vec<Document> = fixtures().map(document).collect();
    let mut markup = vec![render_all(&documents, Format::Html, Style::default()).unwrap()];
    markup.extend(documents.iter().map(|document| rendered(document, Format::Html)));
    markup.extend(documents.iter().map(|document| rendered(document, Format::Svg)).filter(|image| image != NO_CHART));
    for tag in markup.iter().flat_map(|markup| tags(&without_constants(markup))) {
        if let Tag::Start { name, attributes, .. } = tag {
            written.entry(name).or_default().extend(attributes.into_iter().map(|(attribute, _)| attribute));
        }
    }
    let allowed = ALLOWED.iter().map(|(name, attributes)| {
        ((*name).to_owned(), attributes.iter().map(|attribute| (*attribute).to_owned()).collect::<BTreeSet<_>>())
    });
    assert_eq!(allowed.collect::<BTreeMap<_, _>>(), written);
}

#[test]
fn pages_are_sound() {
    for fixture in fixtures() {
        assert_sound(&rendered(&document(fixture), Format::Html));
    }
}

/// Nothing is there that would load or run anything, apart from the page's own script.
#[test]
fn pages_need_nothing_else() {
    for fixture in fixtures() {
        let page = rendered(&document(fixture), Format::Html);
        assert_eq!(page.matches("<script").count(), 1, "{fixture}");
        assert_eq!(page.matches("<style").count(), 2, "{fixture}");
        for wrong in [" style=", " onclick", " onload", "<link", "<img", "<iframe", "src=", "@import", "url(http"] {
            assert!(!page.contains(wrong), "{fixture}: {wrong}");
        }
        let policy = "content=\"default-src 'none'; style-src 'sha256-";
        assert!(page.contains(policy), "{fixture}");
    }
}

/// Documents with figures have charts, each with words and a table.
#[test]
fn charts_have_titles_and_tables() {
    let mut charted = BTreeSet::new();
    for fixture in fixtures() {
        let page = rendered(&document(fixture), Format::Html);
        let count = |what: &str| page.matches(what).count();
        let charts = count("<svg");
        assert_eq!(
            [count("<figure "), count("<title id="), count("<details>"), count("<figcaption>")],
            [charts; 4],
            "{fixture}"
        );
        if charts > 0 {
            charted.insert(kind(fixture).schema);
        }
    }
    let expected: BTreeSet<_> = Document::KINDS.iter().filter(|kind| kind.has_charts).map(|kind| kind.schema).collect();
    assert_eq!(charted, expected);
}

/// A deviation of 0 has no place on a logarithmic axis.
#[test]
fn values_off_the_axes_of_a_chart_are_counted() {
    let mut value: Value = serde_json::from_str(&text_of("rate")).unwrap();
    let page = |value: &Value| rendered(&Document::from_json(&value.to_string()).unwrap(), Format::Html);
    assert!(!page(&value).contains("without a place on the axes"));
    value["clocks"][0]["allan"][0]["adev"] = json!(0.0);
    assert!(page(&value).contains("<p>1 value without a place on the axes"));
}

/// The documents that a format cannot show are known without their contents.
#[test]
fn formats_are_supported_where_they_have_something_to_show() {
    for fixture in fixtures() {
        let document = document(fixture);
        for format in Format::ALL {
            let is_supported = clockscope_report::supported(document.schema(), format).is_ok();
            match render(&document, format, Style::default()) {
                Ok(_) => assert!(is_supported, "{fixture} as {}", format.name()),
                // A comparison of verdicts has no costs to draw.
                Err(_) => assert!(!is_supported || fixture == "compare_checks", "{fixture} as {}", format.name()),
            }
        }
    }
}

#[test]
fn a_chart_is_found_by_its_name() {
    let steps = document("steps");
    let image = render_chart(&steps, "histogram:monotonic").unwrap();
    assert!(image.contains("<title id=\"chart-title\">Differences of monotonic</title>"), "{image}");
    assert_sound(&image);
    let unknown = render_chart(&steps, "nosuch").unwrap_err().to_string();
    assert!(unknown.starts_with("unknown chart \"nosuch\": expected one of ecdf, staircase:tsc, "), "{unknown}");
    for name in unknown.split_once("one of ").unwrap().1.split(", ") {
        assert_sound(&render_chart(&steps, name).unwrap());
    }
    assert!(matches!(render_chart(&document("info"), "cost"), Err(RenderError::NoChart)));
    // Without a name, the first.
    assert_eq!(rendered(&document("healthy"), Format::Svg), render_chart(&document("healthy"), "cost").unwrap());
}

#[test]
fn several_records_are_one_page() {
    let documents: Vec<Document> = fixtures().map(document).collect();
    let page = render_all(&documents, Format::Html, Style::default()).unwrap();
    assert_sound(&page);
    assert_eq!(page.matches("<h2 id=\"report-").count(), fixtures().count());
    assert_eq!(page.matches("href=\"#report-").count(), fixtures().count());
    let refused = render_all(&documents, Format::Table, Style::default());
    assert!(matches!(refused, Err(RenderError::SeveralDocuments)));
}

/// A measurement of all clocks and the steps of three.
#[test]
fn a_usual_page_is_small() {
    let mut steps: Value = serde_json::from_str(&text_of("steps")).unwrap();
    let clocks = steps["clocks"].as_array_mut().unwrap();
    clocks.truncate(3);
    for clock in clocks.iter_mut() {
        // As many differences and bins as a run of a real clock has.
        let differences = (0..2000)
            .map(|index| json!({ "units": index + 20, "ns": f64::from(index) * 1.3 + 20.0, "count": 2000 - index }));
        clock["differences"] = differences.collect();
        let bins = (0..150).map(|index| {
            let edge = |index: i32| (f64::from(index) / 8.0).exp2();
            json!({ "from_ns": edge(index), "to_ns": edge(index + 1), "count": 1 + index * 991 % 7919 })
        });
        clock["histogram"] = bins.collect();
    }
    let mut measured: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    let clocks = measured["clocks"].as_array_mut().unwrap();
    for index in 0..30 {
        let mut clock = clocks[0].clone();
        clock["name"] = format!("clock_{index}").into();
        clocks.push(clock);
    }
    let documents = [measured, steps].map(|value| Document::from_json(&value.to_string()).unwrap());
    let page = render_all(&documents, Format::Html, Style::default()).unwrap();
    assert!(page.len() <= 300_000, "{} bytes", page.len());
}

/// Every text becomes this one, and every number as large as the record can hold, or another
/// extreme if they differ.
fn hostile(mut value: Value, text: &str, they_differ: bool) -> Document {
    let places = places(&value);
    let texts = places.iter().filter(|place| place.takes_text() && value.pointer(&place.pointer).unwrap().is_string());
    let texts: Vec<(String, Value)> = texts.map(|place| (place.pointer.clone(), text.into())).collect();
    replace(&mut value, &texts);
    let mut numbers: Vec<(&Place, Vec<Value>)> = Vec::new();
    for place in &places {
        let is_version = place.pointer == "/schema_version";
        if value.pointer(&place.pointer).unwrap().is_number() && !is_version {
            let mut extremes = place.extremes();
            let first = if they_differ { place.pointer.len() % extremes.len() } else { 0 };
            extremes.rotate_left(first);
            numbers.push((place, extremes));
        }
    }
    // Some numbers have narrower limits than their type: another extreme may be within them.
    while !numbers.is_empty() {
        let changes: Vec<(String, Value)> =
            numbers.iter().map(|(place, extremes)| (place.pointer.clone(), extremes[0].clone())).collect();
        let taken = replace(&mut value, &changes);
        numbers.retain(|(place, _)| !taken.contains(&place.pointer.as_str()));
        numbers.iter_mut().for_each(|(_, extremes)| drop(extremes.remove(0)));
        numbers.retain(|(_, extremes)| !extremes.is_empty());
    }
    Document::from_json(&value.to_string()).unwrap()
}

#[test]
fn hostile_records_are_rendered_safely() {
    let markup = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' &lt; \u{1b}]0;x\u{7} \u{202e} ]]> \u{ffff} {{x}} `";
    for fixture in fixtures() {
        let document = hostile(serde_json::from_str(&text_of(fixture)).unwrap(), markup, true);
        let page = rendered(&document, Format::Html);
        assert_sound(&page);
        assert_eq!(page.matches("<script").count(), 1, "{fixture}");
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"), "{fixture}: nothing of it is shown");
        match render(&document, Format::Svg, Style::default()) {
            Ok(image) => {
                assert_sound(&image);
                // XML has no place for them, escaped or not.
                assert!(!image.contains(|c: char| c.is_control() && c != '\n' || c == '\u{ffff}'), "{fixture}");
            }
            Err(error) => assert!(matches!(error, RenderError::NoChart), "{fixture}: {error}"),
        }
    }
}

/// Adds a second one to each list of one record.
fn add_second(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(add_second),
        Value::Array(entries) => {
            entries.iter_mut().for_each(add_second);
            if let [Value::Object(only)] = entries.as_slice() {
                entries.push(only.clone().into());
            }
        }
        _ => {}
    }
}

#[test]
fn sums_of_the_largest_numbers_overflow_in_no_format() {
    for fixture in fixtures() {
        let mut value = serde_json::from_str(&text_of(fixture)).unwrap();
        add_second(&mut value);
        let document = hostile(value, "x", false);
        for format in Format::ALL {
            assert!(!rendered(&document, format).is_empty(), "{fixture} {}", format.name());
        }
    }
}

#[test]
fn long_names_do_not_fill_charts() {
    let mut value: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    for clock in value["clocks"].as_array_mut().unwrap() {
        clock["name"] = "x".repeat(100_000).into();
    }
    let document = Document::from_json(&value.to_string()).unwrap();
    let image = rendered(&document, Format::Svg);
    assert!(image.len() < 20_000, "{}", image.len());
    assert_sound(&rendered(&document, Format::Html));
}

#[test]
fn ten_thousand_rows_are_cut_and_counted() {
    let mut value: Value = serde_json::from_str(&text_of("sleep")).unwrap();
    let row = value["rows"][0].clone();
    value["rows"] = Value::Array(vec![row; 10_000]);
    let page = rendered(&Document::from_json(&value.to_string()).unwrap(), Format::Html);
    assert_eq!(page.matches("and 8,000 more rows: --format json has all").count(), 2, "the table and the chart's");
    assert!(page.len() < 1_500_000, "{}", page.len());
    let mut value: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    let clock = value["clocks"][0].clone();
    value["clocks"] = Value::Array(vec![clock; 1200]);
    let image = rendered(&Document::from_json(&value.to_string()).unwrap(), Format::Svg);
    assert!(image.contains("and 1,050 more clocks in the table") && image.len() < 100_000, "{}", image.len());
}

/// Charts are found by their names, in a page of several documents, too.
#[test]
fn charts_are_called_by_their_names() {
    let page = rendered(&document("steps"), Format::Html);
    for (id, title) in
        [("chart-histogram_tsc", "Differences of tsc"), ("chart-ecdf", "Distribution of the differences")]
    {
        assert_eq!(page.matches(&format!("<figure id=\"{id}\"><figcaption><h2>{title}")).count(), 1, "{id}");
    }
    assert!(page.contains("aria-label=\"Chart: Differences of tsc\"") && !page.contains("Chart 1"));
    let twice = [document("healthy"), document("healthy")];
    let page = render_all(&twice, Format::Html, Style::default()).unwrap();
    assert_sound(&page);
    assert!(page.contains("<figure id=\"chart-cost\">") && page.contains("<figure id=\"chart-cost_2\">"));
}

/// A page of several reports shows each machine once, and each report says how it was recorded.
#[test]
fn reports_of_one_machine_share_its_facts() {
    let both = [document("healthy"), document("healthy"), document("broken")];
    let page = render_all(&both, Format::Html, Style::default()).unwrap();
    assert_eq!(page.matches("<summary>Machine of reports 1, 2: ").count(), 1, "{page}");
    assert_eq!(page.matches("<summary>Machine of report 3: ").count(), 1, "{page}");
    assert_eq!(page.matches("class=\"context recording\"").count(), 3);
    let one = render_all(&both[..2], Format::Html, Style::default()).unwrap();
    assert_eq!(one.matches("<summary>Machine: ").count(), 1);
}
