/* All readings, one in a function, for tests that read machine code or compile it for processors on
 * which they do not run. */

#include <clockscope.h>

uint64_t ordered(void);
uint64_t after_stores(void);
uint64_t unordered(void);
int64_t wall(void);
uint64_t boot(void);

uint64_t ordered(void) { return clockscope_now(); }
uint64_t after_stores(void) { return clockscope_now_after_stores(); }
uint64_t unordered(void) { return clockscope_now_unordered(); }
int64_t wall(void) { return clockscope_wall_now(); }
uint64_t boot(void) { return clockscope_boot_now(); }
