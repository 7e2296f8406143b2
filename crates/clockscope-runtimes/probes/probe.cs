// A probe of clockscope: how .NET's and Mono's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
//
//     mcs probe.cs && mono probe.exe MILLISECONDS
//     csc probe.cs && probe.exe MILLISECONDS          (.NET Framework, whose compiler knows C# 5)
//     dotnet build -c Release -o FOLDER probe.csproj && dotnet FOLDER/probe.dll MILLISECONDS
//
// or without an SDK, in the runtime whose folder is $R (dotnet --list-runtimes):
//
//     mcs -nostdlib -noconfig -d:NETCOREAPP -r:$R/System.Private.CoreLib.dll,$R/System.Runtime.dll,$R/System.Console.dll \
//         -r:$R/System.Runtime.Extensions.dll,$R/System.Collections.dll,$R/System.Runtime.InteropServices.RuntimeInformation.dll probe.cs
//     dotnet exec --runtimeconfig probe.runtimeconfig.json probe.exe MILLISECONDS
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.InteropServices;

static class Probe
{
    const int Reads = 1000, MinBatches = 6, MaxDurations = 10000, MaxSteps = 20000;

    // However short the rest is: tiered compilation takes 100 ms to notice that a method of the class library is called often.
    const int WarmUpMilliseconds = 250;

    static readonly bool IsMono = Type.GetType("Mono.Runtime") != null;

    // Whether it is .NET itself, and neither .NET Framework nor Mono: it alone reads the precise system time of Windows.
    static readonly bool IsDotnet = !IsMono && RuntimeInformation.FrameworkDescription.StartsWith(".NET")
        && !RuntimeInformation.FrameworkDescription.StartsWith(".NET Framework");

    // What moves a clock, and whether it is documented in whole milliseconds. The timer interrupt moves the cheap system time of
    // Windows, its tick counts, and CLOCK_MONOTONIC_COARSE, which macOS lacks: the counter itself is read there.
    const string Stopwatches = "\"moved_by\":{\"windows\":\"performance_counter\",\"others\":\"clocksource\"},\"documented_coarse\":false";
    const string CheapWall = "\"moved_by\":{\"windows\":\"timer_tick\",\"others\":\"clocksource\"},\"documented_coarse\":false";
    const string TickCounts = "\"moved_by\":{\"linux\":\"timer_tick\",\"macos\":\"clocksource\",\"windows\":\"timer_tick\"},\"documented_coarse\":true";

    static readonly long[] numbers = new long[Reads];
    static readonly DateTime[] times = new DateTime[Reads];

    // Each API has a loop of its own: the compiler inlines the call, and no reading passes through a delegate.

    static void GetTimestamp()
    {
        for (int i = 0; i < numbers.Length; i++) numbers[i] = Stopwatch.GetTimestamp();
    }

    static void UtcNow()
    {
        for (int i = 0; i < times.Length; i++) times[i] = DateTime.UtcNow;
    }

#if NETCOREAPP
    static void TickCount64()
    {
        for (int i = 0; i < numbers.Length; i++) numbers[i] = Environment.TickCount64;
    }
#else
    // TickCount goes on below 0 after 2^31 ms and begins again after 2^32; this does not.
    static long tickCount;

    static long Unwrapped(long reading)
    {
        return tickCount += unchecked((int)reading - (int)tickCount);
    }

    static void TickCount()
    {
        for (int i = 0; i < numbers.Length; i++) numbers[i] = Environment.TickCount;
    }
#endif

    static long Nanoseconds(long ticks)
    {
        return (long)((decimal)ticks * 1000000000 / Stopwatch.Frequency);
    }

    // The call behind TickCount64 or TickCount on Windows. .NET 11 changed it (dotnet/runtime, pull request 122706).
    static string TickCountOnWindows()
    {
        if (IsDotnet && Environment.Version.Major >= 11) return "QueryUnbiasedInterruptTime";
        return IsDotnet || IsMono ? "GetTickCount64" : "GetTickCount";
    }

    // The same on Windows, where .NET reads the precise system time, and .NET Framework and Mono do not.
    static string OnWindows(string builtOn)
    {
        return builtOn.Replace("CLOCK_MONOTONIC_COARSE", TickCountOnWindows())
            .Replace("CLOCK_MONOTONIC", "QueryPerformanceCounter")
            .Replace("CLOCK_REALTIME", IsDotnet ? "GetSystemTimePreciseAsFileTime" : "GetSystemTimeAsFileTime")
            .Replace("in whole microseconds", "in units of 100 ns");
    }

    // Reads an API in batches and prints its line. What value makes a number of is a reading of a batch that is over.
    static void Measure(int milliseconds, string api, string builtOn, string facts, long unitsPerSecond, Action batch,
        Func<int, long> value)
    {
        var batchNs = new List<long>(MaxDurations);
        var steps = new List<long>(MaxSteps);
        var differences = new Dictionary<long, long>();
        long batches = 0, last = 0;

        var elapsed = Stopwatch.StartNew();
        do batch(); while (elapsed.ElapsedMilliseconds < WarmUpMilliseconds);

        elapsed.Restart();
        while (batches < MinBatches || elapsed.ElapsedMilliseconds < milliseconds)
        {
            long before = Stopwatch.GetTimestamp();
            batch();
            long took = Stopwatch.GetTimestamp() - before;
            if (batchNs.Count < MaxDurations) batchNs.Add(Nanoseconds(took));
            batches++;
            for (int i = 0; i < Reads; i++)
            {
                long reading = value(i), difference = reading - last;
                last = reading;
                if (i > 0)
                {
                    long count;
                    differences.TryGetValue(difference, out count);
                    differences[difference] = count + 1;
                }
                bool hasPredecessor = i > 0 || batches > 1;
                if (hasPredecessor && difference != 0 && steps.Count < MaxSteps) steps.Add(difference);
            }
        }

        if (Environment.OSVersion.Platform == PlatformID.Win32NT) builtOn = OnWindows(builtOn);
        var pairs = new List<string>();
        var ascending = new List<long>(differences.Keys);
        ascending.Sort();
        foreach (long difference in ascending) pairs.Add("[" + difference + "," + differences[difference] + "]");
        Console.Out.WriteLine("{\"clockscope_probe\":1,\"api\":\"" + api + "\",\"built_on\":\"" + builtOn
            + "\"," + facts + ",\"units_per_second\":" + unitsPerSecond + ",\"nominal_hz\":" + unitsPerSecond
            + ",\"batch_reads\":" + Reads + ",\"batches\":" + batches + ",\"batch_ns\":[" + string.Join(",", batchNs)
            + "],\"differences\":[" + string.Join(",", pairs) + "],\"steps\":[" + string.Join(",", steps)
            + "],\"version\":\"" + RuntimeInformation.FrameworkDescription + "\"}");
        Console.Out.Flush();
    }

    static int Main(string[] arguments)
    {
        int milliseconds;
        if (arguments.Length != 1 || !int.TryParse(arguments[0], out milliseconds)
            || milliseconds < 1 || milliseconds > 60000)
        {
            Console.Error.WriteLine("usage: probe MILLISECONDS (1 to 60000)");
            return 2;
        }
        string scale = Stopwatch.Frequency == 1000000000 ? "" : ", in units of " + Nanoseconds(1) + " ns";
        Measure(milliseconds, "Stopwatch.GetTimestamp", "CLOCK_MONOTONIC" + scale, Stopwatches, Stopwatch.Frequency,
            GetTimestamp, i => numbers[i]);
        // The same program may run in either, whatever it was compiled against.
        string utcNow = IsMono ? "in whole microseconds" : "in units of 100 ns";
        Measure(milliseconds, "DateTime.UtcNow", "CLOCK_REALTIME, " + utcNow, IsDotnet ? Stopwatches : CheapWall,
            TimeSpan.TicksPerSecond, UtcNow, i => times[i].Ticks);
#if NETCOREAPP
        Measure(milliseconds, "Environment.TickCount64", "CLOCK_MONOTONIC_COARSE, in whole ms", TickCounts, 1000,
            TickCount64, i => numbers[i]);
#else
        Console.Out.WriteLine("{\"clockscope_probe\":1,\"api\":\"Environment.TickCount64\",\"unavailable\":\"the class library that it was compiled against has none\"}");
        Measure(milliseconds, "Environment.TickCount", "CLOCK_MONOTONIC_COARSE, in whole ms", TickCounts, 1000,
            TickCount, i => Unwrapped(numbers[i]));
#endif
        return 0;
    }
}
