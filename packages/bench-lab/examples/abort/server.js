const http = require('node:http');
const stop = new AbortController();

http
  .createServer((request, response) => {
    const gone = new AbortController();
    request.once('close', () => gone.abort());
    response.end(stop.signal.aborted ? 'stopping' : 'fine');
  })
  .listen(Number(process.env.PORT ?? 3000));
