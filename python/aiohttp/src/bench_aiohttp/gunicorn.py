"""aiohttp's server in the processes of gunicorn."""

from aiohttp.worker import GunicornUVLoopWebWorker, GunicornWebWorker

from bench_aiohttp.server import name_parser


class Worker(GunicornWebWorker):
    """aiohttp's worker, which attests as soon as it listens."""

    has_attested = False

    def notify(self) -> None:
        """Tell gunicorn that this worker is alive: aiohttp calls it once it serves, then each second."""
        super().notify()
        if not self.has_attested:
            self.has_attested = True
            for listener in self.sockets:
                listener.listen(self.cfg.backlog)  # aiohttp has listened with its default of 128
            self.app.attest(http=name_parser(), server="aiohttp")


class UVLoopWorker(Worker, GunicornUVLoopWebWorker):
    """The same on uvloop."""
