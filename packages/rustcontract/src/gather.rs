//! The upstream of `GET /data`: all of its fixtures, fetched at once and merged.

use std::{
    env,
    error::Error,
    iter,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
use reqwest::{Client, StatusCode, Url, redirect, retry};
use serde::Serialize;
use serde_json::Value;

use crate::load_json;

const FETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// The addresses of the fixtures; none if a server is started by hand.
#[derive(Clone)]
pub struct Fixtures(Option<Vec<Url>>);

impl Fixtures {
    /// Reads `BENCH_UPSTREAM`, a base URL, and the JSON file of paths that `BENCH_FIXTURES` names.
    pub fn load() -> Result<Self, String> {
        let Ok(base) = env::var("BENCH_UPSTREAM") else {
            return Ok(Self(None));
        };
        let paths: Vec<String> = load_json("BENCH_FIXTURES")?.ok_or("BENCH_FIXTURES is not set")?;
        Self::at(&base, &paths)
    }

    fn at(base: &str, paths: &[String]) -> Result<Self, String> {
        paths
            .iter()
            .map(|path| Url::parse(&format!("{base}{path}")))
            .collect::<Result<_, _>>()
            .map(|urls| Self(Some(urls)))
            .map_err(|fault| format!("BENCH_UPSTREAM {base}: {fault}"))
    }
}

/// The upstream and its HTTP client. The pool of connections is unlimited and keeps them alive for 90 s.
pub struct Upstream {
    client: Client,
    fixtures: Fixtures,
}

/// The rows of all fixtures in the order of the list.
pub struct Gathered {
    pub rows: Vec<Value>,
    took: Duration,
}

/// The reason for having no answer, and the HTTP status to report it with.
#[derive(Debug, Serialize)]
pub struct Refusal {
    #[serde(skip)]
    pub status: u16,
    pub error: String,
}

impl Upstream {
    /// Panics if the client cannot be created, which needs nothing but memory.
    pub fn new(fixtures: Fixtures) -> Self {
        let client = Client::builder()
            .timeout(FETCH_TIMEOUT)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .build()
            .expect("a client without TLS");
        Self { client, fixtures }
    }

    /// Fetches all fixtures concurrently, parses and merges them. Returns all rows or an error.
    pub async fn gather(&self) -> Result<Gathered, Refusal> {
        let Fixtures(Some(urls)) = &self.fixtures else {
            return Err(Refusal {
                status: 503,
                error: "BENCH_UPSTREAM is not set".into(),
            });
        };
        let start = Instant::now();
        let fetched = try_join_all(urls.iter().map(|url| self.fetch(url)))
            .await
            .map_err(|error| Refusal {
                status: 502,
                error: format!("upstream: {error}"),
            })?;
        let rows = fetched.into_iter().flatten().collect();
        Ok(Gathered {
            rows,
            took: start.elapsed(),
        })
    }

    async fn fetch(&self, url: &Url) -> Result<Vec<Value>, String> {
        let response = self.client.get(url.clone()).send().await.map_err(explain)?;
        match response.status() {
            StatusCode::OK => response.json().await.map_err(explain),
            status => Err(format!("status {status} for {url}")),
        }
    }
}

impl Gathered {
    /// Returns the value of the header `Server-Timing`: the time from the first fetch to the merged rows, in ms.
    pub fn timing(&self) -> String {
        format!("gather;dur={:.3}", self.took.as_secs_f64() * 1e3)
    }
}

/// Returns the text of an error with all of its causes.
fn explain(error: reqwest::Error) -> String {
    let causes = iter::successors(Some(&error as &dyn Error), |&cause| cause.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        sync::Barrier,
    };

    use super::*;

    const PATHS: [&str; 3] = ["/c", "/a", "/b"];

    /// Starts an upstream that answers `answer(path)`, status and body, once all of `PATHS` are requested.
    async fn serve(answer: fn(&str) -> (u16, String)) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let all = Arc::new(Barrier::new(PATHS.len()));
            while let Ok((mut socket, _)) = listener.accept().await {
                let all = all.clone();
                tokio::spawn(async move {
                    let mut head = [0; 1024];
                    let length = socket.read(&mut head).await.unwrap();
                    let head = String::from_utf8_lossy(&head[..length]);
                    let (status, body) = answer(head.split(' ').nth(1).unwrap());
                    all.wait().await;
                    let length = body.len();
                    let answer =
                        format!("HTTP/1.1 {status} S\r\ncontent-length: {length}\r\n\r\n{body}");
                    socket.write_all(answer.as_bytes()).await.ok();
                });
            }
        });
        Upstream::new(Fixtures::at(&base, &PATHS.map(String::from)).unwrap())
    }

    #[tokio::test]
    async fn all_are_in_flight_at_once_and_merged_in_the_order_of_the_list() {
        let upstream = serve(|path| (200, json!([{ "of": path }, { "x": 0.1 }]).to_string())).await;
        let gathered = upstream.gather().await.unwrap();
        let rows = ["/c", "/a", "/b"].map(|path| [json!({ "of": path }), json!({ "x": 0.1 })]);
        assert_eq!(gathered.rows, rows.concat());
    }

    #[tokio::test]
    async fn what_goes_wrong_with_one_is_told_and_nothing_of_the_others() {
        for (answer, fault) in [
            ((|_| (500, "[]".into())) as fn(&str) -> _, "status 500"),
            (
                |path| (if path == "/b" { 302 } else { 200 }, "[]".into()),
                "status 302",
            ),
            (|_| (200, "{}".into()), "expected a sequence"),
            (|_| (200, "[".into()), "EOF"),
        ] {
            let refusal = serve(answer).await.gather().await.err().unwrap();
            assert_eq!(refusal.status, 502);
            assert!(refusal.error.starts_with("upstream: "), "{}", refusal.error);
            assert!(refusal.error.contains(fault), "{}", refusal.error);
        }
    }

    #[tokio::test]
    async fn nothing_listens() {
        let closed = Fixtures::at("http://127.0.0.1:1", &["/a".into()]).unwrap();
        let refusal = Upstream::new(closed).gather().await.err().unwrap();
        assert_eq!(refusal.status, 502);
        assert!(refusal.error.contains("refused"), "{}", refusal.error);
    }

    #[tokio::test]
    async fn run_by_hand_there_is_nothing_to_gather() {
        let refusal = Upstream::new(Fixtures(None)).gather().await.err().unwrap();
        assert_eq!(refusal.status, 503);
        let body = serde_json::to_string(&refusal).unwrap();
        assert_eq!(body, r#"{"error":"BENCH_UPSTREAM is not set"}"#);
    }

    #[test]
    fn the_header_has_three_decimals() {
        let took = Duration::from_micros(12_345);
        let gathered = Gathered { rows: vec![], took };
        assert_eq!(gathered.timing(), "gather;dur=12.345");
    }
}
