/* Shows what the header inlines: reads by a page of its own, in front of the library's. With
 * -DNO_PAGE that is a library of another format. Prints "page" or "call" for each reading. */

#include <clockscope.h>

#include <stdio.h>

static uint64_t words[84];

#ifdef NO_PAGE
static const uint64_t no_line[84] = {0};
const uint64_t *clockscope_page_v1(void) CLOCKSCOPE_NOEXCEPT { return no_line; }
#else
const uint64_t *clockscope_page_v1(void) CLOCKSCOPE_NOEXCEPT { return words; }
#endif

static uint64_t counter(void) {
  uint64_t ticks;
#if defined(__x86_64__)
  ticks = __builtin_ia32_rdtsc();
#else
  __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
#endif
  return ticks;
}

/* A line that shows 42 for the next 2^32 ticks, 1,042 as the time of day, and 2,042 as boot time.
 * */
static void publish(void) {
  const uint64_t segment = 5, slot = 2, start = counter();
  words[13] = 1;
  words[20 + 4 * segment] = start;
  words[20 + 4 * segment + 1] = (uint64_t)UINT32_MAX << 32 | (start & UINT32_MAX);
  words[20 + 4 * segment + 2] = 42;
  words[52 + 8 * slot] = 1000;
  words[52 + 8 * slot + 7] = 2000;
  words[0] = UINT64_C(1) << 63 | segment << 5;
}

static const char *by(int is_by_page) { return is_by_page ? "page" : "call"; }

int main(void) {
  /* Volatile: otherwise a compiler that sees which function it is inlines it. */
  uint64_t (*volatile library)(void) = clockscope_now;
  int now = 0, unordered = 0, wall = 0, boot = 0, address = 0, floor, turn;
  /* Another time, where the machine took the CPU away for longer than the line lasts. */
  for (turn = 0; turn < 100; ++turn) {
    publish();
    now |= clockscope_now() == 42;
    unordered |= clockscope_now_unordered() == 42;
    wall |= clockscope_wall_now() == 1042;
    boot |= clockscope_boot_now() == 2042;
    address |= library() == 42;
  }
  printf("now %s, unordered %s, wall %s, boot %s, by address %s", by(now), by(unordered), by(wall),
         by(boot), by(address));
  words[1] = 43;
  floor = clockscope_now() == 42;
  words[1] = 0;
  words[52 + 8 * 2] = 0;
  wall = clockscope_wall_now() == 42;
  words[52 + 8 * 2 + 7] = 0;
  boot = clockscope_boot_now() == 42;
  words[0] = 5u << 5;
  now = clockscope_now() == 42;
  words[0] = UINT64_C(1) << 63 | 7u << 5;
  unordered = clockscope_now() == 0;
  printf("; below the floor %s, no offset %s, no boot offset %s, no line %s, no ticks %s\n",
         by(floor), by(wall), by(boot), by(now), by(unordered));
  return 0;
}
