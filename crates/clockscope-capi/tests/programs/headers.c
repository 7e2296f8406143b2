/* Includes every header and uses what it inlines, for tests that only compile: as C and as C++. */

#include <clockscope_stamps.h>
#include <clockscope_ticks.h>
#include <clockscope_upkeep.h>
#include <clockscope_wall.h>

#include "compat/rdtsc.h"

#include <clockscope.h>

#ifdef __cplusplus
#include <clockscope.hpp>
#endif

#ifdef __cplusplus
extern "C"
#endif
    int
    all(clockscope_stopwatch *watch, clockscope_ticks_rate *rate, uint64_t *ns, uint32_t *cpu,
        const clockscope_anchor *anchor);

int all(clockscope_stopwatch *watch, clockscope_ticks_rate *rate, uint64_t *ns, uint32_t *cpu,
        const clockscope_anchor *anchor) {
  uint64_t ticks;
  RDTSC(ticks);
  *ns = clockscope_now() + clockscope_now_unordered() + (uint64_t)clockscope_wall_now() + ticks;
  *ns += clockscope_boot_now();
  *ns += clockscope_stamp() + clockscope_stamp_unordered();
  *ns += clockscope_anchor_to_instant(*anchor, clockscope_anchor_to_wall(*anchor, *ns));
  clockscope_stopwatch_start(watch);
  clockscope_stopwatch_restart(watch);
  clockscope_stopwatch_stop(watch);
#ifdef __cplusplus
  *ns += clockscope::clock::to_ns(clockscope::clock::now());
  *ns += static_cast<uint64_t>(clockscope::wall_clock::to_time_t(clockscope::wall_clock::now()));
  *ns += clockscope::commit_wait(clockscope::wall_clock::now()).is_bounded();
#endif
  return clockscope_ticks_stop_with_cpu(ns, cpu) + clockscope_ticks_calibrate(*ns, rate) +
         clockscope_stopwatch_elapsed(watch, ns) + clockscope_pin_thread(0) +
         clockscope_stamp_instant(*ns, ns, NULL) + clockscope_anchor_is_current(*anchor);
}
