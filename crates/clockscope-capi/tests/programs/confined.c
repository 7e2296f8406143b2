/* Prepares, then has the kernel kill the process for every system call but clock_gettime, write and
 * exit_group, and takes timestamps of every kind for two seconds: longer than an answer about the
 * time of day lasts. Prints what is wrong, or nothing. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope.h>
#include <clockscope_stamps.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DURATION_NS UINT64_C(2000000000)

/* Often enough for the counter to be served, where it may be. */
#define READS 200000

/* Ends with a line, without a call that is fatal. */
static void fail(const char *text) {
  const ssize_t written = write(STDOUT_FILENO, text, strlen(text));
  syscall(SYS_exit_group, written > 0 ? 1 : 2);
}

#define TEXT_OF(line) #line
#define LINE(line) TEXT_OF(line)
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fail("line " LINE(__LINE__) ": expected " #condition "\n");                                  \
    }                                                                                              \
  } while (0)

#define ALLOW(call)                                                                                \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_clock_gettime),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program;
  program.len = sizeof filter / sizeof filter[0];
  program.filter = filter;
  EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Readings in order: inlined, by the function that inlined ones call, and by the library's. */
static void take_readings(void) {
  uint64_t (*const by_library)(void) = clockscope_now;
  uint64_t (*const after_stores_by_library)(void) = clockscope_now_after_stores;
  uint64_t (*const unordered_by_library)(void) = clockscope_now_unordered;
  int64_t (*const wall_by_library)(void) = clockscope_wall_now;
  uint64_t (*const boot_by_library)(void) = clockscope_boot_now;
  uint64_t times[5];
  int index;
  times[0] = clockscope_now();
  times[1] = clockscope_now_after_stores();
  times[2] = by_library();
  times[3] = after_stores_by_library();
  times[4] = clockscope_now_call();
  for (index = 1; index < 5; ++index) {
    EXPECT(times[index] >= times[index - 1]);
  }
  EXPECT(clockscope_now_unordered() > 0 && unordered_by_library() > 0);
  EXPECT(clockscope_now_unordered_call() > 0);
  EXPECT(clockscope_wall_now() > 0 && wall_by_library() > 0 && clockscope_wall_now_call() > 0);
  times[0] = clockscope_boot_now();
  times[1] = boot_by_library();
  times[2] = clockscope_boot_now_call();
  EXPECT(times[0] > 0 && times[1] >= times[0] && times[2] >= times[1]);
}

/* Stamps and their conversions, but for bounds of the time of day, which ask the kernel. */
static void take_stamps(void) {
  uint64_t stamps[2], moments[2], error_ns = 0;
  int64_t unix_ns = 0;
  stamps[0] = clockscope_stamp();
  EXPECT(clockscope_stamp_unordered() > 0);
  stamps[1] = clockscope_stamp();
  EXPECT(clockscope_stamp_instant(stamps[0], &moments[0], &error_ns) == CLOCKSCOPE_OK);
  EXPECT(clockscope_stamp_instant(stamps[1], &moments[1], NULL) == CLOCKSCOPE_OK);
  EXPECT(moments[0] <= moments[1]);
  EXPECT(clockscope_stamp_wall(stamps[1], &unix_ns) == CLOCKSCOPE_OK && unix_ns > 0);
  EXPECT(clockscope_stamp_instants(stamps, moments, 2) == 2 && moments[0] <= moments[1]);
}

int main(void) {
  int64_t earliest, latest;
  clockscope_bound bound;
  uint64_t began;
  int reads, has_stamps;
  EXPECT(clockscope_prepare() == CLOCKSCOPE_OK);
  EXPECT(clockscope_bounded_now(&earliest, &latest) >= 0);
  has_stamps = clockscope_stamps_counter() == CLOCKSCOPE_OK;
  for (reads = 0; reads < READS; ++reads) {
    take_readings();
  }
  /* Once more, now that the counter may be in use. */
  EXPECT(clockscope_bounded_now(&earliest, &latest) >= 0);
  confine();
  began = clockscope_now();
  while (clockscope_elapsed_ns(began, clockscope_now()) < DURATION_NS) {
    take_readings();
    EXPECT(clockscope_source() >= 0 && clockscope_generation() > 0);
    EXPECT(clockscope_error_bound(&bound) == CLOCKSCOPE_OK && bound.now_ns <= bound.largest_ns);
    if (has_stamps) {
      take_stamps();
    }
  }
#ifdef ASK
  /* A caller who wants bounds of the time of day asks the kernel. */
  clockscope_bounded_now(&earliest, &latest);
#endif
  syscall(SYS_exit_group, 0);
  return 0;
}
