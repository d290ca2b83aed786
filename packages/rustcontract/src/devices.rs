//! The golden devices: the answer to `GET /api/devices`.

use serde::{Deserialize, Serialize};

use crate::load_json;

/// One device. The times are ISO 8601 strings and are returned as received.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    id: u64,
    uuid: String,
    mac: String,
    firmware: String,
    created_at: String,
    updated_at: String,
}

/// Returns the devices of the JSON file that `BENCH_DEVICES` names, or a short list if a server is started by hand.
pub fn load() -> Result<Vec<Device>, String> {
    Ok(load_json("BENCH_DEVICES")?.unwrap_or_else(|| (1..=3).map(by_hand).collect()))
}

fn by_hand(id: u64) -> Device {
    Device {
        id,
        uuid: format!("00000000-0000-4000-8000-00000000000{id}"),
        mac: format!("5E:00:00:00:00:0{id}"),
        firmware: format!("1.0.{id}"),
        created_at: "2025-01-01T00:00:00.000Z".into(),
        updated_at: "2025-01-01T00:00:00.000Z".into(),
    }
}
