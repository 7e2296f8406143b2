/* Calls everything that clockscope_wall.h declares, as C and as C++. Prints what is wrong, and ends
 * with the number of such lines. */

#include <clockscope_wall.h>

#include "expect.h"

#include <errno.h>

/* The time of day of 2020. */
#define IN_2020_NS INT64_C(1600000000000000000)
/* What no error of a clock explains, in ns. */
#define TOLERANCE_NS INT64_C(1000000)
#define HOUR_NS INT64_C(3600000000000)
#define LIMIT_NS UINT64_C(2000000)

enum { TURNS = 1000 };

static int has_bound(int state) { return state < CLOCKSCOPE_STATE_SLEWING; }

/* An interval is one, or reaches everywhere. */
static int is_interval(int state, int64_t earliest, int64_t latest) {
  const int is_everything = earliest == INT64_MIN && latest == INT64_MAX;
  return state >= CLOCKSCOPE_STATE_SYNCHRONIZED && state <= CLOCKSCOPE_STATE_UNAVAILABLE &&
         earliest <= latest && has_bound(state) != is_everything;
}

/* The end of time is never past. Without a bound there is nothing to wait for. */
static void check_limit(void) {
  int64_t earliest = 7, latest = 7;
  const uint64_t began = clockscope_now();
  const int state = clockscope_commit_wait_for(INT64_MAX, LIMIT_NS, &earliest, &latest);
  if (state == CLOCKSCOPE_ERROR_TIME_LIMIT) {
    EXPECT(earliest == 7 && latest == 7 && clockscope_now() - began >= LIMIT_NS);
  } else {
    EXPECT(is_interval(state, earliest, latest) && !has_bound(state));
  }
}

static void check_true_time(void) {
  int64_t earliest = 7, latest = 7, end = 7;
  int state = clockscope_bounded_now(&earliest, &latest);
  EXPECT(is_interval(state, earliest, latest));
  state = clockscope_commit_wait(IN_2020_NS, &earliest, &latest);
  EXPECT(is_interval(state, earliest, latest));
  EXPECT(!has_bound(state) || earliest > IN_2020_NS);
  state = clockscope_commit_wait_for(IN_2020_NS, 0, &earliest, &latest);
  EXPECT(is_interval(state, earliest, latest));
  EXPECT(!has_bound(state) || earliest > IN_2020_NS);
  check_limit();
  EXPECT(clockscope_bounded_now(NULL, &end) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_bounded_now(&end, NULL) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_commit_wait(INT64_MAX, NULL, &end) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_commit_wait(INT64_MAX, &end, NULL) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_commit_wait_for(INT64_MAX, 0, NULL, &end) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_commit_wait_for(INT64_MAX, 0, &end, NULL) == CLOCKSCOPE_ERROR_NULL && end == 7);
}

static void check_error(void) {
  clockscope_bound bound;
  EXPECT(clockscope_wall_error_bound(&bound) == CLOCKSCOPE_OK && bound.now_ns <= bound.largest_ns);
  EXPECT(bound.largest_at_ns <= clockscope_now());
  EXPECT(clockscope_wall_error_bound(NULL) == CLOCKSCOPE_ERROR_NULL);
}

/* A batch keeps its order, is the wall clock's, and comes back. */
static void check_batch(void) {
  static uint64_t moments[TURNS];
  static int64_t walls[TURNS];
  const uint64_t generation = clockscope_wall_generation();
  clockscope_anchor anchor;
  int64_t last = INT64_MIN, off, worst = 0;
  int turn;
  for (turn = 0; turn < TURNS; ++turn) {
    moments[turn] = clockscope_now();
    walls[turn] = clockscope_wall_now();
  }
  EXPECT(clockscope_anchor_now(&anchor) == CLOCKSCOPE_OK && anchor.bound_ns < 10000000);
  EXPECT(clockscope_anchor_now(NULL) == CLOCKSCOPE_ERROR_NULL);
  for (turn = 0; turn < TURNS; ++turn) {
    const int64_t wall = clockscope_anchor_to_wall(anchor, moments[turn]);
    EXPECT(wall >= last);
    last = wall;
    /* The moment is between two readings of the wall clock. */
    off = turn && wall < walls[turn - 1] ? walls[turn - 1] - wall
          : wall > walls[turn]           ? wall - walls[turn]
                                         : 0;
    worst = off > worst ? off : worst;
    EXPECT(clockscope_anchor_to_instant(anchor, wall) == moments[turn]);
  }
  /* Unless the clock was set meanwhile. */
  EXPECT(worst < TOLERANCE_NS || clockscope_wall_generation() != generation);
  EXPECT(clockscope_anchor_is_current(anchor) == 1 || clockscope_wall_generation() != generation);
}

static void check_other_anchors(void) {
  clockscope_anchor anchor, other;
  EXPECT(clockscope_anchor_now(&anchor) == CLOCKSCOPE_OK);
  other = anchor;
  ++other.generation;
  EXPECT(clockscope_anchor_is_current(other) == 0);
  other = anchor;
  other.offset_ns += HOUR_NS;
  EXPECT(clockscope_anchor_is_current(other) == 0);
  other.bound_ns = (uint64_t)(HOUR_NS + TOLERANCE_NS);
  EXPECT(clockscope_anchor_is_current(other) == 1 ||
         clockscope_wall_generation() != anchor.generation);
}

static clockscope_anchor anchor_of(int64_t offset_ns) {
  clockscope_anchor anchor = {0, 0, 0};
  anchor.offset_ns = offset_ns;
  return anchor;
}

/* Conversions end where their numbers do. */
static void check_ends(void) {
  EXPECT(clockscope_anchor_to_wall(anchor_of(5), 7) == 12);
  EXPECT(clockscope_anchor_to_wall(anchor_of(-5), 3) == -2);
  EXPECT(clockscope_anchor_to_wall(anchor_of(1), INT64_MAX) == INT64_MAX);
  EXPECT(clockscope_anchor_to_wall(anchor_of(INT64_MAX), UINT64_MAX) == INT64_MAX);
  EXPECT(clockscope_anchor_to_wall(anchor_of(0), UINT64_MAX) == INT64_MAX);
  EXPECT(clockscope_anchor_to_wall(anchor_of(INT64_MIN), 0) == INT64_MIN);
  EXPECT(clockscope_anchor_to_wall(anchor_of(INT64_MIN), UINT64_MAX) == -1);
  EXPECT(clockscope_anchor_to_instant(anchor_of(5), 12) == 7);
  EXPECT(clockscope_anchor_to_instant(anchor_of(-5), -2) == 3);
  EXPECT(clockscope_anchor_to_instant(anchor_of(5), 4) == 0);
  EXPECT(clockscope_anchor_to_instant(anchor_of(INT64_MAX), INT64_MIN) == 0);
  EXPECT(clockscope_anchor_to_instant(anchor_of(-1), INT64_MAX) == INT64_MAX);
  EXPECT(clockscope_anchor_to_instant(anchor_of(INT64_MIN), INT64_MAX) == INT64_MAX);
}

int main(void) {
  errno = 1234;
  check_true_time();
  check_error();
  check_batch();
  check_other_anchors();
  check_ends();
  EXPECT(errno == 1234);
  return wrong;
}
