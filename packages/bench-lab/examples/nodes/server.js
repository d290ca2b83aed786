const http = require('node:http');
const items = Array.from({ length: 10 }, (_, id) => ({
  id,
  name: `item ${id}`,
  price: id * 1.5,
  tags: ['a', 'b'],
}));
http
  .createServer((req, res) => {
    const body = JSON.stringify(items);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    res.end(body);
  })
  .listen(Number(process.env.PORT || 3000));
