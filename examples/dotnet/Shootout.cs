// libclockscope beside .NET's Stopwatch: the smallest difference of two readings, and the cost of a
// reading. Needs an installed libclockscope.
//
//     mcs Shootout.cs && mono Shootout.exe
//
// or as Program.cs of a console project, by `dotnet run -c Release`. On .NET 5 and later the
// attribute [SuppressGCTransition] on the readings makes them cheaper.

using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

static class Shootout
{
    [StructLayout(LayoutKind.Sequential)]
    struct Bound
    {
        public ulong NowNs;
        public ulong LargestNs;
    }

    [DllImport("clockscope")]
    static extern ulong clockscope_now();

    [DllImport("clockscope")]
    static extern ulong clockscope_now_unordered();

    [DllImport("clockscope")]
    static extern int clockscope_error_bound(out Bound bound);

    const int Reads = 1000000;

    // Each loop has its reading in it: a delegate would cost as much as the reading.
    static void Print(string name, double nsPerUnit, Func<int, long> readOften)
    {
        readOften(Reads / 10); // Compiled, and often enough for the counter.
        double smallest = double.MaxValue, cost = double.MaxValue;
        for (int turn = 0; turn < 10; ++turn)
        {
            ulong start = clockscope_now();
            long step = readOften(Reads);
            ulong end = clockscope_now();
            smallest = Math.Min(smallest, step * nsPerUnit);
            cost = Math.Min(cost, (end - start) / (double)Reads);
        }
        Console.WriteLine(string.Format(
            CultureInfo.InvariantCulture, "{0,-26} {1,10:F1} {2,10:F1}", name, smallest, cost));
    }

    static long Smaller(long least, long difference)
    {
        return difference > 0 && difference < least ? difference : least;
    }

    static long OfStopwatch(int reads)
    {
        long least = long.MaxValue, last = Stopwatch.GetTimestamp();
        for (int read = 0; read < reads; ++read)
        {
            long now = Stopwatch.GetTimestamp();
            least = Smaller(least, now - last);
            last = now;
        }
        return least;
    }

    static long OfNow(int reads)
    {
        long least = long.MaxValue, last = (long)clockscope_now();
        for (int read = 0; read < reads; ++read)
        {
            long now = (long)clockscope_now();
            least = Smaller(least, now - last);
            last = now;
        }
        return least;
    }

    static long OfNowUnordered(int reads)
    {
        long least = long.MaxValue, last = (long)clockscope_now_unordered();
        for (int read = 0; read < reads; ++read)
        {
            long now = (long)clockscope_now_unordered();
            least = Smaller(least, now - last);
            last = now;
        }
        return least;
    }

    static int Main()
    {
        Console.WriteLine("{0,-26} {1,10} {2,10}", "", "step, ns", "cost, ns");
        Print("Stopwatch.GetTimestamp", 1e9 / Stopwatch.Frequency, OfStopwatch);
        Print("clockscope_now", 1, OfNow);
        Print("clockscope_now_unordered", 1, OfNowUnordered);
        Bound bound;
        if (clockscope_error_bound(out bound) != 0)
        {
            return 1;
        }
        Console.WriteLine("clockscope is within {0} ns of CLOCK_MONOTONIC", bound.LargestNs);
        return 0;
    }
}
