use serde_json::{Value, json};

use super::shapes::{application, failing, fleet, object, refused};
use crate::shapes::{found, with};

const MESSAGE: &str =
    r#"Service "api" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set"#;

fn to(destination: Value) -> Value {
    with(failing("web", refused("Service", "api", MESSAGE)), "/spec/destination", destination)
}

#[test]
fn a_member_is_found_by_its_name_by_its_address_or_by_what_is_there() {
    let on_member = ["AR-SF-002 Application/argocd/web (member-1)"];
    assert_eq!(found(&fleet(vec![to(json!({"name": "member-1"}))], vec![])), on_member);
    let by_address = to(json!({"server": "https://10.0.0.7:6443/"}));
    let unknown = fleet(vec![by_address.clone()], vec![]);
    assert_eq!(found(&unknown), ["AR-SF-002 Application/argocd/web"]);
    let mut known = unknown.clone();
    known.clusters[1].server = Some("https://10.0.0.7:6443".into());
    assert_eq!(found(&known), on_member);
    let tracked = |owner: &str| {
        let id = json!({"argocd.argoproj.io/tracking-id": format!("{owner}:/Service:web/api")});
        with(object("v1", "Service", Some("web"), "api"), "/metadata/annotations", id)
    };
    for (owner, expected) in
        [("web", &on_member[..]), ("argocd_web", &on_member), ("api", &["AR-SF-002 Application/argocd/web"])]
    {
        assert_eq!(found(&fleet(vec![by_address.clone()], vec![tracked(owner)])), expected, "{owner}");
    }
}

#[test]
fn argo_cds_own_cluster_is_the_hub() {
    for destination in [json!({"name": "in-cluster"}), json!({"server": "https://kubernetes.default.svc"})] {
        let snapshot = fleet(vec![to(destination)], vec![]);
        assert!(diagnosis::hub_is_destination(&snapshot));
        let command = &diagnosis::diagnose(&snapshot)[0].remedies[0].commands[0];
        assert!(command.starts_with("kubectl --context hub get"), "{command}");
    }
    assert!(!diagnosis::hub_is_destination(&fleet(vec![application("web")], vec![])));
}
