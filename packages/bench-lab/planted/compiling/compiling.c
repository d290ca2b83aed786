/*
 * A native server with a thread that has the name of a JVM's compiler. It works in bursts from the first request on; until it rests
 * for good, requests cost three times as much. One thread per connection. Arguments: host, port, µs of CPU for a request, ms
 * that an answer waits, seconds of compilation (0: none, -1: for ever).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BURST_US 100000
#define GAP_MS 2000
#define STEADY_GAP_MS 50

static long request_us, wait_ms, compile_seconds;
static atomic_long began_ms;
static atomic_int is_cold;

static long now(clockid_t clock, long unit_ns) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * (1000000000 / unit_ns) + at.tv_nsec / unit_ns;
}

static void burn(long us) {
  long until = now(CLOCK_THREAD_CPUTIME_ID, 1000) + us;
  while (now(CLOCK_THREAD_CPUTIME_ID, 1000) < until) {
  }
}

static void pause_ms(long ms) {
  struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&span, NULL);
}

static void *compile(void *unused) {
  prctl(PR_SET_NAME, "C2 CompilerThre");
  while (began_ms == 0) pause_ms(10);
  while (compile_seconds < 0 || now(CLOCK_MONOTONIC, 1000000) - began_ms < compile_seconds * 1000) {
    burn(compile_seconds < 0 ? BURST_US / 20 : BURST_US);
    pause_ms(compile_seconds < 0 ? STEADY_GAP_MS : GAP_MS);
  }
  is_cold = 0;
  return unused;
}

static void *serve(void *given) {
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  int connection = (int)(long)given, one = 1;
  char buffer[8192];
  size_t held = 0;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  for (;;) {
    ssize_t read_bytes = read(connection, buffer + held, sizeof buffer - 1 - held);
    if (read_bytes <= 0) break;
    held += (size_t)read_bytes;
    buffer[held] = 0;
    if (strstr(buffer, "\r\n\r\n") == NULL) continue;
    held = 0;
    long none = 0;
    atomic_compare_exchange_strong(&began_ms, &none, now(CLOCK_MONOTONIC, 1000000));
    burn(is_cold ? 3 * request_us : request_us);
    if (wait_ms > 0) pause_ms(wait_ms);
    if (write(connection, answer, sizeof answer - 1) < 0) break;
  }
  close(connection);
  return NULL;
}

int main(int count, char **words) {
  if (count < 6) return 2;
  request_us = atol(words[3]);
  wait_ms = atol(words[4]);
  compile_seconds = atol(words[5]);
  is_cold = compile_seconds > 0;
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[2]))};
  inet_pton(AF_INET, words[1], &address.sin_addr);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1024) < 0) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, compile, NULL);
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    if (connection >= 0 && pthread_create(&thread, NULL, serve, (void *)(long)connection) == 0) pthread_detach(thread);
  }
}
