//! The attestation of a live server: one line on stdout, `bench-attest {json}`.

use std::process;

use serde_json::json;

use crate::Settings;

/// Prints the attestation. Call it once the server listens; `framework` and `server` are crates.
pub fn attest(framework: &str, server: &str, settings: Settings) {
    let line = json!({
        "pid": process::id(),
        "implementation": "rust",
        "version": env!("BENCH_RUSTC"),
        "optLevel": env!("BENCH_OPT_LEVEL"),
        "rustflags": env!("BENCH_RUSTFLAGS"),
        "workers": settings.workers,
        "loop": locked("tokio"),
        "framework": locked(framework),
        "server": locked(server),
        "json": "serde_json",
        "jsonVersion": version_of("serde_json"),
        "client": locked("reqwest"),
    });
    println!("bench-attest {line}");
}

/// A crate with its version.
fn locked(name: &str) -> String {
    format!("{name} {}", version_of(name))
}

/// Returns the version of a crate in the lock, and so in this binary.
fn version_of(name: &str) -> &'static str {
    let start = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = include_str!("../Cargo.lock")
        .split_once(&start)
        .expect("the crate is in the lock");
    rest.split('"').next().expect("its version")
}
