//! scratch
use fleetdrill::upgrade::{baseline::Baseline, html, record::*, report::Report, text};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let read = |p: &str| std::fs::read_to_string(p).unwrap();
    let record: UpgradeRecord = match args[1].as_str() {
        "runs" => {
            let a: steps::record::RunRecord = serde_json::from_str(&read(&args[2])).unwrap();
            let b: steps::record::RunRecord = serde_json::from_str(&read(&args[3])).unwrap();
            let forth = Passage {
                id: "x".into(),
                from: "a".into(),
                to: "b".into(),
                phases: vec![],
                error: None,
                scenarios: vec![],
            };
            UpgradeRecord {
                fleetdrill: "0".into(),
                from: a.versions[0].1.clone(),
                to: b.versions[0].1.clone(),
                started_at: a.started_at,
                seconds: 1.0,
                before: a,
                orders: vec![OrderRecord { order: fleet::upgrade::Order::HubFirst, forth, after: Some(b), back: None }],
            }
        }
        p => serde_json::from_str(&read(p)).unwrap(),
    };
    let report = Report::of(&record, &Baseline::default());
    if let Ok(p) = std::env::var("HTML") {
        std::fs::write(p, html::render(&record, &report).unwrap()).unwrap();
    }
    print!("{}", text::render(&report, fleetdrill::output::style::Look::default()));
}
