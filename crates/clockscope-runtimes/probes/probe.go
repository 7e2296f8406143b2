// A probe of clockscope: how Go's stopwatch reads. The protocol is probes/README.md of clockscope-runtimes.
//
//	go run probe.go MILLISECONDS
//
// It imports little, so that building it for the first time does not build much of the standard library.
package main

import (
	"os"
	"runtime"
	"sort"
	"strconv"
	"time"
)

const (
	reads        = 1000
	minBatches   = 6
	maxDurations = 10000
	maxSteps     = 20000
	maxWarmUp    = 250 * time.Millisecond
)

// batch fills readings and tells how long that took.
func batch(readings []time.Time) time.Duration {
	start := time.Now()
	for i := range readings {
		readings[i] = time.Now()
	}
	return time.Since(start)
}

// A Time of time.Now holds a wall clock reading and a monotonic one; Sub takes the monotonic ones. The others are not looked at.
func measureNow(duration time.Duration) []byte {
	readings := make([]time.Time, reads)
	batchNs := make([]int64, 0, maxDurations)
	steps := make([]int64, 0, maxSteps)
	differences := map[int64]int64{}
	var last time.Time

	for start := time.Now(); ; {
		batch(readings)
		if elapsed := time.Since(start); elapsed >= duration/4 || elapsed >= maxWarmUp {
			break
		}
	}

	batches := int64(0)
	for start := time.Now(); batches < minBatches || time.Since(start) < duration; {
		took := batch(readings)
		if len(batchNs) < maxDurations {
			batchNs = append(batchNs, int64(took))
		}
		batches++
		for i, reading := range readings {
			difference := int64(reading.Sub(last))
			last = reading
			if i > 0 {
				differences[difference]++
			}
			hasPredecessor := i > 0 || batches > 1
			if hasPredecessor && difference != 0 && len(steps) < maxSteps {
				steps = append(steps, difference)
			}
		}
	}

	line := []byte(`{"clockscope_probe":1,"api":"time.Now","built_on":"CLOCK_MONOTONIC, read with CLOCK_REALTIME",` +
		`"moved_by":"clocksource","documented_coarse":false,` +
		`"units_per_second":1000000000,"nominal_hz":1000000000,"batch_reads":`)
	line = strconv.AppendInt(line, reads, 10)
	line = strconv.AppendInt(append(line, `,"batches":`...), batches, 10)
	line = appendList(append(line, `,"batch_ns":`...), batchNs)

	ascending := make([]int64, 0, len(differences))
	for difference := range differences {
		ascending = append(ascending, difference)
	}
	sort.Slice(ascending, func(i, j int) bool { return ascending[i] < ascending[j] })
	line = append(line, `,"differences":[`...)
	for i, difference := range ascending {
		if i > 0 {
			line = append(line, ',')
		}
		line = appendList(line, []int64{difference, differences[difference]})
	}
	line = appendList(append(line, `],"steps":`...), steps)
	version := runtime.Version() // "go1.26.8"
	if version[:2] == "go" {
		version = version[2:]
	}
	return append(line, `,"version":"`+version+"\"}\n"...)
}

func appendList(line []byte, list []int64) []byte {
	line = append(line, '[')
	for i, number := range list {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendInt(line, number, 10)
	}
	return append(line, ']')
}

func main() {
	milliseconds := 0
	if len(os.Args) == 2 {
		milliseconds, _ = strconv.Atoi(os.Args[1])
	}
	if milliseconds < 1 || milliseconds > 60000 {
		os.Stderr.WriteString("usage: probe MILLISECONDS (1 to 60000)\n")
		os.Exit(2)
	}
	os.Stdout.Write(measureNow(time.Duration(milliseconds) * time.Millisecond))
}
