/* All readings, for compilers whose programs the test does not run. */

#include <clockscope.h>

uint64_t both(void);
int64_t civil(void);

uint64_t both(void) {
  return clockscope_elapsed_ns(clockscope_now(), clockscope_now_unordered());
}

int64_t civil(void) { return clockscope_wall_now(); }
