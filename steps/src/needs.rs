//! Needs of a step, as its function declares them in `#[needs(...)]`.
//!
//! cucumber finds the function that a step's text matches and knows it by file and line. Nobody else reads the text: an expression can
//! be reworded without a change elsewhere.

use std::collections::BTreeSet;
use std::time::Duration;

pub use clusters::ability::ProviderAbility;
use cucumber::gherkin::Step;
use cucumber::step::Location;
pub use fleet::capability::Capability;
use record::Product;
pub(crate) use steps_macros::needs;

use crate::expected_finding::AssertedDiagnosis;
use crate::params::{CodeParam, NewPlacement};
use crate::step_match::step_match;

/// Needs of a step as it stands in a feature, with its parameters and table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepNeeds {
    /// Ability that the fleet's provider must have.
    pub ability: Option<ProviderAbility>,
    /// Capabilities of KubeFleet without which the step's objects can't be made.
    pub capabilities: BTreeSet<Capability>,
    /// Time that the step waits for a controller's threshold with `--real-time`, about.
    pub waits_out: Option<Duration>,
    /// Time that the step lets pass whatever it observes, because nothing that can be observed tells the end. Zero for most steps.
    pub settles: Duration,
    /// Role of the step in its scenario; none for most steps.
    pub role: Option<StepRole>,
    /// Failure codes in the diagnosis that the step asserts, in the order of the step's text.
    pub codes: Vec<String>,
    /// Diagnosis that the step asserts; none for all other steps.
    pub diagnosis: Option<AssertedDiagnosis>,
    /// Table that the step takes.
    pub table: Option<TableShape>,
    /// True if the step names a placement or run that a later step makes.
    pub names_ahead: bool,
    /// Scope of the placement that the step makes, or that an Application has made and the step takes up.
    pub placement_scope: Option<NewPlacement>,
}

/// Role of a step in its scenario, where others must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRole {
    /// Asserts the diagnosis of a failure.
    AssertsDiagnosis,
    /// Asserts that the diagnosis finds nothing.
    AssertsNoFindings,
    /// Changes a placement's resources, as a proof that the whole path works.
    ChangesResources,
    /// Waits for the end of an upgrade of this product.
    Upgrades(Product),
    /// Leaves the shared fleet for a fleet of the scenario's own.
    LeavesSharedFleet,
}

/// Table that a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Plural noun for the rows.
    pub rows: &'static str,
    /// Columns that the table may have.
    pub columns: &'static [&'static str],
    /// True if the step can do without a table.
    pub optional: bool,
}

/// Text of a step with the parameters that its expression took out of it.
#[derive(Debug)]
pub struct StepCall<'a> {
    /// The step.
    pub step: &'a Step,
    /// Texts of the parameters, in their order; without the quotes of a `{string}`.
    pub parameters: Vec<String>,
}

impl StepCall<'_> {
    fn codes(&self) -> Vec<String> {
        let words = self.parameters.iter().filter(|text| !text.contains('"')).flat_map(|text| text.split(' '));
        words.filter_map(|word| word.parse().ok()).map(|CodeParam(code)| code).collect()
    }

    /// Returns the first parameter that is a `T`.
    pub(crate) fn parameter<T: std::str::FromStr>(&self) -> Option<T> {
        self.parameters.iter().find_map(|text| text.parse().ok())
    }
}

/// Needs of a step function, whatever its parameters: the fields of `#[needs(...)]`.
#[derive(Clone, Copy)]
pub(crate) struct NeedsDeclaration {
    pub ability: fn(&StepCall<'_>) -> Option<ProviderAbility>,
    pub capability: fn(&StepCall<'_>) -> Option<Capability>,
    pub waits_out: Option<Duration>,
    pub settles: Duration,
    pub role: Option<StepRole>,
    pub table: fn(&StepCall<'_>) -> Option<TableShape>,
    pub names_ahead: bool,
    /// Scope of the new placement. A namespaced one needs [`Capability::NamespacedPlacements`].
    pub placement_scope: fn(&StepCall<'_>) -> Option<NewPlacement>,
}

impl NeedsDeclaration {
    /// Needs of a step without a declaration.
    pub const NOTHING: Self = Self {
        ability: |_| None,
        capability: |_| None,
        waits_out: None,
        settles: Duration::ZERO,
        role: None,
        table: |_| None,
        names_ahead: false,
        placement_scope: |_| None,
    };
}

/// Declaration with the place of its step's `#[given]`, `#[when]` and `#[then]`, as cucumber knows them.
pub(crate) struct DeclaredNeeds {
    pub file: &'static str,
    pub lines: &'static [u32],
    pub declaration: NeedsDeclaration,
}

inventory::collect!(DeclaredNeeds);

/// Returns the needs of a step. A step that no function or more than one function matches needs nothing.
#[must_use]
pub fn needs(step: &Step) -> StepNeeds {
    let Ok(Some(found)) = step_match(step) else { return StepNeeds::default() };
    let Some(location) = found.location else { return StepNeeds::default() };
    let declared = inventory::iter::<DeclaredNeeds>.into_iter().find(|declared| declared.is_at(location));
    let declaration = declared.map_or(NeedsDeclaration::NOTHING, |declared| declared.declaration);
    let call = StepCall { step, parameters: found.parameters.clone() };
    let placement_scope = (declaration.placement_scope)(&call);
    let asserts_diagnosis = declaration.role == Some(StepRole::AssertsDiagnosis);
    let namespaced = placement_scope.filter(|new| new.namespaced).map(|_| Capability::NamespacedPlacements);
    StepNeeds {
        ability: (declaration.ability)(&call),
        capabilities: (declaration.capability)(&call).into_iter().chain(namespaced).collect(),
        waits_out: declaration.waits_out,
        settles: declaration.settles,
        role: declaration.role,
        codes: if asserts_diagnosis { call.codes() } else { Vec::new() },
        diagnosis: if asserts_diagnosis { AssertedDiagnosis::of_parameters(&call.parameters) } else { None },
        table: (declaration.table)(&call),
        names_ahead: declaration.names_ahead,
        placement_scope,
    }
}

impl DeclaredNeeds {
    fn is_at(&self, location: Location) -> bool {
        self.file == location.path && self.lines.contains(&location.line)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cucumber::codegen::{StepConstructor, WorldInventory};
    use cucumber::gherkin::{Feature, GherkinEnv};

    use super::*;
    use crate::params::ObjectRef;
    use crate::upgrade::upgrade_step;
    use crate::world::World;

    fn needs_of(text: &str) -> StepNeeds {
        let feature = Feature::parse(format!("Feature: f\n  Scenario: s\n    {text}\n"), GherkinEnv::default());
        needs(&feature.expect("a feature").scenarios[0].steps[0])
    }

    fn locations<S: StepConstructor<World> + inventory::Collect>() -> Vec<(&'static str, u32)> {
        let steps = inventory::iter::<S>.into_iter().map(|step| step.inner().0);
        steps.map(|location| (location.path, location.line)).collect()
    }

    #[test]
    fn each_declaration_belongs_to_a_step_of_its_own() {
        let steps = [
            locations::<<World as WorldInventory>::Given>(),
            locations::<<World as WorldInventory>::When>(),
            locations::<<World as WorldInventory>::Then>(),
        ];
        let steps: BTreeSet<_> = steps.into_iter().flatten().collect();
        let mut seen = BTreeSet::new();
        for declared in inventory::iter::<DeclaredNeeds> {
            for line in declared.lines {
                let place = (declared.file, *line);
                assert!(steps.contains(&place), "{place:?} isn't where cucumber sees a step");
                assert!(seen.insert(place), "{place:?} has two declarations");
            }
        }
        assert!(!seen.is_empty());
    }

    #[test]
    fn a_step_has_the_needs_that_stand_above_it() {
        assert_eq!(needs_of("Given a member \"east\" of its own").ability, Some(ProviderAbility::MakeClusters));
        assert_eq!(needs_of("When the agent of member \"east\" stops").ability, Some(ProviderAbility::StopAgents));
        assert_eq!(needs_of("When the agents of 30 hollow members stop").ability, Some(ProviderAbility::StopAgents));
        let fleet = |with: &str| needs_of(&format!("Given a fleet of its own with 2 members{with}")).ability;
        assert_eq!(fleet(" and 200 hollow members"), Some(ProviderAbility::PlayMembers));
        assert_eq!([fleet(" and Argo CD"), fleet("")], [Some(ProviderAbility::MakeClusters); 2]);
        assert_eq!(needs_of("Then the hub-agent has logged \"x\"").ability, Some(ProviderAbility::ReadAgentLogs));
        let served = |how: &str| needs_of(&format!("Given repository \"web\" is served over {how}")).ability;
        assert_eq!(served("SSH at localhost and asks for a key"), Some(ProviderAbility::ServeSsh));
        assert_eq!(served("HTTP and asks for a password"), None);
        let five_minutes = Some(Duration::from_secs(300));
        assert_eq!(
            needs_of("When the stuck threshold of update run \"r\" passes on \"member-1\"").waits_out,
            five_minutes
        );
        let diagnosis = needs_of("Then the diagnosis of update run \"r\" is KF-UR-001, because of KF-XX-9");
        assert_eq!(diagnosis.role, Some(StepRole::AssertsDiagnosis));
        assert_eq!(diagnosis.codes, ["KF-UR-001", "KF-XX-9"]);
        let asserted = diagnosis.diagnosis.expect("a diagnosis");
        assert_eq!((asserted.code.as_str(), asserted.root()), ("KF-UR-001", Some("KF-XX-9")));
        let text = "Then within 200 seconds the diagnosis of member \"east\" is KF-MC-001 for \"east\"";
        let asserted = needs_of(text).diagnosis.expect("a diagnosis");
        assert_eq!((asserted.within, asserted.member.as_deref()), (Some(Duration::from_secs(200)), Some("east")));
        assert_eq!((asserted.root(), &asserted.object), (None, &ObjectRef::Member("east".into())));
        let change = needs_of("When the resources of placement \"web\" change");
        assert_eq!(change.role, Some(StepRole::ChangesResources));
        assert_eq!(needs_of("Then the diagnosis finds nothing").role, Some(StepRole::AssertsNoFindings));
        assert_eq!(needs_of("Then nobody has defined this"), StepNeeds::default());
    }

    #[test]
    fn a_new_placement_has_a_scope() {
        let namespaced = |text: &str| needs_of(text).placement_scope.map(|new| new.namespaced);
        assert_eq!(namespaced("Given a placement \"web\" selects \"member-1\""), Some(false));
        assert_eq!(namespaced("When a cluster-scoped placement \"web\" selects no member"), Some(false));
        assert_eq!(namespaced("Given a namespaced placement \"web\" has put its resources on \"m\""), Some(true));
        assert_eq!(
            namespaced("When a namespaced placement \"b\" selects what placement \"a\" places, for \"m\""),
            Some(true)
        );
        assert_eq!(namespaced("Then placement \"web\" is on the hub"), Some(false));
        assert_eq!(namespaced("Then placement \"web\" becomes available on \"member-1\""), None);
    }

    #[test]
    fn the_step_that_is_put_into_scenarios_upgrades() {
        for product in Product::ALL {
            assert_eq!(needs_of(&format!("When {}", upgrade_step(product))).role, Some(StepRole::Upgrades(product)));
        }
        assert_eq!(needs_of("When hub and members run different versions of KubeFleet").role, None);
    }

    #[test]
    fn parameters_and_tables_decide_on_capabilities() {
        let capabilities = |text: &str| Vec::from_iter(needs_of(text).capabilities);
        assert_eq!(capabilities("Given a placement \"web\" selects \"member-1\""), []);
        assert_eq!(
            capabilities("Given a namespaced placement \"web\" selects \"member-1\""),
            [Capability::NamespacedPlacements]
        );
        let strategy =
            "Given a staged update strategy \"s\" for placement \"web\"\n      | stage | before |\n      | one   |";
        assert_eq!(capabilities(&format!("{strategy} Approval |")), [Capability::BeforeStageTasks]);
        assert_eq!(capabilities(&format!("{strategy}  |")), []);
    }
}
