# A probe of clockscope: how Perl's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
#
#     perl probe.pl MILLISECONDS
use strict;
use warnings;
use Time::HiRes ();

use constant { READS => 1000, MIN_BATCHES => 6, MAX_DURATIONS => 10_000, MAX_STEPS => 20_000 };

# Doubles between 2^30 and 2^31, as seconds since 1970 are until 2038, are 2^-22 s apart: in this unit they are whole.
use constant DOUBLES_PER_SECOND => 4_194_304;

my $MONOTONIC = eval { Time::HiRes::CLOCK_MONOTONIC() };
$MONOTONIC = undef unless defined $MONOTONIC && eval { Time::HiRes::clock_gettime($MONOTONIC) > 0 };

my @readings = (0) x READS;

# Each API has a loop of its own, so that no other call is in its figure. What is: the call, the float that it gives, copied into
# the array, and a turn of the loop.

sub batch_of_clock_gettime {
    for my $i (0 .. READS - 1) { $readings[$i] = Time::HiRes::clock_gettime($MONOTONIC) }
}

sub batch_of_time {
    for my $i (0 .. READS - 1) { $readings[$i] = Time::HiRes::time() }
}

# Seconds, of the finest monotonic clock that there is.
sub now { return defined $MONOTONIC ? Time::HiRes::clock_gettime($MONOTONIC) : Time::HiRes::time() }

sub measure {
    my ($milliseconds, $api, $built_on, $units_per_second, $batch) = @_;

    my $warm = now() + ($milliseconds < 1000 ? $milliseconds : 1000) / 4000;
    do { $batch->() } while now() < $warm;

    my (@batch_ns, @steps, %differences, $last);
    my $batches = 0;
    my $end = now() + $milliseconds / 1000;
    while ($batches < MIN_BATCHES || now() < $end) {
        my $start = now();
        $batch->();
        my $took = now() - $start;
        push @batch_ns, sprintf '%.0f', $took * 1e9 if $batches < MAX_DURATIONS;
        $batches++;
        for my $i (0 .. READS - 1) {
            my $reading    = sprintf '%.0f', $readings[$i] * $units_per_second;
            my $difference = defined $last ? $reading - $last : 0;
            $last = $reading;
            $differences{$difference}++ if $i > 0;
            push @steps, $difference if $difference != 0 && @steps < MAX_STEPS;
        }
    }

    my $pairs = join ',', map { "[$_,$differences{$_}]" } sort { $a <=> $b } keys %differences;
    print qq({"clockscope_probe":1,"api":"$api","built_on":"$built_on","moved_by":"clocksource",),
        qq("documented_coarse":false,"units_per_second":$units_per_second,"nominal_hz":null,),
        qq("batch_reads":${\READS},"batches":$batches,"batch_ns":[${\join ',', @batch_ns}],),
        qq("differences":[$pairs],"steps":[${\join ',', @steps}],"version":"${\sprintf '%vd', $^V}"}\n);
    return;
}

my $milliseconds = "@ARGV" =~ /\A[0-9]{1,5}\z/ ? $ARGV[0] : 0;
if ($milliseconds < 1 || $milliseconds > 60_000) {
    print STDERR "usage: probe.pl MILLISECONDS (1 to 60000)\n";
    exit 2;
}
$| = 1;

my $api = 'Time::HiRes::clock_gettime(CLOCK_MONOTONIC)';
if (defined $MONOTONIC) {
    measure($milliseconds, $api, 'CLOCK_MONOTONIC, as a float', 1_000_000_000, \&batch_of_clock_gettime);
}
else {
    print qq({"clockscope_probe":1,"api":"$api","unavailable":"this system's Time::HiRes has none"}\n);
}
measure($milliseconds, 'Time::HiRes::time', 'CLOCK_REALTIME, in whole microseconds, as a float', DOUBLES_PER_SECOND, \&batch_of_time);
