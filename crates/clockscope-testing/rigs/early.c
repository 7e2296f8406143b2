/* Makes usleep return after half of the time that it was asked for. To be preloaded. */
#include <time.h>
#include <unistd.h>

int usleep(useconds_t microseconds)
{
    long ns = (long)microseconds * 500;
    struct timespec half = { ns / 1000000000, ns % 1000000000 };
    return nanosleep(&half, NULL);
}
