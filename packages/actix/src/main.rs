//! The workloads `devices`, `gather`, `fib`, `asyncfib`, `wait` and `asyncwait` by actix-web.

use std::{io, time::Duration};

use actix_web::{
    App, HttpResponse, HttpServer, Responder, error::BlockingError, get, http::StatusCode,
    rt::time, web,
};
use bench_contract::{
    BACKLOG, Device, KEEP_ALIVE_SECONDS, STOP_SECONDS, Start, Upstream, Worked, attest,
};
use serde::Serialize;

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

#[get("/fib/{n}")]
async fn fib(n: web::Path<u32>) -> Result<HttpResponse, BlockingError> {
    let n = n.into_inner();
    Ok(tell(web::block(move || bench_contract::fib(n)).await?))
}

#[get("/asyncfib/{n}")]
async fn asyncfib(n: web::Path<u32>) -> HttpResponse {
    tell(bench_contract::asyncfib(n.into_inner()).await)
}

#[get("/wait")]
async fn wait(duration: web::Data<Duration>) -> Result<HttpResponse, BlockingError> {
    let worked = web::block(move || bench_contract::wait(**duration)).await?;
    Ok(tell(worked))
}

#[get("/asyncwait")]
async fn asyncwait(duration: web::Data<Duration>) -> HttpResponse {
    tell(bench_contract::asyncwait(**duration, time::sleep).await)
}

fn tell<T: Serialize>(worked: Worked<T>) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    for header in worked.headers() {
        answer.insert_header(header);
    }
    answer.json(worked.body)
}

#[actix_web::main]
async fn main() -> io::Result<()> {
    let Start {
        settings,
        devices: golden,
        fixtures,
        wait: duration,
    } = Start::read();
    let golden = web::Data::new(golden);
    let duration = web::Data::new(duration);
    let app = move || {
        // A client for each worker: a connection stays on the thread that opened it.
        let upstream = web::Data::new(Upstream::new(fixtures.clone()));
        App::new()
            .app_data(golden.clone())
            .app_data(upstream)
            .service(devices)
            .app_data(duration.clone())
            .service(data)
            .service(fib)
            .service(asyncfib)
            .service(wait)
            .service(asyncwait)
    };
    let server = HttpServer::new(app)
        .workers(settings.workers)
        .backlog(BACKLOG)
        .tcp_nodelay(true)
        .keep_alive(Duration::from_secs(KEEP_ALIVE_SECONDS))
        .shutdown_timeout(STOP_SECONDS)
        .bind((settings.host, settings.port))?;
    attest("actix-web", "actix-http", settings);
    server.run().await
}
