//! `fleetdrill down`.

use clusters::error::ClusterError;
use clusters::keeper::Keeper;
use clusters::state_dir;

use crate::cli::Down;
use crate::error::CommandError;
use crate::exit::Exit;

pub(super) async fn down(args: &Down) -> Result<Exit, CommandError> {
    // This also removes what dead fleets left behind.
    let fleets = state_dir::fleets()?;
    let ending: Vec<String> = if args.all { fleets } else { vec![args.name.clone()] };
    if ending.is_empty() {
        eprintln!("no fleet is up");
    }
    for name in ending {
        let keeper = match Keeper::connect(&state_dir::fleet(&name)?) {
            // It ended by itself, since it was listed.
            Err(ClusterError::NoSuchFleet(_)) if args.all => continue,
            keeper => keeper?,
        };
        keeper.end().await?;
        eprintln!("fleet `{name}` ended");
    }
    Ok(Exit::Fine)
}
