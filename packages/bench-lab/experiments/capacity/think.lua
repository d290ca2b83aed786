-- Users who think for exponential times between their requests: with many of them, requests arrive at random. RATE is that of all.
local think = tonumber(os.getenv("CONNECTIONS")) * 1000 / tonumber(os.getenv("RATE"))
local limit = tonumber(os.getenv("LIMIT_US"))

function init()
  math.randomseed(tonumber(os.getenv("SEED")))
end

function delay()
  return -math.log(1 - math.random()) * think
end

function done(summary, latency)
  -- The share of slow answers, to 0.01 %.
  local slow = 0
  for step = 1, 10000 do
    if latency:percentile(step / 100) >= limit then
      slow = (10001 - step) / 10000
      break
    end
  end
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests": %d, "seconds": %f, "slow": %f, "failed": %d}', summary.requests, summary.duration / 1e6, slow, failed))
end
