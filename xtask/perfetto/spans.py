"""Prints the spans of a Perfetto trace as JSON lines, by Perfetto's own protobuf definitions.

Clocks are converted as trace_processor documents it: an event keeps its time if its clock is the
primary one, and the snapshot's offset leads to the time of day. Whatever trace_processor would
drop is an error.
"""

import datetime
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

EPOCH = datetime.datetime(1970, 1, 1)


def time_of_day(ns: int) -> str:
    seconds, rest = divmod(ns, 10**9)
    return f"{(EPOCH + datetime.timedelta(seconds=seconds)).isoformat()}.{rest:09}Z"


def main(path: str) -> None:
    trace = pb.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    clocks: dict[int, int] = {}
    primary = 0
    tracks: set[int] = set()
    spans: list[dict[str, object]] = []
    open_spans: list[dict[str, object]] = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id != 0, f"no sequence: {packet}"
        kind = packet.WhichOneof("data")
        if kind == "clock_snapshot":
            assert not clocks, "a second snapshot"
            clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
            primary = packet.clock_snapshot.primary_trace_clock
        elif kind == "track_descriptor":
            tracks.add(packet.track_descriptor.uuid)
        elif kind == "track_event":
            event = packet.track_event
            assert packet.timestamp_clock_id == primary, f"not the primary clock: {packet}"
            assert event.track_uuid in tracks, f"no such track: {packet}"
            if event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
                offset = clocks[pb.BUILTIN_CLOCK_REALTIME] - clocks[primary]
                start = packet.timestamp
                span = {"name": event.name, "start_ns": start, "start": time_of_day(start + offset)}
                spans.append(span)
                open_spans.append(span)
            elif event.type == pb.TrackEvent.TYPE_SLICE_END:
                span = open_spans.pop()
                span["length_ns"] = packet.timestamp - span["start_ns"]
            else:
                raise AssertionError(f"neither begin nor end: {packet}")
        else:
            raise AssertionError(f"unexpected packet: {packet}")
    assert primary == pb.BUILTIN_CLOCK_MONOTONIC, f"primary clock {primary}"
    assert not open_spans, "a span without an end"
    for span in spans:
        print(json.dumps(span))


main(sys.argv[1])
