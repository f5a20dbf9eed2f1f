//! Text about a scenario that has failed and is paused: why it failed, and how to look at what it has made.

use std::path::Path;

use owo_colors::OwoColorize;
use record::ScenarioRecord;

use super::scenario;
use crate::text::TextPage;
use crate::text::style::{BOLD, OutputLayout};

/// Returns the text, with colours.
pub(super) fn text(record: &ScenarioRecord, kubeconfig: &Path, suffix: &str, look: OutputLayout) -> String {
    let kubeconfig = kubeconfig.display();
    let mut page = TextPage::new(look.width);
    page.styled(scenario::line(record, look).trim_end());
    page.indented(2, |page| {
        page.text(&format!("{}:{}", record.file, record.line));
        page.text(&scenario::headline(record));
        page.text(&format!("The names of its objects end with -{suffix}. To look at them:"));
        page.indented(2, |page| {
            page.unwrapped(&format!("kubectl --kubeconfig {kubeconfig} --context hub get crp"));
            page.unwrapped(&format!("fleetdrill diagnose --kubeconfig {kubeconfig} --hub hub"));
        });
        page.styled(&"paused: press Enter to clean up and go on, Ctrl-C to end the run".style(BOLD).to_string());
    });
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    #[test]
    fn a_paused_scenario_says_why_it_failed_and_how_to_look() {
        let run = fixture::run();
        let failed = run.scenarios.iter().find(|record| record.outcome == record::Outcome::Failed).expect("one failed");
        let kubeconfig = Path::new("/run/user/1000/fleetdrill/run-abcd/kubeconfig");
        let text = text(failed, kubeconfig, "abcd3", OutputLayout::default());
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
