//! Passes the compiler version and flags to the crate.

use std::{env, process::Command};

fn main() {
    let rustc = Command::new(env::var_os("RUSTC").expect("cargo names the compiler"))
        .arg("--version")
        .output()
        .expect("the compiler runs");
    let text = String::from_utf8(rustc.stdout).expect("its version is text");
    let version = text.split(' ').nth(1).expect("rustc 1.89.0 (…)");
    let level = env::var("OPT_LEVEL").expect("cargo sets it");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").expect("cargo sets it");
    println!("cargo::rustc-env=BENCH_RUSTC={version}");
    println!("cargo::rustc-env=BENCH_OPT_LEVEL={level}");
    println!(
        "cargo::rustc-env=BENCH_RUSTFLAGS={}",
        flags.replace('\x1f', " ")
    );
}
