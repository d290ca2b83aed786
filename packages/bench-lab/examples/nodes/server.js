const http = require('node:http');
const items = require('./items');
http
  .createServer((req, res) => {
    const body = JSON.stringify(items);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    res.end(body);
  })
  .listen(Number(process.env.PORT || 3000));
