# A probe of clockscope: how Ruby's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
#
#     ruby probe.rb MILLISECONDS

READS = 1000
MIN_BATCHES = 6
MAX_DURATIONS = 10_000
MAX_STEPS = 20_000

READINGS = Array.new(READS, 0)

# Each API has a loop of its own, so that no call of a block is in its figure. What is: looking up the constant and the method, and a
# turn of `while`. (`times` would call a block for each reading.)
BATCHES = {
  "Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)" => lambda do
    i = 0
    while i < READS
      READINGS[i] = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      i += 1
    end
  end,
  "Process.clock_gettime(Process::CLOCK_MONOTONIC)" => lambda do
    i = 0
    while i < READS
      READINGS[i] = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      i += 1
    end
  end,
  "Time.now" => lambda do
    i = 0
    while i < READS
      READINGS[i] = Time.now
      i += 1
    end
  end
}

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def timed(batch)
  start = now
  batch.call
  now - start
end

# Prints the line of an API. The block makes whole nanoseconds of a reading when the batch is over.
def measure(milliseconds, api, built_on, nominal_hz)
  batch = BATCHES.fetch(api)
  warm = now + [milliseconds, 1000].min * 250_000
  loop do
    batch.call
    break if now >= warm
  end

  batches = 0
  batch_ns = []
  steps = []
  differences = Hash.new(0)
  last = nil
  finish = now + milliseconds * 1_000_000
  while batches < MIN_BATCHES || now < finish
    took = timed(batch)
    batch_ns << took if batches < MAX_DURATIONS
    batches += 1
    READINGS.each_with_index do |reading, i|
      value = yield reading
      difference = last && value - last
      last = value
      differences[difference] += 1 if i > 0
      steps << difference if difference && difference != 0 && steps.size < MAX_STEPS
    end
  end

  pairs = differences.sort.map { |difference, count| "[#{difference},#{count}]" }
  puts %({"clockscope_probe":1,"api":"#{api}","built_on":"#{built_on}","moved_by":"clocksource",) +
       %("documented_coarse":false,"units_per_second":1000000000,) +
       %("nominal_hz":#{nominal_hz},"batch_reads":#{READS},"batches":#{batches},"batch_ns":[#{batch_ns.join(',')}],) +
       %("differences":[#{pairs.join(',')}],"steps":[#{steps.join(',')}],"version":"#{RUBY_VERSION}"})
  $stdout.flush
end

milliseconds = ARGV[0].to_s.match?(/\A\d+\z/) ? ARGV[0].to_i : 0
unless milliseconds.between?(1, 60_000)
  warn "usage: probe.rb MILLISECONDS (1 to 60000)"
  exit 2
end

measure(milliseconds, "Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)", "CLOCK_MONOTONIC", 1_000_000_000) do |reading|
  reading
end
measure(milliseconds, "Process.clock_gettime(Process::CLOCK_MONOTONIC)", "CLOCK_MONOTONIC, as a float", "null") do |reading|
  (reading * 1_000_000_000).round
end
measure(milliseconds, "Time.now", "CLOCK_REALTIME", 1_000_000_000) do |reading|
  reading.to_i * 1_000_000_000 + reading.nsec
end
