//! Parses the objects of a file in several threads.

use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use diagnosis::{ObjectList, ObjectListReader, ReadObjectsError, ValueLimit};

use super::limit::Budget;

/// Largest number of threads that parse a file. Each keeps texts of its own, and a lookup asks all of them.
const THREADS: usize = 2;

/// Pieces that wait for each thread.
const PIECES_AHEAD: usize = 2;

/// Parser of the objects of one file. The threads take the pieces in turn.
pub(super) struct ObjectsParser {
    limit: ValueLimit,
    threads: Vec<ParserThread>,
    pieces: usize,
}

struct ParserThread {
    pieces: SyncSender<Vec<u8>>,
    reader: JoinHandle<ObjectListReader>,
}

impl ObjectsParser {
    /// Creates a parser that takes the values that it reads from the budget.
    pub(super) fn new(budget: &Budget) -> Self {
        Self { limit: budget.values().clone(), threads: Vec::new(), pieces: 0 }
    }

    /// Parses a piece of complete objects with a record separator between them. Blocks while too many pieces wait.
    pub(super) fn add(&mut self, piece: Vec<u8>) {
        if self.threads.len() < THREADS {
            self.threads.push(ParserThread::start(&self.limit));
        }
        // A thread ends early only if it panics, which `finish` passes on.
        drop(self.threads[self.pieces % THREADS].pieces.send(piece));
        self.pieces += 1;
    }

    /// Waits for the threads and returns the objects, in the order in which the pieces were added.
    pub(super) fn finish(self) -> Result<ObjectList, ReadObjectsError> {
        let readers = self.threads.into_iter().map(|ParserThread { pieces, reader }| {
            drop(pieces);
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        ObjectListReader::join(readers.collect())
    }
}

impl ParserThread {
    fn start(limit: &ValueLimit) -> Self {
        let (pieces, received) = sync_channel::<Vec<u8>>(PIECES_AHEAD);
        let mut reader = ObjectListReader::new(limit);
        let reader = std::thread::spawn(move || {
            for piece in received {
                reader.read(&piece);
            }
            reader
        });
        Self { pieces, reader }
    }
}
