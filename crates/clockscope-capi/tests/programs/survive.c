/* Reads the clock of a process whose counter is disabled while it runs. Prints what is wrong, and
 * ends with the number of such lines. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope.h>

#include "expect.h"

#include <errno.h>
#include <sys/prctl.h>

/* Often enough for the counter to be served, where it may be. */
#define READS 200000

int main(void) {
  uint64_t last = 0, now;
  int reads;
  errno = 1234;
  EXPECT(clockscope_survive_disabled_counter() == CLOCKSCOPE_OK);
  /* A second call does nothing. */
  EXPECT(clockscope_survive_disabled_counter() == CLOCKSCOPE_OK);
  for (reads = 0; reads < READS; ++reads) {
    last = clockscope_now();
  }
  EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
  for (reads = 0; reads < 1000; ++reads) {
    now = clockscope_now();
    EXPECT(now >= last);
    last = now;
  }
  EXPECT(clockscope_source() == CLOCKSCOPE_SOURCE_OS_CLOCK);
  EXPECT(clockscope_demotion() == CLOCKSCOPE_DEMOTION_NOT_PERMITTED);
  EXPECT(errno == 1234);
  return wrong;
}
