//! docs/guides.md, generated from the guides' statements, the scenarios' tags and the measured results.
//!
//! `make docs` writes the page (`UPDATE_EXPECT=1`). Without this variable the test compares the page.

use std::fmt::Write as _;

use expect_test::expect_file;
use fleetdrill::guides::coverage::ScenariosByStatement;
use fleetdrill::guides::{GuideCoverage, MeasuredResults, guides};
use fleetdrill::output::drift;
use fleetdrill::selection::ScenarioSelection;
use fleetdrill::suite::Suite;
use record::Product;

const INTRODUCTION: &str = "\
# The guides, statement by statement

The troubleshooting guides of KubeFleet and of Argo CD, and Argo CD's own documents, say what failures look like. fleetdrill has
every statement of them on failures that can be checked in [guides/](../guides): each condition of each example with its text, each way to look, each delay and each
remedy. Scenarios name the statements that they show; on every run each is compared with what the real controllers wrote.

```sh
fleetdrill guides                                  # how many statements of each guide hold, differ, are unreached
fleetdrill guides work-synchronized                # one guide with all its statements; --all: all guides
fleetdrill guides -o markdown                      # what differs, ready for the guides' authors
fleetdrill run --json run.json
fleetdrill guides --from run.json                  # what this run has shown, e.g. of another version
```

A statement *holds*, or it *differs*: then the text that the controllers wrote instead is kept, with `{placement}`,
`{member}`, `{number}` for the names in it. One that no scenario reaches makes `fleetdrill guides` end with 1.

## How it is checked

`guides/GUIDE.yaml` has the statements. One about a condition has its object, type, status, reason and message as in the
guide's example; names of the example stand in holes (`in stage {stage=staging}`) and may be others, and `{...}` is what the
guide itself leaves out. It holds when a scenario that names it has seen such a transition. When only another reason or message of
that condition was seen, it differs, and the text that is nearest to the guide's is kept. When nothing of it was seen, the
scenario fails: it names what it doesn't show. Any other statement (`says`, `check`) is a behaviour: the steps of the scenario that
names it assert it.

Of an Argo CD Application `sync`, `health` and `operation` count as conditions, with the phase as their status, and so does the
`result` of each resource of its last sync, with its hookPhase as the reason. Its own conditions have no status: one that is there
counts as True.

`guides/measured/VERSION.yaml` has what was measured on a version of KubeFleet, `guides/measured/argocd-VERSION.yaml` on one of
Argo CD. When a later run of that version sees something else, the scenario fails with both texts. The files are never written by
hand:

```sh
fleetdrill run --kubefleet v0.1.2 --json run.json
fleetdrill guides --from run.json -o measured > guides/measured/v0.1.2.yaml
fleetdrill guides argocd-sync-failed --from run.json -o measured > guides/measured/argocd-v3.2.11.yaml
```

How a scenario names statements: [writing-features.md](writing-features.md#the-guides-statements).

## Coverage
";

const END: &str = "\n<!-- Written from guides/ and features/ by `make docs`. Change the texts there. -->\n";

#[test]
fn docs_guides_md_is_what_was_measured() {
    let coverage = coverage();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| guide | version | holds | differs | unreached | doesn't apply |\n|---|---|---|---|---|---|\n");
    for guide in &coverage {
        for (version, c) in guide.counts() {
            let (name, title, url, product) = (&guide.name, &guide.title, &guide.url, guide.product.name());
            let _ = writeln!(
                page,
                "| `{name}`, [{title}]({url}) | {product} {version} | {} | {} | {} | {} |",
                c.hold, c.differ, c.unreached, c.do_not_apply
            );
        }
    }
    page.push_str("\n## What differs\n\nThe command below each difference provokes it again.\n");
    page.push_str(&drift::differences(&coverage, 3));
    page.push_str(END);
    expect_file!["../../../docs/guides.md"].assert_eq(&page);
}

/// Versions on which every guide was measured. On v0.14.0, guides of which a statement is unreached aren't in its file.
const MEASURED_WHOLE: [&str; 2] = ["v0.1.2", "v0.3.1"];

#[test]
fn no_statement_about_argo_cd_is_unreached() {
    for guide in coverage().iter().filter(|guide| guide.product == Product::ArgoCd) {
        assert!(
            guide.unreached.is_empty(),
            "{}: {:?}: each needs a scenario, and a run of each version",
            guide.name,
            guide.unreached
        );
    }
}

#[test]
fn no_statement_about_kubefleet_is_unreached() {
    for guide in coverage().iter().filter(|guide| guide.product == Product::KubeFleet) {
        for (version, counts) in guide.counts() {
            if !MEASURED_WHOLE.contains(&version) && counts.hold + counts.differ == 0 {
                continue;
            }
            let why = "each needs a scenario that names it, and a run that measures it";
            assert_eq!(counts.unreached, 0, "{} on {version}, of {:?}: {why}", guide.name, guide.unreached);
        }
    }
}

fn coverage() -> Vec<GuideCoverage> {
    let suite = Suite::load(&ScenarioSelection::default()).expect("usable features");
    let showers = ScenariosByStatement::of_suite(&suite).expect("tags that name statements");
    let measured = MeasuredResults::all();
    guides().iter().map(|guide| GuideCoverage::of(guide, &measured, &showers)).collect()
}
