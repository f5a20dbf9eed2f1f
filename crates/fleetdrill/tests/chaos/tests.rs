//! Tests of the draws, the ledger, the table and the verdicts, without fleets.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use libtest_mimic::Failed;

use crate::blow::{Blow, Fault, HitCommand, Moment, Target};
use crate::ledger::{ChaosLedger, LedgerLine};
use crate::series::todo;
use crate::soak::{SupervisorSize, growth};
use crate::stage::EndedCommand;
use crate::strike::DealtBlow;
use crate::table::table;
use crate::verdict::judge;

pub fn a_seed_draws_the_same_blows() -> Result<(), Failed> {
    let draw = |seed| (1..=200).map(|number| Blow::draw(seed, number)).collect::<Vec<_>>();
    let blows = draw(1);
    same(&blows, &draw(1))?;
    if blows == draw(2) {
        return Err("another seed draws the same blows".into());
    }
    let kinds = |of: fn(&Blow) -> String| blows.iter().map(of).collect::<BTreeSet<_>>().len();
    same(&kinds(|blow| blow.command.to_string()), &7)?;
    same(&kinds(|blow| blow.target.to_string()), &4)?;
    same(&kinds(|blow| blow.fault.to_string()), &7)
}

fn line(number: u32, wrong: &[&str]) -> LedgerLine {
    LedgerLine {
        seed: 1,
        blow: Blow {
            number,
            command: HitCommand::Run,
            target: Target::Keeper,
            fault: Fault::Stop,
            moment: Moment::Part(0.5),
            choice: 7,
            pause: 2,
        },
        hit: (number != 3).then(|| "supervisor".into()),
        moment_ms: 4200,
        exit: Some(3),
        seconds: 9.87,
        wrong: wrong.iter().map(|text| (*text).to_owned()).collect(),
    }
}

pub fn a_series_goes_on_where_its_ledger_ends() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("new/seed-1.jsonl");
    ChaosLedger::open(&path)?.add(&line(1, &[]))?;
    ChaosLedger::open(&path)?.add(&line(3, &["left behind"]))?;
    let lines = ChaosLedger::open(&path)?.lines()?;
    same(&lines, &vec![line(1, &[]), line(3, &["left behind"])])?;
    let numbers: Vec<u32> = todo(1, 5, "", &lines).iter().map(|blow| blow.number).collect();
    same(&numbers, &vec![2, 4, 5])?;
    let only = todo(1, 200, "up harness", &[]);
    let is_right = |blow: &Blow| blow.command == HitCommand::Up && blow.target == Target::Harness;
    if only.is_empty() || !only.iter().all(is_right) { Err("the words don't select".into()) } else { Ok(()) }
}

pub fn the_table_counts_what_was_wrong() -> Result<(), Failed> {
    let text = table(&[line(1, &[]), line(2, &["left behind: a", "status hung"]), line(3, &[])]);
    same(
        &text.as_str(),
        &"command    target     fault      blows  missed  wrong  longest s\n\
          run        keeper     stop           3       1      1        9.9\n\
          all                                  3       1      1\n\
          \u{20} 2 run keeper stop (supervisor) after 4200 ms: ended with 3 after 9.9 s, WRONG: left behind: a; status hung",
    )
}

pub fn verdicts_tell_right_from_wrong() -> Result<(), Failed> {
    let wrong = |blow: &Blow, code: Option<i32>, stderr: &str| {
        let ended = EndedCommand { code, stderr: stderr.into(), seconds: 20.0, ..EndedCommand::default() };
        judge(blow, &DealtBlow { hit: Some("supervisor".into()), moment: Duration::from_secs(4), ended }).len()
    };
    let keeper = Blow { fault: Fault::Kill, ..line(1, &[]).blow };
    same(&wrong(&keeper, Some(0), ""), &1)?;
    same(&wrong(&keeper, Some(3), "error: the fleet's supervisor doesn't answer"), &0)?;
    same(&wrong(&keeper, Some(3), "error: a process ended"), &1)?;
    same(&wrong(&keeper, None, ""), &1)?;
    same(&wrong(&keeper, Some(101), "thread 'main' panicked at x.rs: supervisor"), &2)?;
    let interrupted = Blow { target: Target::Harness, fault: Fault::Interrupt, ..keeper };
    same(&wrong(&interrupted, Some(130), "interrupted"), &0)?;
    same(&wrong(&interrupted, Some(0), "interrupted"), &1)
}

pub fn a_growth_is_told_from_noise() -> Result<(), Failed> {
    let sizes = |memory: &[u64], descriptors: &[usize]| {
        let size = |(memory, descriptors): (&u64, &usize)| SupervisorSize {
            memory: *memory,
            descriptors: *descriptors,
            ..SupervisorSize::default()
        };
        growth(&memory.iter().zip(descriptors).map(size).collect::<Vec<_>>())
    };
    same(&sizes(&[9000, 9900, 9900, 9900, 9800, 9950], &[20, 30, 30, 30, 30, 30]), &None)?;
    same(&sizes(&[9000, 9900, 9900, 9900, 9800, 9950], &[20, 30, 30, 30, 31, 30]), &None)?;
    let grown = sizes(&[9000, 9900, 9900, 9900, 13_000, 14_000], &[20, 30, 31, 32, 33, 34]);
    same(&grown.as_deref(), &Some("memory (KiB) grow from 9900 to 13000, descriptors grow from 32 to 33"))
}

fn same<T: PartialEq + Debug>(is: &T, expected: &T) -> Result<(), Failed> {
    if is == expected { Ok(()) } else { Err(format!("{is:#?} is not {expected:#?}").into()) }
}
