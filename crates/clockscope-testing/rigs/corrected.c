/* Gives the process that preloads this a machine whose time daemon corrects the frequency of the kernel's clock:
 *
 *   CLOCKSCOPE_CORRECTED_PPM=R       chronyd corrects by R ppm, with a skew of 0.05 ppm
 *   CLOCKSCOPE_CORRECTED_LEFT_NS=N   ... and has N ns left to correct (0), of an error of 11 ms
 *   CLOCKSCOPE_CORRECTED_SILENT=1    no chronyd answers
 *   CLOCKSCOPE_CORRECTED_STALE=1     the kernel's flag says that nothing synchronizes it
 *
 * The clocks that the kernel steers run R ppm fast by the C library, and by the system calls that its function syscall makes;
 * CLOCK_MONOTONIC_RAW and the counter stay as they are. adjtimex(2) states R by the tick and the frequency, and answers to
 * UDP port 323 are chronyd's to the request "tracking".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);
typedef long (*syscall_fn)(long, ...);
typedef ssize_t (*send_fn)(int, const void *, size_t, int);
typedef ssize_t (*recv_fn)(int, void *, size_t, int);

enum { CHRONYD_PORT = 323, REPLY_BYTES = 104 };

static clock_gettime_fn truth;
static double ppm;
static int64_t began_ns;
static unsigned char sequence[4];

static double number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : 0.0;
}

static int64_t ns_of(const struct timespec *time)
{
    return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

__attribute__((constructor)) static void setup(void)
{
    struct timespec now;
    truth = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
    truth(CLOCK_MONOTONIC, &now);
    began_ns = ns_of(&now);
    ppm = number("CLOCKSCOPE_CORRECTED_PPM");
}

static void correct(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME && clock != CLOCK_TAI)
        return;
    struct timespec now;
    truth(CLOCK_MONOTONIC, &now);
    int64_t ns = ns_of(time) + (int64_t)((double)(ns_of(&now) - began_ns) * ppm * 1e-6);
    time->tv_sec = ns / INT64_C(1000000000);
    time->tv_nsec = ns % INT64_C(1000000000);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!truth)
        setup();
    int answer = truth(clock, time);
    if (answer == 0)
        correct(clock, time);
    return answer;
}

/* The kernel's statement: whole ticks of 100 ppm, and the rest by the frequency. */
static long state(struct timex *kernel)
{
    int is_stale = number("CLOCKSCOPE_CORRECTED_STALE") != 0.0;
    long ticks = (long)(ppm / 100.0);
    kernel->tick = 10000 + ticks;
    kernel->freq = (long)((ppm - 100.0 * (double)ticks) * 65536.0);
    kernel->offset = 0;
    kernel->maxerror = 11234;
    kernel->esterror = 150;
    kernel->status = is_stale ? STA_UNSYNC : 0;
    return is_stale ? TIME_ERROR : TIME_OK;
}

long syscall(long call, ...)
{
    static syscall_fn real;
    if (!real)
        real = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
    long words[6];
    va_list list;
    va_start(list, call);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    long answer = real(call, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (call == SYS_clock_gettime && answer == 0 && truth)
        correct((clockid_t)words[0], (struct timespec *)words[1]);
    if (call == SYS_adjtimex && answer >= 0)
        return state((struct timex *)words[0]);
    return answer;
}

static int is_chronyd(int socket)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    return !getpeername(socket, (struct sockaddr *)&peer, &size) && peer.sin_family == AF_INET &&
           ntohs(peer.sin_port) == CHRONYD_PORT && number("CLOCKSCOPE_CORRECTED_SILENT") == 0.0;
}

ssize_t send(int socket, const void *data, size_t size, int flags)
{
    if (!is_chronyd(socket))
        return ((send_fn)dlsym(RTLD_NEXT, "send"))(socket, data, size, flags);
    if (size >= 12)
        memcpy(sequence, (const unsigned char *)data + 8, sizeof sequence);
    return (ssize_t)size;
}

/* A number as chronyd's protocol has it: an exponent of 7 bits and a coefficient of 25, both signed (candm.h). */
static void put(unsigned char *reply, int at, double value)
{
    int exponent = 1;
    double coefficient = value * (1 << 24);
    for (; coefficient != 0.0 && (coefficient < 0 ? -coefficient : coefficient) < (1 << 23); exponent--)
        coefficient *= 2.0;
    for (; (coefficient < 0 ? -coefficient : coefficient) >= (1 << 24); exponent++)
        coefficient /= 2.0;
    uint32_t word = coefficient == 0.0 ? 0 : ((uint32_t)exponent & 0x7f) << 25 | ((uint32_t)(int32_t)coefficient & 0x1ffffff);
    uint32_t ordered = htonl(word);
    memcpy(reply + at, &ordered, sizeof ordered);
}

ssize_t recv(int socket, void *data, size_t size, int flags)
{
    if (!is_chronyd(socket))
        return ((recv_fn)dlsym(RTLD_NEXT, "recv"))(socket, data, size, flags);
    /* Version 6, a reply, to request 33 (tracking), of type 5; a reference of 192.0.2.1, stratum 3. */
    unsigned char reply[REPLY_BYTES] = { 6, 2, [5] = 33, [7] = 5, [28] = 192, [30] = 2, [31] = 1, [53] = 3 };
    memcpy(reply + 16, sequence, sizeof sequence);
    put(reply, 68, number("CLOCKSCOPE_CORRECTED_LEFT_NS") * 1e-9);
    put(reply, 80, -ppm);
    put(reply, 88, 0.05);
    put(reply, 92, 0.02);
    put(reply, 96, 0.001);
    put(reply, 100, 64.0);
    memcpy(data, reply, size < sizeof reply ? size : sizeof reply);
    return (ssize_t)(size < sizeof reply ? size : sizeof reply);
}
