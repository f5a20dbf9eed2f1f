//! Tests of the file's reader.

use std::fmt::Write as _;

use super::parse;
use crate::config::error::ConfigPlace;
use crate::config::waivers::counting_on;

const WHOLE: &str = r#"
[fleet]
kubefleet = "v0.14.0"
members = 5

[contexts]
kubeconfig = "kube/fleet.yaml"
hub = "prod-hub"
members = { west = "aks-west", east = "aks-east" }

[run]
tags = "@drill"
features = "~/features"

[limits]
time-limit = 1_000

[[waivers]]
code = "KF-AP-004"
object = "ClusterResourcePlacement/web"
reason = " the team edits it by hand "
until = 2027-01-31

[[waivers]]
code = "KF-WS-001"
member = "east"
reason = "repaired with the next release"
until = 2027-02-28
"#;

#[test]
fn values_are_read_with_their_places() {
    let file = parse(WHOLE).unwrap();
    let mut told = String::new();
    for value in &file.values {
        let _ = writeln!(told, "{} {} = {}", value.place, value.setting.path(), value.values.join(" "));
    }
    for waiver in &file.waivers {
        let object = waiver.waiver.object.as_ref().map_or("-", |object| object.as_str());
        let member = waiver.waiver.member.as_ref().map_or("-", |member| member.as_str());
        let (code, reason, until) = (&waiver.waiver.code, &waiver.waiver.reason, waiver.waiver.until);
        let _ = writeln!(told, "{} {code} {object} {member} {until}: {reason}", waiver.place);
    }
    insta::assert_snapshot!(told, @"
    fleetdrill.toml:3:1 fleet.kubefleet = v0.14.0
    fleetdrill.toml:4:1 fleet.members = 5
    fleetdrill.toml:7:1 contexts.kubeconfig = /team/kube/fleet.yaml
    fleetdrill.toml:8:1 contexts.hub = prod-hub
    fleetdrill.toml:9:1 contexts.members = west=aks-west east=aks-east
    fleetdrill.toml:12:1 run.tags = @drill
    fleetdrill.toml:13:1 run.features = /me/features
    fleetdrill.toml:16:1 limits.time-limit = 1000
    fleetdrill.toml:18:1 KF-AP-004 ClusterResourcePlacement/web - 2027-01-31: the team edits it by hand
    fleetdrill.toml:24:1 KF-WS-001 - east 2027-02-28: repaired with the next release
    ");
}

#[test]
fn members_are_a_table_a_pattern_or_come_from_elsewhere() {
    let told = |text: &str| {
        let value = parse(&format!("[contexts]\n{text}\n")).unwrap().values.remove(0);
        format!("--{} {}", value.setting.option, value.values.join(" "))
    };
    for (text, expected) in [
        ("members = { east = 'aks-east' }", "--member east=aks-east"),
        ("members = 'aks-*'", "--members aks-*"),
        ("members-from = 'aks-{name}'", "--members-from aks-{name}"),
        ("members-from = 'clusterprofiles'", "--members-from clusterprofiles"),
        ("members-from = 'members.txt'", "--members-from /team/members.txt"),
        ("kubeconfig = '/etc/fleet.yaml'", "--kubeconfig /etc/fleet.yaml"),
        ("kubeconfig = '~/fleet.yaml'", "--kubeconfig /me/fleet.yaml"),
    ] {
        assert_eq!(told(text), expected);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let waiver = |lines: &str| format!("[[waivers]]\ncode = 'KF-AP-004'\nreason = 'x'\nuntil = 2027-01-31\n{lines}");
    let texts = [
        "[fleet]\nkubeflet = 'v0.14.0'".to_owned(),
        "[flet]".into(),
        "members = 3".into(),
        "fleet = 3".into(),
        "[fleet]\nmembers = 'x'".into(),
        "[contexts]\n  members = 3".into(),
        "[contexts]\nmembers = { east = 3 }".into(),
        "[contexts]\nhub = ''".into(),
        "[fleet]\nmembers = ".into(),
        "[fleet]\nmembers = 1\nmembers = 2".into(),
        "[waivers]\ncode = 'KF-AP-004'".into(),
        "[[waivers]]\ncode = 'KF-AP-004'\nuntil = 2027-01-31".into(),
        "\n[[waivers]]\ncode = 'KF-AP-004'\nreason = 'x'".into(),
        "[[waivers]]\nreason = 'x'".into(),
        "[[waivers]]\ncode = 'KF-AP-04'".into(),
        "[[waivers]]\nreason = '  '".into(),
        "[[waivers]]\nuntil = '2027-01-31'".into(),
        "[[waivers]]\nuntil = 2027-01-31T10:00:00Z".into(),
        waiver("object = 'web'"),
        waiver("object = 'Namespace/[a'"),
        waiver("objects = 'Namespace/a'"),
    ];
    let mut told = String::new();
    for text in texts {
        let error = parse(&text).unwrap_err();
        let hint = error.hint().map(|hint| format!("\n    hint: {hint}")).unwrap_or_default();
        let _ = writeln!(told, "{text}\n  {error}{hint}\n");
    }
    insta::assert_snapshot!(told);
}

#[test]
fn columns_are_counted_in_characters_and_lines_from_one() {
    let place = |text: &str| match parse(text).unwrap().values.remove(0).place {
        ConfigPlace::File { line, column, .. } => (line, column),
        ConfigPlace::Variable(name) => panic!("{name}"),
    };
    assert_eq!(place("fleet = { kubefleet = 'v1' }"), (1, 11));
    assert_eq!(place("# é\n[fleet]\r\n  kubefleet = 'v1'"), (3, 3));
    assert_eq!(place("fleet.kubefleet = 'v1'"), (1, 7));
}

#[test]
fn a_waiver_counts_until_its_last_day() {
    let file = parse(WHOLE).unwrap();
    let codes = |day: &str| -> Vec<String> {
        counting_on(&file.waivers, day.parse().unwrap()).into_iter().map(|waiver| waiver.code.0).collect()
    };
    assert_eq!(codes("2027-01-31"), ["KF-AP-004", "KF-WS-001"]);
    assert_eq!(codes("2027-02-01"), ["KF-WS-001"]);
    assert!(codes("2027-03-01").is_empty());
}
