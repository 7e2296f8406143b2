/* What clockscope_ticks.h defines, for processors on which the test does not run. */

#include <clockscope_ticks.h>

int all(clockscope_ticks_rate *rate, uint64_t *ticks, uint32_t *cpu);

int all(clockscope_ticks_rate *rate, uint64_t *ticks, uint32_t *cpu) {
  *ticks = clockscope_ticks_stop() - clockscope_ticks_start() + clockscope_ticks_unordered();
  return clockscope_ticks_stop_with_cpu(ticks, cpu) + clockscope_ticks_calibrate(*ticks, rate) +
         clockscope_pin_thread(0);
}
