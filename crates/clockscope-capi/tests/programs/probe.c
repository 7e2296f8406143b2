/* Readings of C in a process of Rust: the test loads this and gives it its own library. */

#include <clockscope_stamps.h>

/* What the test hands over. */
struct library {
  const uint64_t *page;
  uint64_t (*now)(void);
  uint64_t (*now_unordered)(void);
  int64_t (*wall_now)(void);
  uint64_t (*boot_now)(void);
};

static struct library library;

/* Readings that were not inlined, by their kind. */
enum { NOW, NOW_UNORDERED, WALL_NOW, BOOT_NOW, KINDS };
static uint64_t calls[KINDS];

void probe_bind(const struct library *ours);
uint64_t probe_calls(unsigned int kind);
uint64_t probe_now(void);
uint64_t probe_now_unordered(void);
int64_t probe_wall_now(void);
uint64_t probe_boot_now(void);
uint64_t probe_hammer(uint64_t *last, uint64_t turns);
size_t probe_layout(uint64_t *figures);

const uint64_t *clockscope_page_v1(void) { return library.page; }

uint64_t clockscope_now_call(void) {
  __atomic_fetch_add(&calls[NOW], 1, __ATOMIC_RELAXED);
  return library.now();
}

uint64_t clockscope_now_unordered_call(void) {
  __atomic_fetch_add(&calls[NOW_UNORDERED], 1, __ATOMIC_RELAXED);
  return library.now_unordered();
}

int64_t clockscope_wall_now_call(void) {
  __atomic_fetch_add(&calls[WALL_NOW], 1, __ATOMIC_RELAXED);
  return library.wall_now();
}

uint64_t clockscope_boot_now_call(void) {
  __atomic_fetch_add(&calls[BOOT_NOW], 1, __ATOMIC_RELAXED);
  return library.boot_now();
}

void probe_bind(const struct library *ours) { library = *ours; }

/* How many readings of a kind were not inlined. */
uint64_t probe_calls(unsigned int kind) { return __atomic_load_n(&calls[kind], __ATOMIC_RELAXED); }

uint64_t probe_now(void) { return clockscope_now(); }
uint64_t probe_now_unordered(void) { return clockscope_now_unordered(); }
int64_t probe_wall_now(void) { return clockscope_wall_now(); }
uint64_t probe_boot_now(void) { return clockscope_boot_now(); }

/* Takes the other thread's last reading, reads, and hands its own over. How many went back. */
uint64_t probe_hammer(uint64_t *last, uint64_t turns) {
  uint64_t regressions = 0;
  while (turns--) {
    uint64_t known = __atomic_load_n(last, __ATOMIC_ACQUIRE);
    uint64_t now = clockscope_now();
    regressions += now < known;
    __atomic_store_n(last, now, __ATOMIC_RELEASE);
  }
  return regressions;
}

#define FIELD(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* Sizes, places and numbers, in the order in which the test lists its own. */
size_t probe_layout(uint64_t *figures) {
  const uint64_t found[] = {
      sizeof(clockscope_bound),
      FIELD(clockscope_bound, now_ns),
      FIELD(clockscope_bound, largest_ns),
      FIELD(clockscope_bound, largest_at_ns),
      sizeof(clockscope_anchor),
      FIELD(clockscope_anchor, offset_ns),
      FIELD(clockscope_anchor, bound_ns),
      FIELD(clockscope_anchor, generation),
      sizeof(clockscope_frequency_range),
      FIELD(clockscope_frequency_range, hz),
      FIELD(clockscope_frequency_range, lowest_hz),
      FIELD(clockscope_frequency_range, highest_hz),
      FIELD(clockscope_frequency_range, window_ns),
      sizeof(clockscope_advice),
      FIELD(clockscope_advice, overhead_ns),
      FIELD(clockscope_advice, resolution_ns),
      FIELD(clockscope_advice, jitter_ns),
      FIELD(clockscope_advice, reading_error),
      FIELD(clockscope_advice, repetitions),
      sizeof(clockscope_evidence_item),
      FIELD(clockscope_evidence_item, name),
      FIELD(clockscope_evidence_item, seen),
      FIELD(clockscope_evidence_item, word),
      FIELD(clockscope_evidence_item, unit),
      FIELD(clockscope_evidence_item, source),
      FIELD(clockscope_evidence_item, advice),
      FIELD(clockscope_evidence_item, figure),
      FIELD(clockscope_evidence_item, has_figure),
      FIELD(clockscope_evidence_item, finding),
      (uint64_t)-CLOCKSCOPE_ERROR_NULL,
      (uint64_t)-CLOCKSCOPE_ERROR_NO_CLOCK,
      (uint64_t)-CLOCKSCOPE_ERROR_UNKNOWN,
      (uint64_t)-CLOCKSCOPE_ERROR_PANICKED,
      (uint64_t)-CLOCKSCOPE_ERROR_ARGUMENT,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NO_COUNTER,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NOT_INVARIANT,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NOT_USED,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NO_HISTORY,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_BEFORE_HISTORY,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_FUTURE,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_GAP,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_WENT_BACK,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_NO_WALL_TIME,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_GIVEN_UP,
      (uint64_t)-CLOCKSCOPE_STAMP_ERROR_BUSY,
      (uint64_t)-CLOCKSCOPE_ERROR_SYSTEM,
      (uint64_t)-CLOCKSCOPE_ERROR_TIME_LIMIT,
      CLOCKSCOPE_DEMOTION_NONE,
      CLOCKSCOPE_DEMOTION_NOT_PERMITTED,
      CLOCKSCOPE_DEMOTION_NOT_CLOCKSOURCE,
      CLOCKSCOPE_DEMOTION_CLOCKSOURCE_UNKNOWN,
      CLOCKSCOPE_DEMOTION_COARSE_OS_CLOCK,
      CLOCKSCOPE_DEMOTION_COARSE_COUNTER,
      CLOCKSCOPE_DEMOTION_WRAPS,
      CLOCKSCOPE_DEMOTION_UNSTEADY,
      CLOCKSCOPE_DEMOTION_OUT_OF_ORDER,
      CLOCKSCOPE_DEMOTION_OS_CLOCK_SLOWER,
      CLOCKSCOPE_DEMOTION_ABANDONED,
      CLOCKSCOPE_DEMOTION_UNTESTED,
      CLOCKSCOPE_STATE_SYNCHRONIZED,
      CLOCKSCOPE_STATE_WHILE_NOT_SLEWING,
      CLOCKSCOPE_STATE_LEAP_SECOND,
      CLOCKSCOPE_STATE_SLEWING,
      CLOCKSCOPE_STATE_WORTHLESS,
      CLOCKSCOPE_STATE_UNSYNCHRONIZED,
      CLOCKSCOPE_STATE_UNAVAILABLE,
  };
  const size_t count = sizeof found / sizeof found[0];
  for (size_t index = 0; index < count; ++index) {
    figures[index] = found[index];
  }
  return count;
}
