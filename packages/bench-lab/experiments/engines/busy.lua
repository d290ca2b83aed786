-- Keeps wrk busy after each answer, as a slower client is.
local turns = tonumber(os.getenv("TURNS"))

function response()
  local number = 1
  for turn = 1, turns do number = (number * 31 + turn) % 65521 end
  if number < 0 then print(number) end
end
