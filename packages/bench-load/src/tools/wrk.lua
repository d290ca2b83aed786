-- Prints what wrk found as one line of JSON, in its own units: µs.
local PERCENTILES = { 50, 75, 90, 97.5, 99, 99.9 }

function done(summary, latency)
  local errors = {}
  for name, count in pairs(summary.errors) do
    table.insert(errors, string.format('"%s":%d', name, count))
  end
  local percentiles = {}
  for _, percentile in ipairs(PERCENTILES) do
    table.insert(percentiles, string.format('"%s":%d', percentile, latency:percentile(percentile)))
  end
  print(string.format(
    '\nbench-wrk {"duration":%d,"requests":%d,"errors":{%s},"latency":{"mean":%.3f,"max":%d,"percentiles":{%s}}}',
    summary.duration, summary.requests, table.concat(errors, ","),
    latency.mean, latency.max, table.concat(percentiles, ",")))
end
