//! The command-line settings of a server.

use std::{
    net::{IpAddr, Ipv4Addr},
    num::{NonZeroU16, NonZeroUsize},
    str::FromStr,
};

/// The length of the accept queue: more than the highest rung. The kernel may allow fewer.
pub const BACKLOG: u32 = 16_384;

/// The server may close a connection that is idle for this long. No load pauses longer.
pub const KEEP_ALIVE_SECONDS: u64 = 75;

/// The time that a stopping server waits for requests in progress.
pub const STOP_SECONDS: u64 = 2;

/// The address to listen on, and the number of worker threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub host: IpAddr,
    pub port: u16,
    pub workers: usize,
}

impl Settings {
    /// Parses `--host`, `--port` and `--workers`; returns an error message for anything else.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 8080,
            workers: 1,
        };
        let mut args = args.into_iter();
        while let Some(option) = args.next() {
            let value = args.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--host" => settings.host = read(&option, &value)?,
                "--port" => settings.port = read::<NonZeroU16>(&option, &value)?.get(),
                "--workers" => settings.workers = read::<NonZeroUsize>(&option, &value)?.get(),
                _ => return Err(format!("{option}: there are --host, --port and --workers")),
            }
        }
        Ok(settings)
    }
}

fn read<T: FromStr<Err: ToString>>(option: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|fault: T::Err| format!("{option} {value}: {}", fault.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Settings, String> {
        Settings::parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn everything_can_be_said_or_left_away() {
        let by_hand = parse("").unwrap();
        assert_eq!((by_hand.port, by_hand.workers), (8080, 1));
        assert!(by_hand.host.is_loopback());
        let told = parse("--host ::1 --port 9 --workers 2").unwrap();
        assert_eq!(told.host.to_string(), "::1");
        assert_eq!((told.port, told.workers), (9, 2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, fault) in [
            ("--port 0", "--port 0: "),
            ("--port 65536", "--port 65536: "),
            ("--workers many", "--workers many: "),
            ("--host nowhere", "--host nowhere: "),
            ("--port", "--port needs a value"),
            ("--colour red", "--colour: there are"),
        ] {
            let told = parse(line).unwrap_err();
            assert!(told.starts_with(fault), "{told}");
        }
    }
}
