// A probe of clockscope: how C++'s stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
//
//     c++ -std=c++17 -O2 -o probe probe.cpp && ./probe MILLISECONDS
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

using std::chrono::high_resolution_clock;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::size_t reads = 1000, min_batches = 6, max_durations = 10'000, max_steps = 20'000;

// One batch, and how long it took.
template <class Clock>
steady_clock::duration batch(std::vector<typename Clock::time_point>& readings) {
    const auto start = steady_clock::now();
    for (auto& reading : readings) reading = Clock::now();
    return steady_clock::now() - start;
}

void print(const char* key, const std::vector<std::int64_t>& list) {
    std::cout << ",\"" << key << "\":[";
    const char* separator = "";
    for (const auto number : list) {
        std::cout << separator << number;
        separator = ",";
    }
    std::cout << ']';
}

template <class Clock>
void measure(const char* api, const std::string& built_on, std::chrono::milliseconds duration) {
    // The unit of the clock's own duration: nothing is rounded.
    using period = typename Clock::period;
    static_assert(period::den % period::num == 0, "a whole number of units makes a second");
    constexpr std::intmax_t units_per_second = period::den / period::num;

    std::vector<typename Clock::time_point> readings(reads);
    std::vector<std::int64_t> batch_ns, steps;
    std::map<std::int64_t, std::uint64_t> differences;
    batch_ns.reserve(max_durations);
    steps.reserve(max_steps);

    auto end = steady_clock::now() + std::min(duration, std::chrono::milliseconds(1000)) / 4.0;
    do batch<Clock>(readings);
    while (steady_clock::now() < end);

    std::int64_t last = 0;
    std::size_t batches = 0;
    end = steady_clock::now() + duration / 1.0;
    while (batches < min_batches || steady_clock::now() < end) {
        const std::chrono::nanoseconds took = batch<Clock>(readings);
        if (batch_ns.size() < max_durations) batch_ns.push_back(took.count());
        batches++;
        for (std::size_t i = 0; i < reads; i++) {
            const std::int64_t value = readings[i].time_since_epoch().count(), difference = value - last;
            last = value;
            if (i > 0) differences[difference]++;
            const bool has_predecessor = i > 0 || batches > 1;
            if (has_predecessor && difference != 0 && steps.size() < max_steps) steps.push_back(difference);
        }
    }

    std::cout << "{\"clockscope_probe\":1,\"api\":\"" << api << "\",\"built_on\":\"" << built_on
              << "\",\"moved_by\":\"clocksource\",\"documented_coarse\":false"
              << ",\"units_per_second\":" << units_per_second << ",\"nominal_hz\":" << units_per_second
              << ",\"batch_reads\":" << reads << ",\"batches\":" << batches;
    print("batch_ns", batch_ns);
    std::cout << ",\"differences\":[";
    const char* separator = "";
    for (const auto& [difference, count] : differences) {
        std::cout << separator << '[' << difference << ',' << count << ']';
        separator = ",";
    }
    std::cout << ']';
    print("steps", steps);
#ifdef __VERSION__
    // Some compilers put words there, too, in which no version is looked for.
    if (std::strspn(__VERSION__, "0123456789.") == std::strlen(__VERSION__)) std::cout << ",\"version\":\"" __VERSION__ "\"";
#endif
    std::cout << '}' << std::endl;
}

int main(int argc, char** argv) {
    int milliseconds = 0;
    if (argc == 2) {
        const char* end = argv[1] + std::strlen(argv[1]);
        if (std::from_chars(argv[1], end, milliseconds).ptr != end) milliseconds = 0;
    }
    if (milliseconds < 1 || milliseconds > 60'000) {
        std::cerr << "usage: probe MILLISECONDS (1 to 60000)\n";
        return 2;
    }
    const std::chrono::milliseconds duration(milliseconds);

    // The third is an alias: of the wall clock in libstdc++, of the monotonic one in libc++.
    constexpr bool wall = std::is_same_v<high_resolution_clock, system_clock>;
    const std::string alias = wall ? "CLOCK_REALTIME, as system_clock" : "CLOCK_MONOTONIC, as steady_clock";

    measure<steady_clock>("std::chrono::steady_clock::now", "CLOCK_MONOTONIC", duration);
#ifdef _LIBCPP_VERSION
    measure<system_clock>("std::chrono::system_clock::now", "CLOCK_REALTIME, in whole microseconds", duration);
#else
    measure<system_clock>("std::chrono::system_clock::now", "CLOCK_REALTIME", duration);
#endif
    measure<high_resolution_clock>("std::chrono::high_resolution_clock::now", alias, duration);
}
