const http = require('node:http');
const stop = new AbortController();

http
  .createServer((request, response) => {
    const gone = new AbortController();
    const either = AbortSignal.any([stop.signal, gone.signal]);
    either.addEventListener('abort', () => response.destroy());
    response.end(either.aborted ? 'stopping' : 'fine');
  })
  .listen(Number(process.env.PORT ?? 3000));
