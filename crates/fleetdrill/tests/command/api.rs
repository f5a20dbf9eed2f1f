//! A fake API server for tests, which returns only what it was set up with.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Answers of a fake API server by path. On all other paths it returns an empty list.
#[derive(Clone, Default)]
pub struct FakeApi {
    answers: Vec<(String, u16, Value)>,
}

impl FakeApi {
    /// Adds the objects of a path, e.g. `/api/v1/namespaces`.
    pub fn has(mut self, path: &str, items: &[Value]) -> Self {
        self.answers.push((path.to_owned(), 200, json!({"metadata": {}, "items": items})));
        self
    }

    /// Adds the kinds of a group and version.
    pub fn knows(mut self, path: &str, plurals: &[&str]) -> Self {
        let resources: Vec<Value> = plurals
            .iter()
            .map(|plural| json!({"name": plural, "singularName": "", "namespaced": true, "kind": "K", "verbs": []}))
            .collect();
        let version = path.trim_start_matches("/apis/").trim_start_matches("/api/");
        let list = json!({"kind": "APIResourceList", "groupVersion": version, "resources": resources});
        self.answers.push((path.to_owned(), 200, list));
        self
    }

    /// Makes the server refuse a path with this status code, as a real one does.
    pub fn refuses(mut self, path: &str, code: u16) -> Self {
        let message = format!("{} is refused", path.rsplit('/').next().unwrap_or_default());
        let reason = if code == 401 { "Unauthorized" } else { "Forbidden" };
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": reason, "code": code});
        self.answers.push((path.to_owned(), code, status));
        self
    }

    /// Starts the server and returns its address.
    pub fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), api) = (stream, self.clone()) else { return };
                std::thread::spawn(move || api.serve(stream));
            }
        });
        address
    }

    /// Answers one request on a connection.
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let path = line.split_whitespace().nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default().to_owned();
        while reader.read_line(&mut line).is_ok_and(|n| n > 2) {}
        let (code, body) = match self.answers.iter().find(|(of, ..)| *of == path) {
            Some((_, code, body)) => (*code, body.to_string()),
            None => (200, json!({"metadata": {}, "items": []}).to_string()),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
        let _ = write!(reader.get_mut(), "{head}connection: close\r\n\r\n{body}");
    }
}

/// A `MemberCluster`.
pub fn member(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// A namespace kube-system with a UID.
pub fn system(uid: &str) -> Value {
    json!({"metadata": {"name": "kube-system", "uid": uid}})
}
