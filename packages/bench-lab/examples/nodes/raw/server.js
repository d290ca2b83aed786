const http = require('node:http');
const items = require('./items');
http
  .createServer((req, res) => {
    const body = JSON.stringify(items);
    const { socket } = req;
    res.detachSocket(socket);
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  })
  .listen(Number(process.env.PORT || 3000));
