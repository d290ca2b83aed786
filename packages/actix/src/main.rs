//! `GET /api/devices` and `GET /data` by actix-web.

use std::{io, time::Duration};

use actix_web::{App, HttpResponse, HttpServer, Responder, get, http::StatusCode, web};
use bench_contract::{BACKLOG, Device, KEEP_ALIVE_SECONDS, STOP_SECONDS, Start, Upstream, attest};

#[get("/api/devices")]
async fn devices(devices: web::Data<Vec<Device>>) -> impl Responder {
    web::Json(devices)
}

#[get("/data")]
async fn data(upstream: web::Data<Upstream>) -> HttpResponse {
    match upstream.gather().await {
        Ok(gathered) => HttpResponse::Ok()
            .insert_header(("Server-Timing", gathered.timing()))
            .json(gathered.rows),
        Err(refusal) => {
            let status = StatusCode::from_u16(refusal.status).expect("a status of HTTP");
            HttpResponse::build(status).json(refusal)
        }
    }
}

#[actix_web::main]
async fn main() -> io::Result<()> {
    let Start {
        settings,
        devices: golden,
        fixtures,
    } = Start::read();
    let golden = web::Data::new(golden);
    let app = move || {
        // A client for each worker: a connection stays on the thread that opened it.
        let upstream = web::Data::new(Upstream::new(fixtures.clone()));
        App::new()
            .app_data(golden.clone())
            .app_data(upstream)
            .service(devices)
            .service(data)
    };
    let server = HttpServer::new(app)
        .workers(settings.workers)
        .backlog(BACKLOG)
        .keep_alive(Duration::from_secs(KEEP_ALIVE_SECONDS))
        .shutdown_timeout(STOP_SECONDS)
        .bind((settings.host, settings.port))?;
    attest("actix-web", "actix-http", settings);
    server.run().await
}
