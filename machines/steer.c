// Steers the machine's clock as a time daemon does: makes the same calls of adjtimex(2), one after
// the other. Usage: steer DAEMON. Prints what the kernel refuses, and exits with 1. `steer moved`
// prints CLOCK_REALTIME less CLOCK_MONOTONIC_RAW, in ns.
//
// Which fields a daemon sets is in its source: chronyd's sys_linux.c and sys_timex.c, ntpd's
// ntp_loopfilter.c, systemd-timesyncd's timesyncd-manager.c, linuxptp's clockadj.c.

#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

// One call, and how long it is waited for after that, in ms.
struct step {
    const char *daemon;
    struct timex call;
    int wait_ms;
};

#define PPM (1 << 16)
// chronyd steers by frequency alone. What 500 ppm do not reach goes into the tick, of 100 ppm a µs.
#define CHRONY(TICK, FREQ_PPM) {.modes = ADJ_TICK | ADJ_FREQUENCY, .tick = TICK, .freq = (FREQ_PPM) * PPM}
#define CHRONY_STATUS {.modes = ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS, .maxerror = 523, .esterror = 107, .status = 0}
// ntpd hands the offset over to the kernel's loop.
#define NTPD(OFFSET_NS)                                                                                    \
    {.modes = ADJ_OFFSET | ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS | ADJ_TIMECONST | ADJ_NANO,            \
     .offset = OFFSET_NS, .status = STA_PLL | STA_NANO, .constant = 3, .maxerror = 16000, .esterror = 500}
#define TIMESYNCD(OFFSET_NS)                                                                               \
    {.modes = ADJ_STATUS | ADJ_NANO | ADJ_OFFSET | ADJ_TIMECONST | ADJ_MAXERROR | ADJ_ESTERROR,            \
     .offset = OFFSET_NS, .status = STA_PLL, .constant = 1, .maxerror = 0, .esterror = 0}
// phc2sys steps the wall clock once, and then steers by frequency at each measurement.
#define PHC2SYS_STEP(SECONDS, NS)                                                                          \
    {.modes = ADJ_SETOFFSET | ADJ_NANO, .time = {.tv_sec = SECONDS, .tv_usec = NS}}
#define PHC2SYS(FREQ_PPM) {.modes = ADJ_FREQUENCY, .freq = (long)((FREQ_PPM) * PPM)}
// phc2sys sets the largest error to zero, and leaves the estimated one as the kernel had it.
#define PHC2SYS_STATUS {.modes = ADJ_STATUS | ADJ_MAXERROR, .maxerror = 0, .status = 0}

static const struct step STEPS[] = {
    {"chronyd", CHRONY(10000, 12), 300},
    {"chronyd", CHRONY(10833, 33), 700}, // makestep was not asked for: 83,333 ppm
    {"chronyd", CHRONY_STATUS, 100},
    {"chronyd", CHRONY(9167, -33), 700},
    {"chronyd", CHRONY(10833, 33), 400},
    {"chronyd", CHRONY(10000, 12), 500},
    {"chronyd", CHRONY(10010, -400), 300},
    {"chronyd", CHRONY_STATUS, 100},
    {"chronyd", CHRONY(10000, 11), 500},
    {"ntpd", NTPD(120000000), 1200},
    {"ntpd", NTPD(-90000000), 1200},
    {"ntpd", NTPD(20000), 800},
    {"timesyncd", TIMESYNCD(390000000), 1500},
    {"timesyncd", TIMESYNCD(-250000000), 1500},
    {"timesyncd", TIMESYNCD(0), 500},
    {"phc2sys", PHC2SYS_STEP(37, 5), 300},
    {"phc2sys", PHC2SYS(500), 500},
    {"phc2sys", PHC2SYS(-500), 500},
    {"phc2sys", PHC2SYS(37.25), 125},
    {"phc2sys", PHC2SYS(36.5), 125},
    {"phc2sys", PHC2SYS(-12.75), 125},
    {"phc2sys", PHC2SYS(0.5), 500},
    // For bounds.sh: each works off 100 ms, and states an error as it does otherwise.
    {"bounds-chronyd", CHRONY(10833, 33), 600}, // 100 ms at 83,333 ppm
    {"bounds-chronyd", CHRONY_STATUS, 600},
    {"bounds-ntpd", NTPD(100000000), 3000},
    {"bounds-timesyncd", TIMESYNCD(100000000), 3000},
    {"bounds-phc2sys", PHC2SYS_STATUS, 100},
    {"bounds-phc2sys", PHC2SYS(500), 1000},
    {"bounds-phc2sys", PHC2SYS_STATUS, 1000},
    // A leap second at the midnight to come, as ntpd announces it.
    {"leap", NTPD(0), 0},
    {"leap", {.modes = ADJ_TAI, .constant = 37}, 0},
    {"leap", {.modes = ADJ_STATUS, .status = STA_PLL | STA_NANO | STA_INS}, 0},
    // What the next daemon finds: an ordinary clock.
    {"none", {.modes = ADJ_STATUS | ADJ_OFFSET | ADJ_TICK | ADJ_FREQUENCY, .status = STA_PLL, .tick = 10000}, 100},
    {"none", {.modes = ADJ_STATUS, .status = STA_UNSYNC}, 100},
};

// Sets the clock to 2.5 s before the next midnight. That the clock was set, the kernel states as an
// error that nobody knows.
static int set_to_the_evening(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 1;
    now.tv_sec = (now.tv_sec / 86400 + 1) * 86400 - 3;
    now.tv_nsec = 500000000;
    if (clock_settime(CLOCK_REALTIME, &now) == 0)
        return 0;
    perror("set");
    return 1;
}

// CLOCK_REALTIME less CLOCK_MONOTONIC_RAW, in ns.
static long long moved(void) {
    struct timespec real, raw;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    return (real.tv_sec - raw.tv_sec) * 1000000000LL + real.tv_nsec - raw.tv_nsec;
}

// Ends chronyd's slew, and states what it has missed of 100 ms as an error.
static int end_slew(long long since) {
    long long remaining_us = (100000000 - (moved() - since)) / 1000;
    struct timex call = CHRONY(10000, 0);
    call.modes |= ADJ_MAXERROR | ADJ_ESTERROR;
    call.maxerror = (remaining_us < 0 ? -remaining_us : remaining_us) + 5000;
    call.esterror = 1234;
    return adjtimex(&call) < 0;
}

int main(int count, char **arguments) {
    int steps = 0;
    long long since = moved();
    if (count == 2 && strcmp("set", arguments[1]) == 0)
        return set_to_the_evening();
    if (count == 2 && strcmp("moved", arguments[1]) == 0) {
        printf("%lld\n", since);
        return 0;
    }
    for (size_t at = 0; count == 2 && at < sizeof STEPS / sizeof *STEPS; at++) {
        if (strcmp(STEPS[at].daemon, arguments[1]) != 0)
            continue;
        struct timex call = STEPS[at].call;
        if (adjtimex(&call) < 0) {
            perror(arguments[1]);
            return 1;
        }
        struct timespec wait = {STEPS[at].wait_ms / 1000, STEPS[at].wait_ms % 1000 * 1000000};
        nanosleep(&wait, NULL);
        steps++;
    }
    if (count == 2 && strcmp("bounds-chronyd", arguments[1]) == 0 && end_slew(since) != 0) {
        perror("bounds-chronyd");
        return 1;
    }
    printf("%d calls\n", steps);
    return steps == 0;
}
