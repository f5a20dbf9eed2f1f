//! Drills before they are run.

use serde::Serialize;

use super::drill::ScenarioPlace;
use crate::text::TextPage;
use crate::text::style::{BOLD, ERROR, SUCCESS};

/// Plan of a drill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrillPlan {
    /// Number of the drill, counted from 1.
    pub number: u32,
    /// Scenarios whose faults are induced.
    pub faults: Vec<PlannedScenario>,
    /// Healthy scenarios beside them.
    pub healthy: Vec<PlannedScenario>,
}

/// Scenario of a drill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedScenario {
    /// The scenario.
    pub scenario: ScenarioPlace,
    /// Failure codes that name its fault; empty for healthy traffic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    /// Seconds from the start of the drill to its first step.
    pub offset: f64,
}

/// Writes drills for people: one line for each scenario.
#[must_use]
pub fn plan_text(seed: u64, drills: &[DrillPlan], width: usize) -> String {
    let mut page = TextPage::new(width);
    for drill in drills {
        page.item(&format!("drill {} ", drill.number), BOLD, 2, &format!("of seed {seed}"));
        page.indented(2, |page| {
            let faults = drill.faults.iter().map(|fault| ("fault   ", ERROR, fault));
            let healthy = drill.healthy.iter().map(|healthy| ("healthy ", SUCCESS, healthy));
            for (label, style, planned) in faults.chain(healthy) {
                let PlannedScenario { scenario, codes, offset } = planned;
                let codes = if codes.is_empty() { String::new() } else { format!("{}, ", codes.join(", ")) };
                let text =
                    format!("{codes}after {offset:.1} s: {} ({}:{})", scenario.name, scenario.file, scenario.line);
                page.item(label, style, 8, &text);
            }
        });
    }
    page.finish()
}
