// A service with a function that burns PLANTED_US of CPU per request.
import { createServer } from 'node:http';

let steps = 20_000;

function planted() {
  let total = 0;
  for (let step = 0; step < steps; step++) total = (total * 31 + step) | 0;
  return total;
}

/** Finds out how many steps take that long, once they are compiled. */
function calibrate(microseconds) {
  for (let call = 0; call < 300; call++) planted();
  const start = process.hrtime.bigint();
  for (let call = 0; call < 100; call++) planted();
  const nanoseconds = Number(process.hrtime.bigint() - start) / 100;
  steps = Math.round((steps * microseconds * 1000) / nanoseconds);
}

calibrate(Number(process.env.PLANTED_US));
const server = createServer((request, response) => {
  if (steps > 0) planted();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ message: 'hello', path: new URL(request.url, 'http://x').pathname }));
});
server.listen(Number(process.env.PORT), process.env.HOST);
process.once('SIGTERM', () => process.exit());
