//! A trial: a fault is induced, lasts, is diagnosed, and the commands of its remedies are pasted into a shell.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cucumber::step::Collection;
use diagnosis::{Finding, Remedy};
use fleet::Fleet;
use fleetdrill::accuracy::FaultCase;
use fleetdrill::train::solution::ShellSetup;
use fleetdrill::train::step_runner;
use gherkin::{Step, StepType};
use steps::{AssertedDiagnosis, Deadline, ExpectedFinding, Recorder, ScenarioContext, ScenarioInfo, World};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::looks::{self, Look, Looks};
use crate::outcome::{Outcome, RemedyResult};
use crate::table::{self, CodeRow, RemedyRow};

/// Time that the diagnosis has to name the fault, after the steps that induce it.
const DIAGNOSED: Duration = Duration::from_secs(60);

/// Longest interval between two attempts of a controller.
const LONGEST_BACKOFF: Duration = Duration::from_secs(16 * 60);

/// Time beyond the promised one after which a remedy counts as one that doesn't help.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time limit of a command.
const COMMAND: Duration = Duration::from_secs(120);

/// Time for which everything has to stay well.
const SETTLING: Duration = Duration::from_secs(5);

/// Editor for `kubectl edit`: applies the change of the variable `EDIT` to the file.
const EDITOR: &str = r#"#!/bin/sh
set -e
case "$EDIT" in
  \[*) type=json ;;
  *) type=merge ;;
esac
kubectl patch --local -f "$1" --type=$type -p "$EDIT" -o yaml > "$1.edited"
mv "$1.edited" "$1"
"#;

/// What all trials share.
pub struct TrialFleet<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// Id of the run.
    pub run: &'a str,
    /// Environment of the commands.
    pub shell: ShellSetup,
    /// Directory for files of the trials.
    pub dir: PathBuf,
    /// Time that a fault lasts before its remedy is run.
    pub age: Duration,
    /// Definitions of the steps.
    pub vocabulary: &'a Collection<World>,
    /// Permits for trials that run steps or commands.
    pub busy: Semaphore,
    /// Permits for trials with a member of their own, from its start to its end.
    pub members: Semaphore,
    /// Looks at the fleet.
    pub looks: Looks,
}

/// A fault with the remedies that are tried on it: those that only read, and at most one that repairs.
pub struct Trial<'a> {
    /// Failure code.
    pub code: &'a str,
    /// Row of the code.
    pub row: &'a CodeRow,
    /// The fault.
    pub fault: &'a FaultCase,
    /// Steps after the fault's.
    pub more: &'a str,
    /// Indices of the remedies.
    pub remedies: Vec<usize>,
}

/// A trial whose fault has been induced.
struct Induced<'a> {
    world: World,
    /// Permit to go on at once, for a remedy that is run right after the fault.
    busy: Option<SemaphorePermit<'a>>,
    recorder: Recorder,
    suffix: String,
    expected: ExpectedFinding,
    asserted: AssertedDiagnosis,
    since: Instant,
}

impl TrialFleet<'_> {
    /// Creates the editor's file.
    pub fn write_editor(&self) {
        std::fs::write(self.dir.join("editor"), EDITOR).expect("the editor is written");
    }

    /// Runs a trial and cleans up after it. `number` is unique among the trials.
    pub async fn run(&self, trial: &Trial<'_>, number: usize) -> Vec<RemedyResult> {
        let member = if trial.fault.joins_member { Some(self.members.acquire().await.expect("open")) } else { None };
        let results = match self.induce(trial, number).await {
            Ok(mut induced) => {
                tokio::time::sleep(self.age.saturating_sub(induced.since.elapsed())).await;
                let mut results = Vec::new();
                for remedy in &trial.remedies {
                    results.push(self.tried(trial, &mut induced, *remedy).await);
                }
                clean_up(&mut induced.world).await;
                results
            }
            Err(why) => {
                trial.remedies.iter().map(|n| result(trial, *n, Outcome::NotInduced { why: why.clone() })).collect()
            }
        };
        drop(member);
        for result in &results {
            println!("{}", result.line());
        }
        results
    }

    async fn induce(&self, trial: &Trial<'_>, number: usize) -> Result<Induced<'_>, String> {
        let busy = self.busy.acquire().await.expect("open");
        let suffix = suffix(self.run, number);
        let recorder = Recorder::default();
        let info = ScenarioInfo {
            run: self.run.to_owned(),
            suffix: suffix.clone(),
            real_time: false,
            deadline: Deadline::after(self.age * 4 + Duration::from_secs(3600)),
            progress: step_runner::silent(),
            upgrade: None,
        };
        let mut world = World::default();
        world.enter(ScenarioContext::new(self.fleet.clone(), info, recorder.clone()).await);
        let induced = async {
            let mut steps = trial.fault.steps.clone();
            steps.extend(table::steps(trial.more));
            // The fault begins with the first step that isn't a precondition; controllers' intervals grow from then on.
            let given = steps.iter().take_while(|step| step.ty == StepType::Given).count();
            self.steps(&mut world, &steps[..given], &recorder).await?;
            let since = Instant::now();
            self.steps(&mut world, &steps[given..], &recorder).await?;
            let diagnoses = &trial.fault.diagnoses;
            let with_code = diagnoses.iter().find(|asserted| asserted.code == trial.code);
            let asserted = with_code.or_else(|| diagnoses.iter().find(|asserted| asserted.root() == Some(trial.code)));
            let asserted = asserted.ok_or("the scenario doesn't have the code")?.clone();
            let expected = asserted.resolve(world.context()).map_err(|error| error.to_string())?;
            let limit = asserted.within.unwrap_or_default().max(DIAGNOSED);
            let printed = |look: &Look| remedies(look, &suffix, trial.code, &expected);
            looks::until(self.looks.clone(), Instant::now(), limit, printed).await?;
            Ok::<_, String>((asserted, expected, since))
        };
        match induced.await {
            Ok((asserted, expected, since)) => {
                let busy = self.age.is_zero().then_some(busy);
                Ok(Induced { world, busy, recorder, suffix, expected, asserted, since })
            }
            Err(why) => {
                clean_up(&mut world).await;
                Err(why)
            }
        }
    }

    async fn steps(&self, world: &mut World, steps: &[Step], recorder: &Recorder) -> Result<(), String> {
        let ran = step_runner::run(world, steps, self.vocabulary, recorder).await;
        ran.map_err(|failed| format!("{}: {}", failed.step, failed.first_line()))
    }

    /// Tries a remedy on an induced fault.
    async fn tried(&self, trial: &Trial<'_>, induced: &mut Induced<'_>, index: usize) -> RemedyResult {
        let remedy = &trial.row.remedies[index];
        let outcome = match self.outcome(trial, remedy, index, induced).await {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Fails { why },
        };
        result(trial, index, outcome)
    }

    async fn outcome(
        &self,
        trial: &Trial<'_>,
        row: &RemedyRow,
        index: usize,
        induced: &mut Induced<'_>,
    ) -> Result<Outcome, String> {
        let busy = match induced.busy.take() {
            Some(busy) => busy,
            None => self.busy.acquire().await.expect("open"),
        };
        let (suffix, expected) = (induced.suffix.clone(), induced.expected.clone());
        let seen = looks::until(self.looks.clone(), Instant::now(), DIAGNOSED, |look| {
            remedies(look, &suffix, trial.code, &expected)
        });
        let is_notice = diagnosis::entry(trial.code).is_some_and(|entry| entry.severity == diagnosis::Severity::Notice);
        let well = |look: &Look| is_well(look, &suffix, &expected, row, is_notice);
        let (printed, _) = match seen.await {
            Ok(printed) => printed,
            Err(_) if row.passes && !self.age.is_zero() => {
                looks::until(self.looks.clone(), Instant::now(), DIAGNOSED, well).await?;
                return Ok(Outcome::Passed);
            }
            Err(why) => return Err(format!("the finding isn't there any more: {why}")),
        };
        let number = row.printed.unwrap_or(index + 1);
        let printed = printed.get(number - 1).ok_or_else(|| format!("the finding has no remedy {number}"))?;
        // A person reads what is printed, and then does what it asks for.
        self.steps(&mut induced.world, &table::steps(&row.first), &induced.recorder).await?;
        let lasted = induced.since.elapsed();
        let begun = Instant::now();
        self.paste(printed, row, induced).await?;
        if row.looks_only {
            return Ok(Outcome::Reads);
        }
        let then = row.then_if_old.as_ref().filter(|_| !self.age.is_zero()).unwrap_or(&row.then);
        self.steps(&mut induced.world, &table::steps(then), &induced.recorder).await?;
        drop(busy);
        let promised = promised(row, lasted);
        let limit = promised + PATIENCE;
        let (mut after, mut left) = (Instant::now(), limit);
        // Nothing found in one look may be a moment between two states.
        let recovered = loop {
            let seen = looks::until(self.looks.clone(), after, left, well).await;
            let ((), at) = match seen {
                Ok(seen) => seen,
                Err(why) => return Ok(Outcome::DoesNotHelp { promised, limit, why }),
            };
            tokio::time::sleep(SETTLING).await;
            let after_it = Instant::now();
            let again = looks::until(self.looks.clone(), after_it, limit, |look| Ok(well(look).is_ok())).await;
            if again.is_ok_and(|(is_well, _)| is_well) {
                break at;
            }
            after = Instant::now();
            left = limit.saturating_sub(begun.elapsed());
        };
        let measured = recovered.saturating_duration_since(begun);
        let fresh = fresh_steps(trial, row, &induced.asserted);
        let _busy = self.busy.acquire().await.expect("open");
        self.steps(&mut induced.world, &table::steps(&fresh), &induced.recorder)
            .await
            .map_err(|why| format!("well after {:.0} s, but a fresh change fails: {why}", measured.as_secs_f64()))?;
        Ok(if measured <= promised {
            Outcome::Holds { promised, measured }
        } else {
            Outcome::Late { promised, measured }
        })
    }

    /// Runs the commands of a remedy in a shell each, and stops at the first that fails.
    async fn paste(&self, remedy: &Remedy, row: &RemedyRow, induced: &mut Induced<'_>) -> Result<(), String> {
        let saved = induced.world.context().save().map_err(|error| error.to_string())?;
        let mut edits = row.edits.iter();
        for command in &remedy.commands {
            let line = row
                .values
                .iter()
                .fold(command.clone(), |line, (word, value)| line.replace(&saved.fill(word), &saved.fill(value)));
            let edit = if line.contains(" edit ") {
                saved.fill(edits.next().ok_or_else(|| format!("`{line}` has no change in the table"))?)
            } else {
                String::new()
            };
            self.shell(&line, &edit).await?;
        }
        Ok(())
    }

    async fn shell(&self, line: &str, edit: &str) -> Result<(), String> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let programs = self.shell.program_dirs.iter().cloned();
        let path = std::env::join_paths(programs.chain(std::env::split_paths(&inherited)));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .env("PATH", path.expect("a PATH"))
            .env("KUBECONFIG", &self.shell.kubeconfig)
            .envs(self.shell.argocd_config.as_ref().map(|dir| ("ARGOCD_CONFIG_DIR", dir)))
            .env("KUBE_EDITOR", format!("sh {}", self.dir.join("editor").display()))
            .env("EDIT", edit)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = tokio::time::timeout(COMMAND, shell.output()).await;
        let ended = ended.map_err(|_| format!("`{line}` doesn't end"))?.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr);
        if ended.status.success() { Ok(()) } else { Err(format!("`{line}`: {}: {}", ended.status, said.trim())) }
    }
}

/// Unique end of the names of a trial's objects.
fn suffix(run: &str, number: usize) -> String {
    let digit = |n: usize| char::from_digit(u32::try_from(n % 36).unwrap_or(0), 36).unwrap_or('0');
    format!("{run}{}{}", digit(number / 36), digit(number))
}

/// Returns the remedies that a look prints for a code: of the expected finding, or of its root.
fn remedies(look: &Look, suffix: &str, code: &str, expected: &ExpectedFinding) -> Result<Vec<Remedy>, String> {
    let of_trial = look.of(suffix);
    let is_expected = |finding: &&Finding| finding.flatten().any(|finding| expected.is(finding));
    let found = of_trial.into_iter().filter(is_expected).find(|finding| finding.code.0 == code);
    found.map(|finding| finding.remedies.clone()).ok_or_else(|| format!("no {expected}, but {}", codes(look, suffix)))
}

/// Codes of the findings about a trial's objects.
fn codes(look: &Look, suffix: &str) -> String {
    let codes: Vec<String> =
        look.of(suffix).iter().map(|finding| format!("{} {}", finding.code, finding.subject)).collect();
    if codes.is_empty() { "nothing".into() } else { codes.join(", ") }
}

/// Checks that neither the finding nor another failure is left. A failure may become a notice, such as a run that another has
/// superseded.
fn is_well(
    look: &Look,
    suffix: &str,
    expected: &ExpectedFinding,
    row: &RemedyRow,
    is_notice: bool,
) -> Result<(), String> {
    let stays = |code: &str| row.stays.iter().any(|stays| stays == code);
    let is_left = |f: &Finding| {
        let is_bad = f.severity.is_failure() || (is_notice && expected.is(f));
        is_bad && !stays(&f.code.0)
    };
    if look.of(suffix).into_iter().any(is_left) {
        return Err(codes(look, suffix));
    }
    // A run that waits for an approval waits without an end.
    let waits = look.of(suffix).iter().any(|finding| finding.code.0 == "KF-UR-040");
    match look.on_their_way(suffix).first() {
        Some(state) if !waits && row.stays.is_empty() => {
            let waits_for = state.waits_for.as_ref().map(|evidence| format!(": {} {}", evidence.path, evidence.value));
            Err(format!("{} is on its way{}", state.subject, waits_for.unwrap_or_default()))
        }
        _ => Ok(()),
    }
}

/// Time in which a remedy promises the recovery, of a fault that has lasted for some time.
fn promised(row: &RemedyRow, lasted: Duration) -> Duration {
    let within = Duration::from_secs_f64(row.within.unwrap_or_default());
    within + lasted.min(LONGEST_BACKOFF) * row.backoff
}

/// Fresh change of an application: a commit with one more object.
const FRESH_COMMIT: &str = r#"When repository "web" also has "fresh.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: fresh
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And "ConfigMap/fresh" is on "MEMBER"
    And application "web" is Synced and Healthy"#;

/// Returns the steps of the fresh change: the table's; without them, a commit of the application or a change to the placement
/// that the finding is about.
fn fresh_steps(trial: &Trial<'_>, row: &RemedyRow, asserted: &AssertedDiagnosis) -> String {
    if let Some(fresh) = row.fresh.as_ref().or(trial.row.fresh.as_ref()) {
        return fresh.clone();
    }
    if trial.code.starts_with(crate::ARGOCD_FAMILIES) {
        let member = trial.row.members.as_deref().unwrap_or("member-1");
        return FRESH_COMMIT.replace("MEMBER", member);
    }
    if trial.row.members.is_none() && !trial.code.starts_with("KF-UR") {
        let member = asserted.member.as_deref().unwrap_or("member-1");
        return format!("Then a change to the resources of placement \"web\" arrives on \"{member}\"");
    }
    let members = trial.row.members.as_deref().unwrap_or("member-1");
    let first = members.split(',').next().unwrap_or_default();
    format!(
        "Given a staged update strategy \"fresh\" for placement \"web\"
      | stage | members   |
      | fresh | {members} |
    When the resources of placement \"web\" change
    And an update run \"fresh\" of placement \"web\" starts with strategy \"fresh\"
    Then update run \"fresh\" succeeds
    And the resources of placement \"web\" are on \"{first}\""
    )
}

fn result(trial: &Trial<'_>, index: usize, outcome: Outcome) -> RemedyResult {
    RemedyResult { code: trial.code.to_owned(), number: index + 1, outcome }
}

async fn clean_up(world: &mut World) {
    if let Some(mut context) = world.leave() {
        context.cleanup(true).await.delete().await;
    }
}
