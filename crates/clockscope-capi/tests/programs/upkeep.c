/* Calls everything that clockscope_upkeep.h declares, as C and as C++. Prints what is wrong, and
 * ends with the number of such lines. */

#include <clockscope_upkeep.h>

#include "expect.h"

#include <errno.h>
#include <stdio.h>

#if !defined(_WIN32)
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MILLISECOND_NS UINT64_C(1000000)
#define HOUR_NS UINT64_C(3600000000000)

/* Threads of this process, as Linux lists them; 1 elsewhere. */
static int threads(void) {
  int count = 1;
#if defined(__linux__)
  DIR *tasks = opendir("/proc/self/task");
  EXPECT(tasks != NULL);
  /* Two entries are not threads. */
  for (count = -2; readdir(tasks) != NULL; ++count) {
  }
  closedir(tasks);
#endif
  return count;
}

/* A thread that has ended stays on the list for a moment. */
static void expect_one_thread(void) {
  const uint64_t before = clockscope_now();
  while (threads() > 1 && clockscope_now() < before + 2000 * MILLISECOND_NS) {
  }
  EXPECT(threads() == 1);
}

/* The time goes on as the thread writes it down, and is never later than now. */
static void check_upkeep(void) {
  clockscope_upkeep *upkeep = NULL;
  const uint64_t before = clockscope_now();
  uint64_t first, last;
  EXPECT(clockscope_upkeep_start(MILLISECOND_NS, &upkeep) == CLOCKSCOPE_OK && upkeep);
  EXPECT(clockscope_upkeep_is_running(upkeep) == 1);
  first = clockscope_upkeep_recent(upkeep);
  EXPECT(first >= before);
  do {
    last = clockscope_upkeep_recent(upkeep);
    EXPECT(last >= first && last <= clockscope_now());
  } while (last < first + 3 * MILLISECOND_NS);
  EXPECT(clockscope_upkeep_stop(upkeep) == CLOCKSCOPE_OK);
  expect_one_thread();
}

/* A period that is not over yet does not delay the end, and the time stands still in it, once the
 * thread has begun: a busy machine may let it begin late. */
static void check_long_period(void) {
  clockscope_upkeep *upkeep = NULL;
  const uint64_t before = clockscope_now();
  uint64_t recent, last;
  int changes = 0;
  EXPECT(clockscope_upkeep_start(HOUR_NS, &upkeep) == CLOCKSCOPE_OK);
  last = clockscope_upkeep_recent(upkeep);
  while (clockscope_now() < before + 60 * MILLISECOND_NS) {
    recent = clockscope_upkeep_recent(upkeep);
    changes += recent != last;
    last = recent;
  }
  EXPECT(changes <= 1);
  EXPECT(clockscope_upkeep_stop(upkeep) == CLOCKSCOPE_OK);
  EXPECT(clockscope_now() < before + HOUR_NS / 60);
}

static void check_nulls(void) {
  const uint64_t before = clockscope_now();
  EXPECT(clockscope_upkeep_start(MILLISECOND_NS, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_upkeep_is_running(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_upkeep_stop(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_upkeep_recent(NULL) >= before);
}

/* A child has no such thread, and the time goes on by the clock. Windows has no forks, and tools
 * that count memory report what the parent's thread owns as lost to the child. */
#if !defined(_WIN32) && !defined(FEW_TURNS)
static void check_fork(void) {
  clockscope_upkeep *upkeep = NULL;
  int status = 0;
  pid_t child;
  EXPECT(clockscope_upkeep_start(HOUR_NS, &upkeep) == CLOCKSCOPE_OK);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    const uint64_t first = clockscope_upkeep_recent(upkeep);
    clockscope_upkeep *own = NULL;
    EXPECT(clockscope_upkeep_is_running(upkeep) == 0);
    while (clockscope_upkeep_recent(upkeep) == first) {
    }
    EXPECT(clockscope_upkeep_stop(upkeep) == CLOCKSCOPE_OK);
    EXPECT(clockscope_upkeep_start(MILLISECOND_NS, &own) == CLOCKSCOPE_OK);
    EXPECT(clockscope_upkeep_is_running(own) == 1);
    EXPECT(clockscope_upkeep_stop(own) == CLOCKSCOPE_OK);
    fflush(stdout);
    _exit(wrong);
  }
  EXPECT(child > 0);
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(clockscope_upkeep_is_running(upkeep) == 1);
  EXPECT(clockscope_upkeep_stop(upkeep) == CLOCKSCOPE_OK);
}
#endif

int main(void) {
  errno = 1234;
  check_upkeep();
  check_long_period();
  check_nulls();
  EXPECT(errno == 1234);
#if !defined(_WIN32) && !defined(FEW_TURNS)
  check_fork();
#endif
  return wrong;
}
