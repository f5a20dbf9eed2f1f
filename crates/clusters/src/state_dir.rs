//! State directory, in which each running fleet has a directory. The fleet's directory is removed when the fleet ends.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy;
use rustix::process::geteuid;

use crate::error::ClusterError;

/// Returns the directory that holds all fleets of this user: `FLEETDRILL_STATE_DIR`, else `fleetdrill` in the XDG state
/// directory. The directory is created if it doesn't exist.
///
/// # Errors
/// Returns an error if the directory can't be created.
pub fn root() -> Result<PathBuf, ClusterError> {
    let root = location()?;
    make_private(&root.path)?;
    root.check()?;
    Ok(root.path)
}

/// Location of the state directory, whether it exists or not.
struct RootLocation {
    path: PathBuf,
    /// True for a directory in the system's temporary directory, where another user may have made it.
    is_temporary: bool,
}

impl RootLocation {
    /// Checks that no other user has made the directory.
    fn check(&self) -> Result<(), ClusterError> {
        if self.is_temporary { check_own(&self.path) } else { Ok(()) }
    }
}

fn location() -> Result<RootLocation, ClusterError> {
    let (root, is_temporary) = if let Some(dir) = std::env::var_os("FLEETDRILL_STATE_DIR") {
        (PathBuf::from(dir), false)
    } else if let Ok(dirs) = etcetera::base_strategy::choose_base_strategy() {
        (dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join("fleetdrill"), false)
    } else {
        (std::env::temp_dir().join("fleetdrill"), true)
    };
    // Absolute, because processes are started in other working directories.
    let path = std::path::absolute(&root).map_err(ClusterError::io("find", &root))?;
    Ok(RootLocation { path, is_temporary })
}

/// Returns the directory of the fleet `name`, whether it exists or not.
///
/// # Errors
/// Returns an error if the name isn't valid for a fleet.
pub fn fleet(name: &str) -> Result<PathBuf, ClusterError> {
    check_name(name)?;
    Ok(root()?.join(name))
}

/// Returns the names of the running fleets, and removes the directories of fleets whose supervisor has died.
/// Directories of other kinds are left alone, because `FLEETDRILL_STATE_DIR` may be a directory with other things in
/// it. Creates nothing, so that a Pod with a read-only root file system can ask.
///
/// # Errors
/// Returns an error if the state directory can't be read.
pub async fn fleets() -> Result<Vec<String>, ClusterError> {
    let root = location()?;
    if !root.path.try_exists().map_err(ClusterError::io("read", &root.path))? {
        return Ok(Vec::new());
    }
    root.check()?;
    fleets_in(&root.path).await
}

async fn fleets_in(root: &Path) -> Result<Vec<String>, ClusterError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root).map_err(ClusterError::io("read", root))?.flatten() {
        let dir = entry.path();
        match settled_holder(&dir).await {
            // Hold the lock until the directory is gone, so that no supervisor starts in it.
            DirectoryHolder::Dead(_lock) => remove(&dir).await.map_err(ClusterError::io("remove", &dir))?,
            DirectoryHolder::Supervisor | DirectoryHolder::Dying | DirectoryHolder::Starting => {
                let name = dir.file_name().and_then(|n| n.to_str()).filter(|n| check_name(n).is_ok());
                names.extend(name.map(ToOwned::to_owned));
            }
            DirectoryHolder::NoFleet => {}
        }
    }
    names.sort();
    Ok(names)
}

/// True if a supervisor holds the fleet in `dir`, or is about to. False for a supervisor that was killed, even before it has let go of its
/// files.
#[must_use]
pub fn is_alive(dir: &Path) -> bool {
    matches!(holder(dir), DirectoryHolder::Supervisor | DirectoryHolder::Starting)
}

/// True if the fleet's directory in `dir` is locked, or is about to be: by a supervisor that lives, or by one that was killed a moment ago.
pub(crate) fn is_held(dir: &Path) -> bool {
    matches!(holder(dir), DirectoryHolder::Supervisor | DirectoryHolder::Dying | DirectoryHolder::Starting)
}

/// Holder of a fleet's directory.
enum DirectoryHolder {
    /// The fleet's supervisor, which holds the lock for as long as it lives.
    Supervisor,
    /// The fleet's supervisor, which was killed and hasn't released its files yet.
    Dying,
    /// A supervisor that starts: the directory was created a moment ago.
    Starting,
    /// A supervisor that has died. This process holds the lock now.
    Dead(File),
    /// No supervisor: the directory isn't a fleet's.
    NoFleet,
}

/// Tells who holds a fleet's directory at this moment.
fn holder(dir: &Path) -> DirectoryHolder {
    let Ok(lock) = OpenOptions::new().read(true).write(true).open(dir.join(LOCK)) else {
        return DirectoryHolder::NoFleet;
    };
    // A lock file stays empty until the supervisor holds the lock. Don't try to lock the file before that: the
    // supervisor's own attempt might fail.
    let fresh = lock.metadata().is_ok_and(|lock| {
        let age = lock.modified().ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
        lock.len() == 0 && age < START_LIMIT
    });
    if fresh {
        return DirectoryHolder::Starting;
    }
    match lock.try_lock() {
        Ok(()) => DirectoryHolder::Dead(lock),
        Err(TryLockError::WouldBlock) if is_dying(dir) => DirectoryHolder::Dying,
        Err(TryLockError::WouldBlock) => DirectoryHolder::Supervisor,
        // The state of the lock is unknown, e.g. because the file system has no locks. Treat the fleet as running,
        // because the removal of a running fleet would be worse.
        Err(TryLockError::Error(_)) => DirectoryHolder::Starting,
    }
}

/// Tells who holds a fleet's directory once a supervisor that was killed has let go of its files, or has had its time for that.
async fn settled_holder(dir: &Path) -> DirectoryHolder {
    let end = Instant::now() + DYING_LIMIT;
    loop {
        match holder(dir) {
            DirectoryHolder::Dying if Instant::now() < end => tokio::time::sleep(Duration::from_millis(5)).await,
            holder => return holder,
        }
    }
}

/// Returns true if the supervisor whose id is in the lock file was killed, but its files aren't closed yet: the kernel
/// frees a process's memory, and with it the command line, before it closes the process's files.
fn is_dying(dir: &Path) -> bool {
    let supervisor = fs::read_to_string(dir.join(LOCK)).unwrap_or_default();
    !supervisor.is_empty() && fs::read(format!("/proc/{}/cmdline", supervisor.trim())).is_ok_and(|line| line.is_empty())
}

/// Returns the process id of the supervisor that holds, or held, a fleet's directory.
pub(crate) fn supervisor_id(dir: &Path) -> Option<u32> {
    fs::read_to_string(dir.join(LOCK)).ok()?.trim().parse().ok()
}

/// Time limit for a killed supervisor to release its lock.
const DYING_LIMIT: Duration = Duration::from_secs(5);

/// Time limit for a supervisor to take its lock after the directory was created.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Waits until the fleet `name` and its child fleets ([`beside`]) are gone. A supervisor ends its fleet when the
/// fleet's owner has ended.
pub async fn wait_until_gone(name: &str) {
    for name in beside(name).await {
        one_is_gone(&name).await;
    }
    one_is_gone(name).await;
}

/// Returns the running child fleets of the fleet `name`, whose names begin with that name and a hyphen.
pub async fn beside(name: &str) -> Vec<String> {
    let mut fleets = fleets().await.unwrap_or_default();
    fleets.retain(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    fleets
}

async fn one_is_gone(name: &str) {
    let Ok(dir) = fleet(name) else { return };
    let end = FleetEndDetector::of(&dir);
    for _ in 0..1400 {
        if end.is_reached() {
            return;
        }
        if dir.exists() && !is_alive(&dir) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The fleet's supervisor was killed too: `fleets` removes the directory that it left.
    let _ = fleets().await;
}

/// Detector of a fleet's end: the fleet's directory is gone, and so is its supervisor's process, which outlives the
/// directory by a moment.
pub(crate) struct FleetEndDetector {
    dir: PathBuf,
    lock: Option<File>,
}

impl FleetEndDetector {
    /// Creates the detector for a fleet that may be running.
    pub(crate) fn of(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), lock: File::open(dir.join(LOCK)).ok() }
    }

    /// Returns true if the fleet has ended. The supervisor's lock is released when its process ends.
    pub(crate) fn is_reached(&self) -> bool {
        !self.dir.exists() && self.lock.as_ref().is_none_or(|lock| lock.try_lock_shared().is_ok())
    }
}

/// Name of the lock file in a fleet's directory. It is the name of earlier versions, whose fleets are found by it.
pub(crate) const LOCK: &str = "keeper.lock";

/// Creates a new fleet's directory, which contains its lock file from the first moment on.
pub(crate) fn create(dir: &Path) -> Result<(), ClusterError> {
    let root = dir.parent().unwrap_or(dir);
    make_private(root)?;
    let new = tempfile::Builder::new().prefix(".new-").permissions(fs::Permissions::from_mode(0o700)).tempdir_in(root);
    let new = new.map_err(ClusterError::io("make", dir))?;
    let lock = new.path().join(LOCK);
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&lock)
        .map_err(ClusterError::io("write", &lock))?;
    match fs::rename(new.path(), dir) {
        Ok(()) => {
            let _ = new.keep();
            Ok(())
        }
        Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
            Err(ClusterError::FleetExists(dir.file_name().unwrap_or_default().to_string_lossy().into_owned()))
        }
        Err(error) => Err(ClusterError::io("make", dir)(error)),
    }
}

/// Removes a fleet's directory. A process that was killed a moment ago may still create a file in it; the removal is
/// tried again then.
pub(crate) async fn remove(dir: &Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        match remove_once(dir) {
            Err(_) if tries < 50 => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            result => return result,
        }
    }
}

/// Removes a fleet's directory if nothing makes files in it at the same time; no error when there is none.
pub(crate) fn remove_once(dir: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Creates a directory, and the missing ones above it, that only their owner may enter.
pub fn make_private(dir: &Path) -> Result<(), ClusterError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(ClusterError::io("make", dir))
}

/// Bits of a mode that give rights to anybody but the owner.
const OTHERS: u32 = 0o077;

/// Checks that a directory in one of all users, such as `/tmp`, is this user's, and that nobody else may enter it: another user may have
/// made it in advance.
fn check_own(dir: &Path) -> Result<(), ClusterError> {
    let found = fs::symlink_metadata(dir).map_err(ClusterError::io("read", dir))?;
    let is_own = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & OTHERS == 0;
    if is_own { Ok(()) } else { Err(ClusterError::io("use", dir)(not_own())) }
}

/// Creates an empty directory in one of all users, such as `/tmp`, that only its owner may enter. A directory that this user has left
/// there is replaced.
///
/// # Errors
/// Returns an error if another user has something at this path, or if it is no directory.
pub(crate) fn make_own(dir: &Path) -> Result<(), ClusterError> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() && found.uid() == geteuid().as_raw() => {
            fs::remove_dir_all(dir).map_err(ClusterError::io("remove", dir))?;
        }
        Ok(_) => return Err(ClusterError::io("use", dir)(not_own())),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(ClusterError::io("read", dir)(error)),
    }
    // Fails if somebody else was faster.
    DirBuilder::new().mode(0o700).create(dir).map_err(ClusterError::io("make", dir))
}

fn not_own() -> std::io::Error {
    std::io::Error::new(
        ErrorKind::PermissionDenied,
        "it is another user's, or others may enter it, or it is no directory",
    )
}

/// Writes a file that only its owner may read.
///
/// # Errors
/// Returns an error if the file can't be written.
pub fn write_private(path: &Path, text: &str) -> Result<(), ClusterError> {
    let file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path);
    file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(ClusterError::io("write", path))
}

/// Replaces a file by a private one with this text, completely or not at all, since another process may read it at any moment.
///
/// # Errors
/// Returns an error if the file can't be written.
pub fn replace_private(path: &Path, text: &str) -> Result<(), ClusterError> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    write_private(new.as_ref(), text)?;
    fs::rename(&new, path).map_err(ClusterError::io("write", path))
}

/// Checks the name of a fleet or cluster, which becomes part of paths, host names and label values.
///
/// # Errors
/// Returns an error if the name has other characters than lower-case letters, digits and dashes, doesn't start with a
/// letter, ends with a dash, or has more than 40 characters.
pub fn check_name(name: &str) -> Result<(), ClusterError> {
    let good = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if good { Ok(()) } else { Err(ClusterError::BadName(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use std::os::unix::fs::PermissionsExt as _;

    use super::{DYING_LIMIT, LOCK, check_name, check_own, create, fleets_in, is_alive, is_held, make_own};

    #[test]
    fn a_file_is_replaced_by_a_private_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("127.0.0.1");
        fs::write(&file, "a longer text").expect("written");
        super::replace_private(&file, "new").expect("replaced");
        assert_eq!(fs::read_to_string(&file).expect("text"), "new");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).expect("a file").permissions());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn a_directory_among_those_of_others_is_made_anew_and_never_taken_over() {
        let all = tempfile::tempdir().expect("a directory");
        let dir = all.path().join("k8s-webhook-server");
        make_own(&dir).expect("made");
        check_own(&dir).expect("this user's");
        fs::write(dir.join("tls.key"), "of an earlier fleet").expect("written");
        make_own(&dir).expect("made anew");
        assert_eq!(fs::read_dir(&dir).expect("a directory").count(), 0);

        // Others could read what is written into it.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("set");
        assert!(check_own(&dir).is_err());
        // A link leads to where somebody else reads.
        let (elsewhere, link) = (all.path().join("elsewhere"), all.path().join("link"));
        make_own(&elsewhere).expect("made");
        std::os::unix::fs::symlink(&elsewhere, &link).expect("linked");
        for refused in [make_own(&link), check_own(&link)] {
            let error = refused.expect_err("a link");
            assert_eq!(error.to_string(), format!("failed to use {}", link.display()));
        }
        // Only root can give a directory away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&dir, Some(65534), None).expect("given away");
            assert!(make_own(&dir).is_err() && check_own(&dir).is_err());
        }
    }

    #[test]
    fn names_are_safe_in_paths_and_labels() {
        for good in ["default", "a", "run-1f3k", &"a".repeat(40)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "A", "a/b", "..", "a_b", "a-", "ü", &"a".repeat(41)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    /// Makes the directory of a fleet whose supervisor was killed and hasn't let go of its lock. A process that nobody has waited for
    /// has no command line, as one that is being killed.
    fn dying_fleet(dir: &Path) -> (fs::File, Child) {
        create(dir).expect("a directory");
        let killed = Command::new("true").spawn().expect("a process");
        // The command line is empty for a moment in exec as well, so the state decides.
        let stat = format!("/proc/{}/stat", killed.id());
        while !fs::read_to_string(&stat).expect("a process").contains(") Z ") {
            std::thread::yield_now();
        }
        fs::write(dir.join(LOCK), format!("{}\n", killed.id())).expect("written");
        let lock = OpenOptions::new().write(true).open(dir.join(LOCK)).expect("a lock file");
        lock.try_lock().expect("nobody has it");
        (lock, killed)
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn waiting_for_a_killed_supervisor_lets_other_tasks_go_on() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("dying");
        let (lock, mut killed) = dying_fleet(&dir);
        assert!(!is_alive(&dir) && is_held(&dir));
        let started = Instant::now();
        // On the same thread: it can't let go of the lock unless the other one lets it.
        let let_go = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(lock);
        };
        let (fleets, ()) = tokio::join!(fleets_in(root.path()), let_go);
        assert_eq!(fleets.expect("a list"), [""; 0]);
        assert!(!dir.exists(), "its directory is removed");
        assert!(started.elapsed() < DYING_LIMIT, "{:?}", started.elapsed());
        killed.wait().expect("it has ended");
    }
}
