import asyncio
import sys

BODY = b'{"name": "a document", "text": "%s"}' % (b"x" * 1000)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)


async def answer(reader, writer):
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(HEAD + BODY)


async def serve():
    await (await asyncio.start_server(answer, "127.0.0.1", int(sys.argv[1]))).serve_forever()


asyncio.run(serve())
