/* The reason why the counter is not used, as a number: of a process that may not read it. Prints
 * what is wrong, and ends with the number of such lines. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope.h>
#include <clockscope_stamps.h>

#include "expect.h"

#include <sys/prctl.h>

int main(void) {
  EXPECT(clockscope_demotion() == CLOCKSCOPE_DEMOTION_NONE);
  EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
  EXPECT(clockscope_stamps_counter() == CLOCKSCOPE_STAMP_ERROR_NOT_USED);
  EXPECT(clockscope_demotion() == CLOCKSCOPE_DEMOTION_NOT_PERMITTED);
  return wrong;
}
