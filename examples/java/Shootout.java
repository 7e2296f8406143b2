// libclockscope beside System.nanoTime(): the smallest difference of two readings, and the cost of a
// reading. Needs an installed libclockscope, and Java 22 or later, which has the API for foreign
// functions (java.lang.foreign). An older Java shows nanoTime() alone and says so.
//
//     javac Shootout.java && java --enable-native-access=ALL-UNNAMED Shootout
//
// The program finds the API by reflection, so that an older compiler will do. Readings need none: a
// constant method handle is compiled into the loop.

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.util.Locale;
import java.util.Optional;

public final class Shootout {
    private static final int READS = 1_000_000;
    private static final MethodHandle NOW = find("clockscope_now");
    private static final MethodHandle NOW_UNORDERED = find("clockscope_now_unordered");

    private interface Loop {
        long smallestStep(int reads) throws Throwable;
    }

    // Linker.nativeLinker().downcallHandle(address, FunctionDescriptor.of(JAVA_LONG)); null before
    // Java 22.
    private static MethodHandle find(String name) {
        try {
            Class<?> linkers = Class.forName("java.lang.foreign.Linker");
            Class<?> lookups = Class.forName("java.lang.foreign.SymbolLookup");
            Class<?> arenas = Class.forName("java.lang.foreign.Arena");
            Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
            Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
            Class<?> descriptors = Class.forName("java.lang.foreign.FunctionDescriptor");
            Class<?> options = Class.forName("java.lang.foreign.Linker$Option");
            Object none = Array.newInstance(layouts, 0);
            Object word = Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
            Object descriptor = descriptors.getMethod("of", layouts, none.getClass()).invoke(null, word, none);
            Object arena = arenas.getMethod("global").invoke(null);
            Object lookup = lookups.getMethod("libraryLookup", String.class, arenas)
                .invoke(null, System.mapLibraryName("clockscope"), arena);
            Object address = ((Optional<?>) lookups.getMethod("find", String.class).invoke(lookup, name)).get();
            Object unused = Array.newInstance(options, 0);
            Object linker = linkers.getMethod("nativeLinker").invoke(null);
            return (MethodHandle) linkers.getMethod("downcallHandle", segments, descriptors, unused.getClass())
                .invoke(linker, address, descriptor, unused);
        } catch (ClassNotFoundException | NoSuchMethodException older) {
            return null;
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException("cannot find " + name, failed);
        }
    }

    private static long smaller(long least, long difference) {
        return difference > 0 && difference < least ? difference : least;
    }

    private static long ofNanoTime(int reads) {
        long least = Long.MAX_VALUE, last = System.nanoTime();
        for (int read = 0; read < reads; ++read) {
            long now = System.nanoTime();
            least = smaller(least, now - last);
            last = now;
        }
        return least;
    }

    private static long ofNow(int reads) throws Throwable {
        long least = Long.MAX_VALUE, last = (long) NOW.invokeExact();
        for (int read = 0; read < reads; ++read) {
            long now = (long) NOW.invokeExact();
            least = smaller(least, now - last);
            last = now;
        }
        return least;
    }

    private static long ofNowUnordered(int reads) throws Throwable {
        long least = Long.MAX_VALUE, last = (long) NOW_UNORDERED.invokeExact();
        for (int read = 0; read < reads; ++read) {
            long now = (long) NOW_UNORDERED.invokeExact();
            least = smaller(least, now - last);
            last = now;
        }
        return least;
    }

    private static void print(String name, Loop loop) throws Throwable {
        long step = Long.MAX_VALUE, shortest = Long.MAX_VALUE;
        // The first ones are compiled meanwhile.
        for (int turn = 0; turn < 10; ++turn) {
            long start = System.nanoTime();
            step = Math.min(step, loop.smallestStep(READS));
            shortest = Math.min(shortest, System.nanoTime() - start);
        }
        System.out.printf(Locale.ROOT, "%-26s %10d %10.1f%n", name, step, (double) shortest / READS);
    }

    public static void main(String[] arguments) throws Throwable {
        System.out.printf(Locale.ROOT, "%-26s %10s %10s%n", "", "step, ns", "cost, ns");
        print("System.nanoTime", Shootout::ofNanoTime);
        if (NOW == null) {
            System.out.println("clockscope: this Java has no java.lang.foreign: expected Java 22 or later");
            return;
        }
        print("clockscope_now", Shootout::ofNow);
        print("clockscope_now_unordered", Shootout::ofNowUnordered);
    }
}
