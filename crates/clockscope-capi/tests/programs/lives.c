/* Reads the clock where programs are at their ends and beginnings: in forked children, signal
 * handlers, destructors of threads and of the process. Prints what is wrong, and ends with the
 * number of such lines. Arguments choose the parts: fork, signal, thread; without any, all. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope_wall.h>

#include "expect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The latest reading of all. Each takes one that is not smaller. */
static uint64_t latest;

static void read_on(void) {
  const uint64_t known = __atomic_load_n(&latest, __ATOMIC_ACQUIRE), now = clockscope_now();
  EXPECT(now >= known && now > 0);
  __atomic_store_n(&latest, now, __ATOMIC_RELEASE);
}

/* Less for tools under which every instruction takes its time. */
#ifdef FEW_TURNS
enum { TURNS = 5000 };
#else
enum { TURNS = 100000 };
#endif

/* Often enough for the counter to be served, where it may be. */
static void read_often(void) {
  int turn;
  for (turn = 0; turn < TURNS; ++turn) {
    read_on();
  }
}

/* ---- Forks ---- */

/* Forks until the depth is 0. Every child goes on where its parent was. */
static void check_fork(int depth) {
  const uint64_t generation = clockscope_generation(), booted = clockscope_boot_now();
  int status = 0;
  pid_t child;
  read_often();
  fflush(stdout);
  child = fork();
  if (child == 0) {
    /* The first question of all; a reading may ask others. */
    EXPECT(clockscope_page_v1() != NULL);
    read_on();
    EXPECT(clockscope_generation() != generation || generation == 0);
    read_often();
    EXPECT(clockscope_wall_now() > INT64_C(1600000000000000000));
    EXPECT(clockscope_boot_now() >= booted);
    EXPECT(clockscope_prepare() == CLOCKSCOPE_OK);
    if (depth > 0) {
      check_fork(depth - 1);
    }
    fflush(stdout);
    _exit(wrong);
  }
  EXPECT(child > 0);
  read_often();
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- Signal handlers ---- */

static volatile sig_atomic_t handled, went_back, failed;
/* The main program's latest reading before the signal. */
static uint64_t before_signal;

static void handle(int number) {
  const uint64_t known = __atomic_load_n(&before_signal, __ATOMIC_ACQUIRE), now = clockscope_now();
  const int interrupted = errno;
  int64_t earliest, end;
  clockscope_anchor anchor;
  clockscope_bound bound;
  uint64_t read;
  (void)number;
  errno = 4321;
  went_back = went_back || now < known;
  failed = failed || clockscope_now_unordered() == 0 || clockscope_wall_now() == 0 ||
           clockscope_boot_now() == 0 || clockscope_bounded_now(&earliest, &end) < 0 ||
           clockscope_source() < 0 ||
           clockscope_error_bound(&bound) < 0 || clockscope_wall_error_bound(&bound) < 0 ||
           clockscope_boot_error_bound(&bound) < 0 ||
           clockscope_try_now(&read) < 0 || read < known || clockscope_anchor_now(&anchor) < 0 ||
           clockscope_anchor_is_current(anchor) < 0 || errno != 4321;
  /* What the main program reads next is not smaller. */
  __atomic_store_n(&latest, clockscope_now(), __ATOMIC_RELEASE);
  ++handled;
  errno = interrupted;
}

static void check_signals(void) {
  struct sigaction action;
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
  EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (handled < 200) {
    uint64_t known, now;
    __atomic_store_n(&before_signal, clockscope_now(), __ATOMIC_RELEASE);
    known = __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
    now = clockscope_now();
    EXPECT(now >= known);
  }
  EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
  EXPECT(!went_back && !failed);
}

/* ---- Threads ---- */

static pthread_key_t key;
static int destroyed;

/* After the thread's function, and after its thread-locals that C++ and Rust destroy. */
static void destroy(void *value) {
  (void)value;
  read_on();
  EXPECT(clockscope_wall_now() > 0 && clockscope_boot_now() > 0 && clockscope_source() >= 0);
  ++destroyed;
}

static void *live(void *argument) {
  clockscope_stopwatch watch = CLOCKSCOPE_STOPWATCH_INIT;
  uint64_t elapsed = UINT64_MAX;
  EXPECT(pthread_setspecific(key, argument) == 0);
  clockscope_stopwatch_start(&watch);
  read_on();
  EXPECT(clockscope_stopwatch_elapsed(&watch, &elapsed) == CLOCKSCOPE_OK && elapsed < UINT64_MAX);
  return NULL;
}

/* One after the other, so that their readings are in order. */
static void check_threads(void) {
  int turn;
  EXPECT(pthread_key_create(&key, destroy) == 0);
  for (turn = 0; turn < 200; ++turn) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, live, &key) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    read_on();
  }
  EXPECT(destroyed == 200);
}

/* ---- The process ---- */

static void end(void) {
  read_on();
  if (wrong) {
    fflush(stdout);
    _exit(1);
  }
}

__attribute__((__constructor__)) static void begin(void) { read_on(); }
__attribute__((__destructor__)) static void end_last(void) { end(); }

int main(int count, char **arguments) {
  const char *part = count > 1 ? arguments[1] : "";
  EXPECT(atexit(end) == 0);
  if (!*part || strcmp(part, "fork") == 0) {
    check_fork(2);
  }
  if (!*part || strcmp(part, "signal") == 0) {
    check_signals();
  }
  if (!*part || strcmp(part, "thread") == 0) {
    check_threads();
  }
  return wrong;
}
