//! Clock of a single process, which is shifted while the process runs.
//!
//! Programs, also those in Go, read the clock through the vDSO: code of the kernel that each process has in its memory. Its functions
//! are replaced there by others, which ask the kernel with a system call and add the shift. Only the wall clock is shifted: timers and time
//! limits use the monotonic clock. Child processes have the clock of the machine.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _};
use rustix::process::{Pid, Signal, kill_process};

/// True where clocks can be shifted: the code is for x86-64.
pub(crate) const CAN_SHIFT: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Interval between two looks at a process, in its start and until it is paused.
const INTERVAL: Duration = Duration::from_millis(1);

/// Number of such looks, after which the attempt counts as failed.
const LOOKS: usize = 5000;

/// Shifts the clock of a process by a number of seconds, counted from the machine's clock; 0 gives it the machine's clock. A process that was just
/// started gets it as soon as its program runs. The process is paused for a moment meanwhile.
pub(crate) async fn shift(process: Pid, seconds: i32) -> Result<()> {
    if !CAN_SHIFT {
        return Err(Error::new(ErrorKind::Unsupported, "only on Linux for x86-64"));
    }
    let functions = functions(seconds)?;
    let base = program_vdso(process).await?;
    let memory = OpenOptions::new().write(true).open(path(process, "mem"))?;
    for _ in 0..LOOKS {
        let pause = Pause::of(process).await?;
        // A thread within one of these functions would go on in the middle of another.
        if !is_within(process, base, &functions)? {
            for function in &functions {
                memory.write_all_at(&function.code, base + function.offset)?;
            }
            return Ok(());
        }
        drop(pause);
        tokio::time::sleep(INTERVAL).await;
    }
    Err(Error::other("the process reads its clock all the time"))
}

/// Function of the vDSO.
struct VdsoFunction {
    /// Place in the vDSO.
    offset: u64,
    /// Size of the kernel's function.
    size: u64,
    /// Code to write there.
    code: Vec<u8>,
}

/// Returns the functions that read the wall clock, with the code that shifts it: the kernel's own for 0.
fn functions(seconds: i32) -> Result<Vec<VdsoFunction>> {
    let own = rustix::process::getpid();
    let (start, end) = vdso(own)?;
    let size = usize::try_from(end - start).map_err(Error::other)?;
    let mut image = vec![0; size];
    File::open(path(own, "mem"))?.read_exact_at(&mut image, start)?;
    let elf: ElfFile64<'_> = ElfFile64::parse(&*image).map_err(Error::other)?;
    let symbols = elf.dynamic_symbols().filter_map(|symbol| {
        let code = shifting_code(symbol.name().ok()?, seconds)?;
        Some((symbol.address(), symbol.size(), code))
    });
    let mut functions = Vec::new();
    for (offset, size, shifting) in symbols {
        let place = usize::try_from(offset).map_err(Error::other)?;
        let original = image.get(place..place + shifting.len()).filter(|_| shifting.len() as u64 <= size);
        let original = original.ok_or_else(|| Error::other("a function of the kernel's vDSO is too short"))?;
        let code = if seconds == 0 { original.to_vec() } else { shifting };
        functions.push(VdsoFunction { offset, size, code });
    }
    if functions.is_empty() {
        return Err(Error::other("the kernel's vDSO has no function that reads the clock"));
    }
    Ok(functions)
}

/// Returns the code of a vDSO's function for x86-64, which adds seconds to the wall clock; `None` for a function that doesn't read it.
fn shifting_code(function: &str, seconds: i32) -> Option<Vec<u8>> {
    let seconds = &seconds.to_le_bytes();
    let parts: &[&[u8]] = match function {
        "__vdso_clock_gettime" => &[
            &[0xb8, 228, 0, 0, 0], // mov eax, clock_gettime
            &[0x0f, 0x05],         // syscall
            &[0x85, 0xff],         // test edi, edi: the clock's number, 0 for CLOCK_REALTIME
            &[0x75, 0x07],         // jne ret
            &[0x48, 0x81, 0x06],   // add qword [rsi], seconds
            seconds,
            &[0xc3], // ret
        ],
        "__vdso_gettimeofday" => &[
            &[0xb8, 96, 0, 0, 0], // mov eax, gettimeofday
            &[0x0f, 0x05],        // syscall
            &[0x48, 0x85, 0xff],  // test rdi, rdi
            &[0x74, 0x07],        // je ret
            &[0x48, 0x81, 0x07],  // add qword [rdi], seconds
            seconds,
            &[0xc3], // ret
        ],
        "__vdso_time" => &[
            &[0xb8, 201, 0, 0, 0], // mov eax, time
            &[0x0f, 0x05],         // syscall
            &[0x48, 0x05],         // add rax, seconds
            seconds,
            &[0x48, 0x85, 0xff], // test rdi, rdi
            &[0x74, 0x03],       // je ret
            &[0x48, 0x89, 0x07], // mov [rdi], rax
            &[0xc3],             // ret
        ],
        _ => return None,
    };
    Some(parts.concat())
}

/// Waits until a process that was just started runs its own program, and no longer fleetdrill's, as it does at first. Returns the
/// address of its vDSO, which the kernel maps at the end of the program's start.
async fn program_vdso(process: Pid) -> Result<u64> {
    let own = std::fs::read_link(path(rustix::process::getpid(), "exe"))?;
    let mut looks = 0;
    loop {
        let found = if std::fs::read_link(path(process, "exe"))? == own {
            Err(Error::new(ErrorKind::TimedOut, "its program doesn't start"))
        } else {
            vdso(process)
        };
        looks += 1;
        match found {
            Err(_) if looks < LOOKS => tokio::time::sleep(INTERVAL).await,
            found => return found.map(|(start, _)| start),
        }
    }
}

/// Returns the first address of a process's vDSO, and the one after its last.
fn vdso(process: Pid) -> Result<(u64, u64)> {
    let maps = std::fs::read_to_string(path(process, "maps"))?;
    let range = maps.lines().find(|line| line.ends_with("[vdso]")).and_then(|line| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
    });
    range.ok_or_else(|| Error::other("the kernel gives it no vDSO"))
}

/// True if a thread of a paused process is about to go on within one of these functions.
fn is_within(process: Pid, base: u64, functions: &[VdsoFunction]) -> Result<bool> {
    for thread in threads(process)? {
        // The last word is the address of the next instruction, e.g. `-1 0x7ffd5a7ff0d8 0x55d0e8a1b2c3`.
        let state = std::fs::read_to_string(thread.join("syscall"))?;
        let next = state.split_whitespace().last().and_then(|word| word.strip_prefix("0x"));
        let next = next.and_then(|address| u64::from_str_radix(address, 16).ok());
        let next = next.ok_or_else(|| Error::other(format!("a thread isn't paused: {}", state.trim())))?;
        if functions.iter().any(|f| (base + f.offset..base + f.offset + f.size).contains(&next)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Process that is paused until this value is dropped.
struct Pause {
    process: Pid,
    /// True if it was paused already. It stays so.
    was_paused: bool,
}

impl Pause {
    async fn of(process: Pid) -> Result<Self> {
        let pause = Self { process, was_paused: is_paused(process)? };
        kill_process(process, Signal::STOP)?;
        for _ in 0..LOOKS {
            if is_paused(process)? {
                return Ok(pause);
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Err(Error::new(ErrorKind::TimedOut, "it can't be paused"))
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if !self.was_paused {
            // An error means that the process has ended.
            let _ = kill_process(self.process, Signal::CONT);
        }
    }
}

/// True if all threads of a process are paused.
fn is_paused(process: Pid) -> Result<bool> {
    for thread in threads(process)? {
        let stat = match std::fs::read_to_string(thread.join("stat")) {
            // The thread has ended.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            stat => stat?,
        };
        // The state follows the program's name, which is in parentheses and may have some itself.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if state != Some('T') {
            return Ok(false);
        }
    }
    Ok(true)
}

fn threads(process: Pid) -> Result<Vec<PathBuf>> {
    std::fs::read_dir(path(process, "task"))?.map(|entry| Ok(entry?.path())).collect()
}

fn path(process: Pid, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{file}", process.as_raw_nonzero()))
}
