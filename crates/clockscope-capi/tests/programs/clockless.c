/* Reads the time where no clock answers: the counter is disabled, and every call that asks for the
 * time is refused. Prints what is wrong, and ends with the number of such lines. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope.h>

#include "expect.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define REFUSE(call)                                                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                               \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static void refuse_time(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      REFUSE(SYS_clock_gettime),
      REFUSE(SYS_clock_getres),
      REFUSE(SYS_gettimeofday),
      REFUSE(SYS_time),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program;
  program.len = sizeof filter / sizeof filter[0];
  program.filter = filter;
  EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
  EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(void) {
  uint64_t ns = 7;
  refuse_time();
  errno = 1234;
  EXPECT(clockscope_try_now(&ns) == CLOCKSCOPE_ERROR_NO_CLOCK && ns == 7);
  EXPECT(clockscope_now() == clockscope_now());
  EXPECT(clockscope_source() == CLOCKSCOPE_SOURCE_NOTHING);
  EXPECT(errno == 1234);
  return wrong;
}
