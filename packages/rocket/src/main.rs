//! `GET /api/devices` and `GET /data` by Rocket.

use std::error::Error;

use bench_contract::{Device, KEEP_ALIVE_SECONDS, Refusal, STOP_SECONDS, Start, Upstream, attest};
use rocket::{
    Config, Responder, State,
    config::{LogLevel, Shutdown},
    fairing::AdHoc,
    get,
    http::{Header, Status},
    routes,
    serde::json::{Json, Value},
    tokio::runtime,
};

/// The gathered rows, with the header that reports the duration.
#[derive(Responder)]
struct Timed {
    rows: Json<Vec<Value>>,
    timing: Header<'static>,
}

#[get("/api/devices")]
fn devices(devices: &State<Vec<Device>>) -> Json<&Vec<Device>> {
    Json(devices)
}

#[get("/data")]
async fn data(upstream: &State<Upstream>) -> Result<Timed, (Status, Json<Refusal>)> {
    match upstream.gather().await {
        Ok(gathered) => Ok(Timed {
            timing: Header::new("Server-Timing", gathered.timing()),
            rows: Json(gathered.rows),
        }),
        Err(refusal) => Err((Status::new(refusal.status), Json(refusal))),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Start {
        settings,
        devices: golden,
        fixtures,
        ..
    } = Start::read();
    let config = Config {
        address: settings.host,
        port: settings.port,
        keep_alive: KEEP_ALIVE_SECONDS as u32,
        log_level: LogLevel::Off,
        shutdown: Shutdown {
            grace: STOP_SECONDS as u32,
            mercy: 0,
            ..Shutdown::default()
        },
        ..Config::release_default()
    };
    let server = rocket::custom(config)
        .manage(golden)
        .manage(Upstream::new(fixtures))
        .mount("/", routes![devices, data])
        .attach(AdHoc::on_liftoff("attest", move |_| {
            Box::pin(async move { attest("rocket", "hyper", settings) })
        }));
    // Rocket's own runtime would take its number of threads from the environment only.
    runtime::Builder::new_multi_thread()
        .worker_threads(settings.workers)
        .enable_all()
        .build()?
        .block_on(server.launch())?;
    Ok(())
}
