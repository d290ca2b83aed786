/* Preloaded into a server whose sources name its port: BENCH_PORT_FROM, which it binds to, becomes BENCH_PORT_TO. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int bind(int socket, const struct sockaddr *address, socklen_t length) {
  int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
  const char *from = getenv("BENCH_PORT_FROM");
  const char *to = getenv("BENCH_PORT_TO");
  struct sockaddr_storage moved = {0};
  if (from == NULL || to == NULL || address == NULL || length > sizeof moved) return next(socket, address, length);
  memcpy(&moved, address, length);
  in_port_t *port = moved.ss_family == AF_INET    ? &((struct sockaddr_in *)&moved)->sin_port
                    : moved.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)&moved)->sin6_port
                                                  : NULL;
  if (port == NULL || ntohs(*port) != atoi(from)) return next(socket, address, length);
  *port = htons(atoi(to));
  return next(socket, (struct sockaddr *)&moved, length);
}
