/* Uses a share of the CPU time of its process on top, in the thread that runs, and none while it is idle. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static double share, burnt;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static void burn(int number) {
  double begun = seconds(), now = begun;
  while (burnt + now - begun < share * (begun - burnt)) now = seconds();
  burnt += now - begun;
}

void start(double wanted) {
  struct itimerval often = {{0, 1000}, {0, 1000}};
  struct sigaction action = {.sa_handler = burn, .sa_flags = SA_RESTART};
  share = wanted;
  sigaction(SIGPROF, &action, 0);
  setitimer(ITIMER_PROF, &often, 0);
}
