//! Steps about what Argo CD knows of a member as a destination: the member's cluster Secret, and the token in it.

use cucumber::{given, when};
use fleet::argocd::DestinationFault;

use crate::error::StepError;
use crate::phrases::RegistrationChange;
use crate::world::World;

/// Brings a fault upon Argo CD's registration of a member of the scenario's own: the ServiceAccount of the token is deleted; the Secret has
/// the certificate of somebody else as CA; the Secret is deleted; there is a second Secret with the same name for the cluster; or the
/// Secret lacks the label `argocd.argoproj.io/secret-type`. `is as it was` undoes all of them, with a new token.
#[given(expr = "Argo CD's registration of member {string} {registration change}")]
#[when(expr = "Argo CD's registration of member {string} {registration change}")]
async fn changes(world: &mut World, member: String, change: RegistrationChange) -> Result<(), StepError> {
    let context = world.context();
    let cluster = context.fleet.member(&context.own_member(&member)?).await?.cluster;
    let (fault, what) = match change {
        RegistrationChange::Restored => {
            context.fleet.restore_destination(&cluster).await?;
            context.remedied(format!("Argo CD's registration of {} is as it was, with a new token", cluster.name));
            return Ok(());
        }
        RegistrationChange::TokenRevoked => {
            (DestinationFault::CredentialsRevoked, "the ServiceAccount of Argo CD's token is deleted")
        }
        RegistrationChange::OtherCa => (DestinationFault::OtherCa, "Argo CD's Secret has another CA"),
        RegistrationChange::Gone => (DestinationFault::SecretDeleted, "Argo CD's Secret is deleted"),
        RegistrationChange::Twice => (DestinationFault::SecretTwice, "Argo CD has a second Secret"),
        RegistrationChange::Unlabelled => (DestinationFault::LabelMissing, "Argo CD's Secret lacks its label"),
    };
    context.fleet.break_destination(&cluster, fault).await?;
    context.induced(format!("{}: {what}", cluster.name));
    Ok(())
}
