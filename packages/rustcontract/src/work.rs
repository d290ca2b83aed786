//! The work of `GET /fib/{n}` and `GET /wait`, and its duration.

use std::{
    env,
    pin::Pin,
    time::{Duration, Instant},
};

use serde::Serialize;

/// One Fibonacci number.
#[derive(Serialize)]
pub struct Fib {
    fib: u64,
}

/// The duration of the wait, in seconds.
#[derive(Serialize)]
pub struct Wait {
    duration: f64,
}

/// The result of the work, and its duration.
pub struct Worked<T> {
    pub body: T,
    name: &'static str,
    took: Duration,
}

impl<T> Worked<T> {
    /// Returns the headers with the duration: `X-Process-Time` in seconds, `Server-Timing` in ms.
    pub fn headers(&self) -> [(&'static str, String); 2] {
        let seconds = self.took.as_secs_f64();
        [
            ("X-Process-Time", format!("{seconds:.6}")),
            (
                "Server-Timing",
                format!("{};dur={:.3}", self.name, seconds * 1000.0),
            ),
        ]
    }
}

/// Computes fib(n) with fib(0) = fib(1) = 1, by naive recursion.
pub fn fib(n: u32) -> Worked<Fib> {
    let start = Instant::now();
    let fib = count(n);
    tell("fib", start, Fib { fib })
}

/// Computes the same with futures that are never pending.
pub async fn asyncfib(n: u32) -> Worked<Fib> {
    let start = Instant::now();
    let fib = count_async(n).await;
    tell("fib", start, Fib { fib })
}

/// Waits with `sleep` for the given time.
pub async fn asyncwait<S: Future<Output = ()>>(
    duration: Duration,
    sleep: impl FnOnce(Duration) -> S,
) -> Worked<Wait> {
    let start = Instant::now();
    sleep(duration).await;
    tell("wait", start, Wait::of(duration))
}

/// Blocks the thread for the given time.
pub fn wait(duration: Duration) -> Worked<Wait> {
    let start = Instant::now();
    std::thread::sleep(duration);
    tell("wait", start, Wait::of(duration))
}

impl Wait {
    fn of(duration: Duration) -> Self {
        Self {
            duration: duration.as_secs_f64(),
        }
    }
}

/// Returns the duration of the wait: `BENCH_WAIT_MS`, or 50 ms if it is not set.
pub(crate) fn load_wait() -> Result<Duration, String> {
    let Ok(text) = env::var("BENCH_WAIT_MS") else {
        return Ok(Duration::from_millis(50));
    };
    let milliseconds = text
        .parse()
        .map_err(|error| format!("BENCH_WAIT_MS: {text}: {error}"))?;
    Ok(Duration::from_millis(milliseconds))
}

fn count(n: u32) -> u64 {
    if n < 2 {
        1
    } else {
        count(n - 1) + count(n - 2)
    }
}

fn count_async(n: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            1
        } else {
            count_async(n - 1).await + count_async(n - 2).await
        }
    })
}

fn tell<T>(name: &'static str, start: Instant, body: T) -> Worked<T> {
    let took = start.elapsed();
    Worked { body, name, took }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn begins_with_one_and_one_either_way() {
        for (n, number) in [(0, 1), (1, 1), (2, 2), (10, 89)] {
            assert_eq!(fib(n).body.fib, number);
            assert_eq!(asyncfib(n).await.body.fib, number);
        }
    }

    #[test]
    fn waits_and_tells_in_seconds_and_in_ms() {
        let waited = wait(Duration::from_millis(5));
        assert!(waited.took >= Duration::from_millis(5));
        let told = Worked {
            took: Duration::from_micros(50_250),
            ..waited
        };
        let [process, timing] = told.headers();
        assert_eq!(process, ("X-Process-Time", "0.050250".into()));
        assert_eq!(timing, ("Server-Timing", "wait;dur=50.250".into()));
        assert_eq!(
            serde_json::to_string(&told.body).unwrap(),
            r#"{"duration":0.005}"#
        );
    }
}
