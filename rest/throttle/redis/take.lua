-- Counts one request in the sliding log of a key, if there is room for it.
--
-- KEYS[1]  the log: triples of first time, last time and count, oldest first, packed
-- ARGV[1]  the limit
-- ARGV[2]  the window, in microseconds
-- ARGV[3]  now, in microseconds, or empty for the server's clock
--
-- Returns whether the request is allowed (1 or 0), how many more would be, and in
-- microseconds the time until all of the limit is back and until one more is allowed.

local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local old = {}
local packed = redis.call('GET', KEYS[1])
if packed then
  old = cmsgpack.unpack(packed)
end

-- A server that takes over from another one may have an earlier clock. Time stands still
-- until it has caught up, so that the log stays in order.
if #old > 0 and old[#old - 1] > now then
  now = old[#old - 1]
end

local log, used = {}, 0
for i = 1, #old, 3 do
  if old[i + 1] > now - window then
    log[#log + 1] = old[i]
    log[#log + 1] = old[i + 1]
    log[#log + 1] = old[i + 2]
    used = used + old[i + 2]
  end
end

if used >= limit then
  local left, wait = used, 0
  for i = 1, #log, 3 do
    left = left - log[i + 2]
    if left < limit then
      wait = log[i + 1] + window - now
      break
    end
  end
  return {0, 0, log[#log - 1] + window - now, wait}
end

local grain = 0
if limit > 64 then
  grain = math.floor(window / 64)
end
local last = #log - 2
if last > 0 and (log[last + 1] == now or now - log[last] < grain) then
  log[last + 1] = now
  log[last + 2] = log[last + 2] + 1
else
  log[#log + 1] = now
  log[#log + 1] = now
  log[#log + 1] = 1
end
redis.call('SET', KEYS[1], cmsgpack.pack(log), 'PX', math.ceil(window / 1000))
return {1, limit - used - 1, window, 0}
