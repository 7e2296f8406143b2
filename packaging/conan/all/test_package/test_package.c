#include <clockscope.h>
#include <stdio.h>

int main(void) {
    uint64_t first = clockscope_now();
    uint64_t second = clockscope_now();
    printf("%llu ns\n", (unsigned long long)(second - first));
    return second < first;
}
