// SIGUSR2 collects all garbage while nothing else happens. Needs --expose-gc.
process.on('SIGUSR2', () => setTimeout(() => globalThis.gc(), 20));
