//! `GET /api/devices` by actix-web: replace it by another framework.

use std::{io, time::Duration};

use actix_web::{App, HttpServer, Responder, get, web};
use bench_contract::{BACKLOG, Device, KEEP_ALIVE_SECONDS, STOP_SECONDS, Start, attest};

#[get("/api/devices")]
async fn devices(devices: web::Data<Vec<Device>>) -> impl Responder {
    web::Json(devices)
}

#[actix_web::main]
async fn main() -> io::Result<()> {
    let Start {
        settings,
        devices: golden,
        ..
    } = Start::read();
    let golden = web::Data::new(golden);
    let server = HttpServer::new(move || App::new().app_data(golden.clone()).service(devices))
        .workers(settings.workers)
        .backlog(BACKLOG)
        .tcp_nodelay(true)
        .keep_alive(Duration::from_secs(KEEP_ALIVE_SECONDS))
        .shutdown_timeout(STOP_SECONDS)
        .bind((settings.host, settings.port))?;
    attest("actix-web", "actix-http", settings);
    server.run().await
}
