//! Tests of Argo CD findings as JSON.

use crate::output::assert_as_published;

use super::shapes::{failing, fleet, refused};

#[test]
fn a_finding_as_json() {
    let message =
        r#"Service "api" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set"#;
    let findings = diagnosis::diagnose(&fleet(vec![failing("web", refused("Service", "api", message))], vec![]));
    insta::assert_json_snapshot!(findings);
    assert_as_published(&findings);
}
