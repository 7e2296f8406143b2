/* Both kinds of stamps, one in a function, for tests that read machine code or compile it for
 * processors on which they do not run. */

#include <clockscope_stamps.h>

uint64_t ordered(void);
uint64_t unordered(void);

uint64_t ordered(void) { return clockscope_stamp(); }
uint64_t unordered(void) { return clockscope_stamp_unordered(); }
