//! Writes the JUnit XML that CI systems read: one test suite per feature, one test case per scenario.
//!
//! A failed scenario is a `failure`, an interrupted one an `error` (its result is unknown), one that was not run is
//! `skipped`. False alarms of the continuous diagnosis are a suite of their own, each an `error`. The text of a failure has everything that is needed to understand the failure without the run.
//!
//! The XML keeps to the schema that Jenkins' xUnit plugin validates with (`junit-10.xsd`). In that schema a test case
//! has neither properties nor a line number: file and line, codes and notes stand in its `system-out`.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use record::{FalseAlarm, Outcome, RecordedEvent, RunRecord, ScenarioRecord};

use super::{false_alarms, scenario, summary};
use crate::text::style::OutputLayout;
use crate::text::{clean_line, harmless};

/// Name of the test suite, and class name of the test cases, that false alarms are.
const FALSE_ALARMS: &str = "continuous diagnosis";

type XmlWriter = Writer<Vec<u8>>;

/// Number of scenarios per outcome, for the attributes of `testsuites` and `testsuite`.
#[derive(Clone, Copy, Debug, Default)]
struct CaseCounts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl CaseCounts {
    fn of<'a>(scenarios: impl IntoIterator<Item = &'a ScenarioRecord>) -> Self {
        let mut counts = Self::default();
        for record in scenarios {
            counts.tests += 1;
            match record.outcome {
                Outcome::Passed => {}
                Outcome::Failed => counts.failures += 1,
                Outcome::Interrupted => counts.errors += 1,
                Outcome::NotRun => counts.skipped += 1,
            }
        }
        counts
    }
}

/// Returns the report as XML.
pub(super) fn to_xml(run: &RunRecord) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut files: Vec<&str> = Vec::new();
    for record in &run.scenarios {
        if !files.contains(&record.file.as_str()) {
            files.push(&record.file);
        }
    }
    let mut counts = CaseCounts::of(&run.scenarios);
    counts.tests += run.false_alarms().len();
    counts.errors += run.false_alarms().len();
    let attributes = [
        ("name", "fleetdrill".to_owned()),
        ("tests", counts.tests.to_string()),
        ("failures", counts.failures.to_string()),
        ("errors", counts.errors.to_string()),
        ("time", seconds(run.seconds)),
    ];
    let suites = writer.create_element("testsuites").with_attributes(borrowed(&attributes));
    suites.write_inner_content(|writer| {
        for file in files {
            let scenarios: Vec<_> = run.scenarios.iter().filter(|record| record.file == file).collect();
            write_suite(writer, run, file, &scenarios)?;
        }
        write_false_alarms(writer, run)
    })?;
    let mut xml = String::from_utf8(writer.into_inner())?;
    xml.push('\n');
    Ok(xml)
}

fn write_suite(writer: &mut XmlWriter, run: &RunRecord, file: &str, scenarios: &[&ScenarioRecord]) -> io::Result<()> {
    let counts = CaseCounts::of(scenarios.iter().copied());
    let mut attributes = vec![
        ("name", clean_line(scenarios.first().map_or("", |record| &record.feature))),
        ("tests", counts.tests.to_string()),
        ("skipped", counts.skipped.to_string()),
        ("errors", counts.errors.to_string()),
        ("failures", counts.failures.to_string()),
        ("time", seconds(scenarios.iter().map(|record| record.seconds).sum())),
        ("file", clean_line(file)),
    ];
    if let Some(start) = scenarios.iter().map(|record| record.started_at).min() {
        attributes.push(("timestamp", format!("{start:.0}")));
    }
    let suite = writer.create_element("testsuite").with_attributes(borrowed(&attributes));
    suite.write_inner_content(|writer| {
        writer.create_element("properties").write_inner_content(|writer| {
            let own = [("run", &run.id), ("provider", &run.provider), ("fleetdrill", &run.fleetdrill)];
            let versions = run.versions.iter().map(|(component, version)| (component.as_str(), version));
            let repeated: Vec<String> = run.repeated_shards.iter().map(ToString::to_string).collect();
            let repeated = repeated.iter().map(|text| ("repeated-shard", text));
            let races = summary::worked_around(run);
            let races = races.iter().map(|text| ("worked-around", text));
            for (name, value) in own.into_iter().chain(versions).chain(repeated).chain(races) {
                let attributes = [("name", clean_line(name)), ("value", clean_line(value))];
                writer.create_element("property").with_attributes(borrowed(&attributes)).write_empty()?;
            }
            Ok(())
        })?;
        scenarios.iter().try_for_each(|record| write_case(writer, run, record))
    })?;
    Ok(())
}

/// Writes the false alarms of the continuous diagnosis, each as a test case with an error; nothing if there are none.
fn write_false_alarms(writer: &mut XmlWriter, run: &RunRecord) -> io::Result<()> {
    let alarms = run.false_alarms();
    if alarms.is_empty() {
        return Ok(());
    }
    let count = alarms.len().to_string();
    let attributes = [
        ("name", FALSE_ALARMS.to_owned()),
        ("tests", count.clone()),
        ("skipped", "0".to_owned()),
        ("errors", count),
        ("failures", "0".to_owned()),
        ("time", seconds(run.seconds)),
    ];
    let suite = writer.create_element("testsuite").with_attributes(borrowed(&attributes));
    suite.write_inner_content(|writer| {
        for alarm in alarms {
            let name = clean_line(&format!("{} {}", alarm.finding.code, alarm.finding.subject));
            let attributes = [("name", name), ("classname", FALSE_ALARMS.to_owned()), ("time", lasted(alarm))];
            let case = writer.create_element("testcase").with_attributes(borrowed(&attributes));
            case.write_inner_content(|writer| {
                let message = clean_line(&false_alarms::headline(alarm));
                let attributes = [("message", message.as_str()), ("type", "false alarm")];
                let story = format!("\n{}", harmless(&false_alarms::story(alarm, OutputLayout::default())));
                let element = writer.create_element("error").with_attributes(attributes);
                element.write_text_content(BytesText::new(&story))?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Returns the seconds from the first to the last snapshot with a false alarm.
fn lasted(alarm: &FalseAlarm) -> String {
    seconds(alarm.last_seen.duration_since(alarm.first_seen).as_secs_f64())
}

fn write_case(writer: &mut XmlWriter, run: &RunRecord, record: &ScenarioRecord) -> io::Result<()> {
    let attributes = [
        ("name", clean_line(&record.scenario)),
        ("classname", clean_line(&record.file)),
        ("time", seconds(record.seconds)),
    ];
    let case = writer.create_element("testcase").with_attributes(borrowed(&attributes));
    case.write_inner_content(|writer| {
        let message = clean_line(&scenario::headline(record));
        let ended = match record.outcome {
            Outcome::Passed => None,
            Outcome::NotRun => Some(("skipped", None)),
            Outcome::Failed => Some(("failure", Some("failed"))),
            Outcome::Interrupted => Some(("error", Some("interrupted"))),
        };
        match ended {
            None => {}
            Some((element, None)) => {
                writer.create_element(element).with_attribute(("message", message.as_str())).write_empty()?;
            }
            Some((element, Some(kind))) => {
                let story = format!("\n{}", harmless(&scenario::story(record, OutputLayout::default())));
                let attributes = [("message", message.as_str()), ("type", kind)];
                let element = writer.create_element(element).with_attributes(attributes);
                element.write_text_content(BytesText::new(&story))?;
            }
        }
        let about = about(run, record).join("\n");
        writer.create_element("system-out").write_text_content(BytesText::new(&about))?;
        Ok(())
    })?;
    Ok(())
}

/// Returns lines about a scenario: its file and line, its codes, and its differences from a real fleet.
fn about(run: &RunRecord, record: &ScenarioRecord) -> Vec<String> {
    let mut lines = vec![format!("{}:{}", clean_line(&record.file), record.line)];
    let codes: Vec<&str> = scenario::codes(record).collect();
    if !codes.is_empty() {
        lines.push(format!("codes: {}", clean_line(&codes.join(", "))));
    }
    for entry in &record.entries {
        match &entry.what {
            RecordedEvent::FastForwarded(action) => {
                lines.push(format!("fast-forward: {}", clean_line(&action.action)));
            }
            RecordedEvent::WorkedAround { action, .. } => {
                lines.push(format!("worked around: {}", clean_line(&action.action)));
            }
            _ => {}
        }
    }
    if scenario::pods_were_played(run, record) {
        lines.push("pods: simulated kubelet".to_owned());
    }
    if scenario::has_hollow_members(record) {
        lines.push("members: hollow".to_owned());
    }
    lines
}

/// Cleans a text for an attribute. XML readers turn line ends in attributes into spaces.
fn borrowed<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str()))
}

/// Formats a record's seconds with three decimals. A value that can't be a duration counts as 0.
fn seconds(seconds: f64) -> String {
    let seconds = if seconds.is_finite() && seconds >= 0.0 { seconds } else { 0.0 };
    format!("{seconds:.3}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use roxmltree::{Document, Node};

    use super::*;
    use crate::run::fixture;

    /// Rule for an element in the schema that Jenkins' xUnit plugin validates with.
    struct ElementRule {
        element: &'static str,
        required: &'static [&'static str],
        optional: &'static [&'static str],
        children: &'static [&'static str],
    }

    const RULES: [ElementRule; 9] = [
        ElementRule {
            element: "testsuites",
            required: &[],
            optional: &["name", "time", "tests", "failures", "errors"],
            children: &["testsuite"],
        },
        ElementRule {
            element: "testsuite",
            required: &["name", "tests", "failures", "errors"],
            optional: &[
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
                "version",
            ],
            children: &["testsuite", "properties", "testcase", "system-out", "system-err"],
        },
        ElementRule { element: "properties", required: &[], optional: &[], children: &["property"] },
        ElementRule { element: "property", required: &["name", "value"], optional: &[], children: &[] },
        ElementRule {
            element: "testcase",
            required: &["name"],
            optional: &["time", "classname", "group"],
            children: &["skipped", "error", "failure", "system-out", "system-err"],
        },
        ElementRule { element: "failure", required: &[], optional: &["type", "message"], children: &[] },
        ElementRule { element: "error", required: &[], optional: &["type", "message"], children: &[] },
        ElementRule { element: "skipped", required: &[], optional: &["type", "message"], children: &[] },
        ElementRule { element: "system-out", required: &[], optional: &[], children: &[] },
    ];

    /// True for times that match the schema's pattern, e.g. `84.375`.
    fn is_time(text: &str) -> bool {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.split_once('.').is_some_and(|(whole, rest)| digits(whole) && digits(rest) && rest.len() <= 3)
    }

    fn check_element(node: Node<'_, '_>) {
        let name = node.tag_name().name();
        let rule = RULES.iter().find(|rule| rule.element == name);
        let rule = rule.unwrap_or_else(|| panic!("<{name}> is no element of the schema"));
        for attribute in node.attributes() {
            let known = rule.required.iter().chain(rule.optional).any(|known| *known == attribute.name());
            assert!(known, "<{name}> may not have the attribute {}", attribute.name());
            if attribute.name() == "time" {
                assert!(is_time(attribute.value()), "<{name}> has the time {}", attribute.value());
            }
        }
        for required in rule.required {
            assert!(node.has_attribute(*required), "<{name}> needs the attribute {required}");
        }
        for child in node.children().filter(Node::is_element) {
            assert!(rule.children.contains(&child.tag_name().name()), "<{name}> may not have {child:?}");
            check_element(child);
        }
    }

    /// Checks the counts in the attributes against the number of elements.
    fn check_counts(node: Node<'_, '_>) {
        let count = |element: &str| node.descendants().filter(|node| node.has_tag_name(element)).count().to_string();
        for (attribute, element) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            let said = node.attribute(attribute);
            assert!(said.is_none_or(|said| said == count(element)), "{attribute} of {node:?} is {said:?}");
        }
        node.children().filter(|node| node.has_tag_name("testsuite")).for_each(check_counts);
    }

    fn check(xml: &str) {
        let document = Document::parse(xml).expect("well-formed");
        check_element(document.root_element());
        check_counts(document.root_element());
        let mut known = BTreeSet::new();
        for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
            let name = (case.attribute("classname"), case.attribute("name"));
            assert!(known.insert(name), "two test cases are {name:?}");
        }
    }

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(to_xml(&fixture::run()).unwrap());
    }

    #[test]
    fn keeps_to_the_schema_of_jenkins_xunit_plugin() {
        let mut run = fixture::run();
        run.scenarios[0].tags.push("pods".to_owned());
        run.seconds = 12_345.678_9;
        check(&to_xml(&run).unwrap());
        run.scenarios.clear();
        run.seconds = f64::NAN;
        check(&to_xml(&run).unwrap());
    }

    #[test]
    fn false_alarms_are_errors_of_a_suite_of_their_own() {
        let xml = to_xml(&fixture::run_with_false_alarms()).unwrap();
        check(&xml);
        let document = Document::parse(&xml).unwrap();
        let mut suites = document.descendants().filter(|node| node.has_tag_name("testsuite"));
        let suite = suites.next_back().unwrap();
        assert_eq!((suite.attribute("name"), suite.attribute("errors")), (Some(FALSE_ALARMS), Some("2")));
        let errors = suite.descendants().filter(|node| node.has_tag_name("error"));
        let messages: Vec<_> = errors.filter_map(|node| node.attribute("message")).collect();
        assert!(messages[0].starts_with("KF-WS-001 ") && messages[1].starts_with("KF-UR-007 "), "{messages:?}");
        assert!(xml.contains("fleetdrill diagnose --from report/bundles/run-7kq2-false-alarm-1.tar.gz"), "{xml}");
    }

    #[test]
    fn stays_xml_whatever_a_message_contains() {
        let mut run = fixture::run();
        let ugly = "bell \u{7} colour \u{1b}[31mred\u{1b}[0m nul \0 ]]> <a b='\"&amp;'> \u{ffff}\u{85} end";
        for (number, record) in run.scenarios.iter_mut().enumerate() {
            record.feature = ugly.to_owned();
            record.scenario = format!("{ugly}\n{number} {ugly}");
            record.reason = record.reason.as_ref().map(|_| ugly.to_owned());
            for entry in &mut record.entries {
                if let RecordedEvent::Failed { error } = &mut entry.what {
                    ugly.clone_into(error);
                }
            }
        }
        let xml = to_xml(&run).unwrap();
        assert!(!xml.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{ffff}'), "{xml}");
        check(&xml);
        let document = Document::parse(&xml).unwrap();
        let count = |element: &str| document.descendants().filter(|node| node.has_tag_name(element)).count();
        assert_eq!(count("testcase"), run.scenarios.len());
        assert_eq!((count("failure"), count("error"), count("skipped")), (1, 1, 2));
        assert!(xml.contains("colour red nul"), "{xml}");
        let case = document.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert!(case.attribute("name").unwrap().contains("]]> <a b='\"&amp;'>"), "{case:?}");
    }

    #[test]
    fn repeated_shards_are_properties() {
        let mut run = fixture::run();
        let end = record::PodEnd::Evicted { message: "low on memory".to_owned() };
        run.repeated_shards = vec![record::RepeatedShard { shard: 2, pod: "drill-1-x".to_owned(), end }];
        let xml = to_xml(&run).unwrap();
        let document = Document::parse(&xml).unwrap();
        let properties = document.descendants().filter(|node| node.attribute("name") == Some("repeated-shard"));
        let values: BTreeSet<_> = properties.filter_map(|node| node.attribute("value")).collect();
        assert_eq!(values, BTreeSet::from(["shard 2, because Pod drill-1-x was evicted: low on memory"]));
    }
}
