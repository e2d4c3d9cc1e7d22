package timeline

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"motifd/stream"
)

// traceEvent is an event of the Trace Event Format, which chrome://tracing and Perfetto open. Times are in
// microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"` // X: a span; M: what something is called
	TS       float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// lanesInOrder are the lanes from the top, as far as they are known here; others, a device's, come before the
// publisher.
var lanesInOrder = []stream.Lane{stream.LaneReader, stream.LaneEngine, laneStep, stream.LaneEncoder}

// laneOrder returns the lanes of spans from the top.
func laneOrder(spans []span) []stream.Lane {
	var found []stream.Lane
	for _, s := range spans {
		if !slices.Contains(found, s.lane) {
			found = append(found, s.lane)
		}
	}
	rank := func(l stream.Lane) int {
		if at := slices.Index(lanesInOrder, l); at >= 0 {
			return at
		}
		if l == stream.LanePublisher {
			return len(lanesInOrder) + 1
		}
		return len(lanesInOrder)
	}
	slices.SortFunc(found, func(a, b stream.Lane) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	return found
}

// writeTraceEvents writes spans, a line each, as threads of one process. A span is named after its kind and its batch;
// its category is its kind.
func writeTraceEvents(w io.Writer, spans []span) error {
	out := bufio.NewWriterSize(w, 1<<16)
	lanes := laneOrder(spans)
	between := "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
	write := func(e traceEvent) error {
		e.Process = 1
		text, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s%s", between, text)
		}
		between = ",\n"
		return err
	}
	if err := write(traceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": "motifd"}}); err != nil {
		return err
	}
	for i, l := range lanes {
		if err := write(traceEvent{Name: "thread_name", Phase: "M", Thread: i + 1,
			Args: map[string]any{"name": l}}); err != nil {
			return err
		}
		if err := write(traceEvent{Name: "thread_sort_index", Phase: "M", Thread: i + 1,
			Args: map[string]any{"sort_index": i + 1}}); err != nil {
			return err
		}
	}
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	for _, s := range spans {
		e := traceEvent{Name: fmt.Sprintf("%s %d", s.what, s.batch), Category: s.what, Phase: "X", TS: us(s.begin),
			Duration: us(s.end - s.begin),
			Thread:   slices.Index(lanes, s.lane) + 1, Args: map[string]any{"batch": s.batch}}
		if s.last > s.batch {
			e.Name = fmt.Sprintf("%s %d-%d", s.what, s.batch, s.last)
			e.Args["last_batch"] = s.last
		}
		if s.busy > 0 {
			e.Args["busy_us"] = us(s.busy)
		}
		if s.n > 0 {
			e.Args["n"], e.Args["wave"] = s.n, s.wave
		}
		if err := write(e); err != nil {
			return err
		}
	}
	if _, err := out.WriteString("\n]}\n"); err != nil {
		return err
	}
	return out.Flush()
}
