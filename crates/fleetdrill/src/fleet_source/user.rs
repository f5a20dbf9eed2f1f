//! Users of a fleet: they break things on it.

use clusters::ability::ProviderAbility;

use super::needs::members_of;
use super::refusal;
use crate::abilities;
use crate::error::CommandError;
use crate::suite::Suite;

/// User of a fleet.
#[derive(Clone, Copy)]
pub enum FleetUser<'a> {
    /// A run. Scenarios that the fleet won't do for are left out.
    Run {
        /// Name of a fleet that is up, where the run is to be on one.
        up: Option<&'a str>,
        /// True if a version of Argo CD is named.
        names_argocd: bool,
        /// True if the fleet may stay up after the run.
        keeps: bool,
    },
    /// An exercise. A fleet that won't do for all of it is refused.
    Exercise {
        /// Name of the exercise.
        name: &'a str,
        /// Scenarios of the exercise.
        suite: &'a Suite,
    },
}

impl FleetUser<'_> {
    /// The users' plural, which begins a sentence.
    pub(super) fn plural(&self) -> &'static str {
        match self {
            Self::Run { .. } => "scenarios",
            Self::Exercise { .. } => "exercises",
        }
    }

    /// Refuses a provider that lacks an ability which an exercise needs.
    pub(super) fn check_abilities(
        &self,
        provider: &str,
        can: impl Fn(ProviderAbility) -> bool,
    ) -> Result<(), CommandError> {
        let Self::Exercise { name, suite } = self else { return Ok(()) };
        let mut scenarios = suite.scenarios();
        match scenarios.find_map(|(feature, scenario)| abilities::lacking(feature, scenario, &can)) {
            Some(ability) => Err(refusal::lacking(name, provider, ability)),
            None => Ok(()),
        }
    }

    /// Refuses a fleet with fewer members than an exercise speaks of.
    pub(super) fn check_members(&self, there: usize) -> Result<(), CommandError> {
        let Self::Exercise { name, suite } = self else { return Ok(()) };
        let needed = members_of(suite);
        if needed > there { Err(refusal::too_few_members(name, needed, there)) } else { Ok(()) }
    }
}
