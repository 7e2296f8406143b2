/* Includes HEADER, for tests that only compile, and uses what it takes from the system. Fails to
 * compile if the header defines a feature test macro. The test defines ALLOWED if it defines such
 * macros itself, and LATE if other headers come first. */

#if defined(LATE)
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#endif

#include HEADER

#if !defined(ALLOWED) &&                                                                           \
    (defined(_GNU_SOURCE) || defined(_DEFAULT_SOURCE) || defined(_BSD_SOURCE) ||                   \
     defined(_SVID_SOURCE) || defined(_POSIX_SOURCE) || defined(_POSIX_C_SOURCE) ||                \
     defined(_XOPEN_SOURCE) || defined(_XOPEN_SOURCE_EXTENDED) || defined(_ISOC99_SOURCE) ||       \
     defined(_ISOC11_SOURCE) || defined(_ATFILE_SOURCE) || defined(_LARGEFILE_SOURCE) ||           \
     defined(_LARGEFILE64_SOURCE) || defined(_TIME_BITS) || defined(_FILE_OFFSET_BITS))
#error "the header defines a feature test macro"
#endif

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* POSIX's strerror_r returns an int, that of _GNU_SOURCE a pointer. */
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L && !defined(_GNU_SOURCE)
int message(int error, char *text, size_t size);
int message(int error, char *text, size_t size) { return strerror_r(error, text, size); }
#endif

#if defined(CLOCKSCOPE_TICKS_H)
#ifdef __cplusplus
extern "C"
#endif
    int
    system_functions(uint64_t *ns);

int system_functions(uint64_t *ns) {
  struct timespec moment = clockscope_ns_to_timespec(*ns);
  *ns = clockscope_timespec_to_ns(moment);
  return clockscope_os_ns(ns) + clockscope_os_tick_ns(ns) + clockscope_pin_thread(0);
}
#endif

int used;
