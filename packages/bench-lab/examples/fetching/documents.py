import asyncio
import sys

BODY = b'{"name": "a document", "text": "' + b"x" * 1000 + b'"}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)


class Documents(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write((HEAD + BODY) * data.count(b"\r\n\r\n"))


async def serve(port: int):
    server = await asyncio.get_running_loop().create_server(Documents, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(serve(int(sys.argv[1])))
