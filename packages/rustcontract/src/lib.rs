//! The code that the Rust stacks share: settings, golden data, the upstream of `gather`, attestation.

mod attest;
mod devices;
mod gather;
mod settings;
mod work;

use std::{env, fs, process, time::Duration};

use serde::de::DeserializeOwned;

pub use attest::attest;
pub use devices::Device;
pub use gather::{Fixtures, Gathered, Refusal, Upstream};
pub use settings::{BACKLOG, KEEP_ALIVE_SECONDS, STOP_SECONDS, Settings};
pub use work::{Worked, asyncfib, asyncwait, fib, wait};

/// The inputs of a server at its start.
pub struct Start {
    pub settings: Settings,
    pub devices: Vec<Device>,
    pub fixtures: Fixtures,
    /// The duration of `GET /wait`.
    pub wait: Duration,
}

impl Start {
    /// Reads the command line and the files that the environment names, and raises the soft limit of open files.
    /// For invalid input, prints one line on stderr and ends the process with status 2.
    pub fn read() -> Self {
        rlimit::increase_nofile_limit(u64::MAX).ok();
        Self::try_read().unwrap_or_else(|fault| {
            eprintln!("{fault}");
            process::exit(2)
        })
    }

    fn try_read() -> Result<Self, String> {
        Ok(Self {
            settings: Settings::parse(env::args().skip(1))?,
            devices: devices::load()?,
            fixtures: Fixtures::load()?,
            wait: work::load_wait()?,
        })
    }
}

/// Reads the JSON file that an environment variable names; `None` if it is unset.
fn load_json<T: DeserializeOwned>(variable: &str) -> Result<Option<T>, String> {
    let Ok(file) = env::var(variable) else {
        return Ok(None);
    };
    let text = fs::read(&file).map_err(|error| format!("{variable}: {file}: {error}"))?;
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| format!("{variable}: {file}: {error}"))
}
