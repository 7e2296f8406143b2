/* Lies about one clock of clock_gettime. To be preloaded; told what to do by the environment:
 *
 *   CLOCKSCOPE_LIE_CLOCK=ID          the clock to lie about; all others answer the truth
 *   CLOCKSCOPE_LIE_EVERY=N           something happens at every N-th read
 *   CLOCKSCOPE_LIE_STEP_NS=S         ... the clock is moved by S ns, for good
 *   CLOCKSCOPE_LIE_BLIP_NS=S         ... this one reading is moved by S ns
 *   CLOCKSCOPE_LIE_ERROR=1           ... the read fails with EINVAL
 *   CLOCKSCOPE_LIE_FREEZE_AFTER=N    every read from the N-th on gives the same value
 *   CLOCKSCOPE_LIE_ERROR_AFTER=N     every read after the N-th fails with EINVAL
 *   CLOCKSCOPE_LIE_QUANTUM_NS=A[/B]  readings are floored to multiples of A/B ns
 *   CLOCKSCOPE_LIE_PPB=R             it runs R parts per billion fast
 *   CLOCKSCOPE_LIE_PPB_AFTER_MS=T    ... from T ms after the first read on
 *   CLOCKSCOPE_LIE_LOG=FILE          at the end of the process one line of JSON: reads, events, errors
 *
 * Children that a process forks lie too, but only the process that loaded the library writes the log.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

static clock_gettime_fn truth;
static long lied_clock = -1, every, step_ns, blip_ns, fails, freeze_after, error_after, ppb, ppb_after_ms;
static long long quantum_over = 0, quantum_under = 1;
static long long reads, events, errors, offset_ns, frozen_ns, first_ns;
static int frozen;
static const char *log_file;
static pid_t owner;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void setup(void)
{
    const char *text = getenv("CLOCKSCOPE_LIE_CLOCK");
    truth = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
    if (text)
        lied_clock = strtol(text, NULL, 10);
    every = number("CLOCKSCOPE_LIE_EVERY");
    step_ns = number("CLOCKSCOPE_LIE_STEP_NS");
    blip_ns = number("CLOCKSCOPE_LIE_BLIP_NS");
    fails = number("CLOCKSCOPE_LIE_ERROR");
    freeze_after = number("CLOCKSCOPE_LIE_FREEZE_AFTER");
    error_after = number("CLOCKSCOPE_LIE_ERROR_AFTER");
    ppb = number("CLOCKSCOPE_LIE_PPB");
    ppb_after_ms = number("CLOCKSCOPE_LIE_PPB_AFTER_MS");
    if ((text = getenv("CLOCKSCOPE_LIE_QUANTUM_NS"))) {
        char *end;
        quantum_over = strtoll(text, &end, 10);
        if (*end == '/')
            quantum_under = strtoll(end + 1, NULL, 10);
    }
    log_file = getenv("CLOCKSCOPE_LIE_LOG");
    owner = getpid();
}

__attribute__((destructor)) static void report(void)
{
    FILE *log = log_file && getpid() == owner ? fopen(log_file, "w") : NULL;
    if (!log)
        return;
    fprintf(log, "{\"reads\": %lld, \"events\": %lld, \"errors\": %lld}\n", reads, events, errors);
    fclose(log);
}

static int fail(void)
{
    errors++;
    errno = EINVAL;
    return -1;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (!truth)
        setup();
    if ((long)id != lied_clock)
        return truth(id, now);
    int answer = truth(id, now);
    if (answer != 0)
        return answer;
    reads++;
    long long ns = now->tv_sec * 1000000000LL + now->tv_nsec;
    if (error_after && reads > error_after)
        return fail();
    if (every && reads % every == 0) {
        events++;
        if (fails)
            return fail();
        offset_ns += step_ns;
        ns += blip_ns;
    }
    if (!first_ns)
        first_ns = ns;
    long long fast_since_ns = first_ns + ppb_after_ms * 1000000LL;
    if (ppb && ns > fast_since_ns)
        ns += (long long)((__int128)(ns - fast_since_ns) * ppb / 1000000000);
    ns += offset_ns;
    if (freeze_after && reads >= freeze_after) {
        if (!frozen) {
            frozen = 1;
            frozen_ns = ns;
            events++;
        }
        ns = frozen_ns;
    }
    if (quantum_over)
        /* The number of quanta that have passed, and where that many end, rounded down to whole ns. */
        ns = (long long)((__int128)((__int128)ns * quantum_under / quantum_over) * quantum_over / quantum_under);
    now->tv_sec = ns / 1000000000LL;
    now->tv_nsec = ns % 1000000000LL;
    return 0;
}
