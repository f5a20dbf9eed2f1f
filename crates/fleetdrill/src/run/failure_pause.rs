//! Pause of a run after a scenario has failed, until somebody presses Enter.

use std::io::BufRead;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Pauses a scenario that has failed before its cleanup. Clones wait for the same input, one after the other.
#[derive(Clone, Debug)]
pub struct FailurePause {
    /// One item for each line of the input.
    lines: Arc<Mutex<UnboundedReceiver<()>>>,
}

impl FailurePause {
    /// Reads the lines that let the run go on. At the end of the input, nothing pauses any more.
    ///
    /// The thread that reads isn't tokio's: the runtime would wait for it at the end of the program.
    pub fn reading(input: impl BufRead + Send + 'static) -> Self {
        let (sender, receiver) = unbounded_channel();
        std::thread::spawn(move || {
            for line in input.lines() {
                if line.is_err() || sender.send(()).is_err() {
                    break;
                }
            }
        });
        Self { lines: Arc::new(Mutex::new(receiver)) }
    }

    /// Announces the pause when it is this scenario's turn, and waits for a line. Lines that came before don't count.
    pub(super) async fn wait(&self, announce: impl FnOnce()) {
        let mut lines = self.lines.lock().await;
        while lines.try_recv().is_ok() {}
        announce();
        lines.recv().await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write as _};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_line_ends_one_pause_and_the_end_of_the_input_all() {
        let (input, mut enter) = std::io::pipe().expect("a pipe");
        let pause = FailurePause::reading(BufReader::new(input));
        let (announced, mut was_announced) = unbounded_channel();
        let first = tokio::spawn({
            let pause = pause.clone();
            async move { pause.wait(|| announced.send(()).expect("is waited for")).await }
        });
        was_announced.recv().await.expect("the pause is announced");
        assert!(!first.is_finished());
        enter.write_all(b"\n").expect("written");
        first.await.expect("ends with the line");

        let second = timeout(Duration::from_millis(50), pause.wait(|| ())).await;
        assert!(second.is_err(), "one line ends one pause");
        drop(enter);
        timeout(Duration::from_secs(10), pause.wait(|| ())).await.expect("ends with the input");
    }
}
