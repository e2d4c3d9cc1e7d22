package checkpoint

import (
	"encoding/binary"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/eventtime"
)

// state is the record that every commit rewrites.
type state struct {
	batch        uint64 // last committed batch
	bootstrapped bool   // a graph was stored as batch 0
	positions    stream.Positions
	mark         stream.Mark
	// older and newer are the ids that the last batch but one and the last batch freed.
	older, newer []dyngraph.VertexID
	digests      digests
	time         *eventtime.State // nil when no edge ever expired
}

// appendState encodes a state, with event time if the value has timeVersion.
func appendState(b []byte, s *state) []byte {
	b = binary.AppendUvarint(b, s.batch)
	b = appendBool(b, s.bootstrapped)
	b = appendPositions(b, s.positions)
	b = appendBool(b, s.mark != nil)
	b = appendString(b, []byte(s.mark))
	b = appendIDs(b, s.older)
	b = appendIDs(b, s.newer)
	b = s.digests.append(b)
	if s.time != nil {
		b = appendTime(b, s.time)
	}
	return b
}

func (d *decoder) state() (*state, error) {
	s := &state{batch: d.uvarint(), bootstrapped: d.bool(), positions: d.positions()}
	has := d.bool()
	if mark := d.raw(); has {
		s.mark = append(stream.Mark{}, mark...)
	} else if len(mark) > 0 {
		d.fail()
	}
	s.older, s.newer = d.ids(), d.ids()
	s.digests = d.digests()
	if d.version == timeVersion {
		s.time = d.time()
	}
	return s, d.finish("the state")
}

// after returns the pending lists after a batch, checked against what the batch says became free.
func (s *state) after(e *dyngraph.Effect) (older, newer []dyngraph.VertexID, err error) {
	if !sameIDs(s.older, e.Released) {
		return nil, nil, fmt.Errorf("the batch released %d ids, but %d were due: every batch is staged, one without "+
			"updates too", len(e.Released), len(s.older))
	}
	return s.newer, recordIDs(e.Freed), nil
}

// before returns the pending lists before the batch that led to s.
func (s *state) before(e *dyngraph.Effect) (older, newer []dyngraph.VertexID, err error) {
	if freed := recordIDs(e.Freed); !sameIDs(s.newer, freed) {
		return nil, nil, damaged("%d ids are pending from the batch, which freed %d", len(s.newer), len(freed))
	}
	return e.Released, s.older, nil
}

func recordIDs(vs []dyngraph.VertexRecord) []dyngraph.VertexID {
	if len(vs) == 0 {
		return nil
	}
	ids := make([]dyngraph.VertexID, len(vs))
	for i := range vs {
		ids[i] = vs[i].ID
	}
	return ids
}

// sameIDs tells whether two lists hold the same ids, in whatever order.
func sameIDs(a, b []dyngraph.VertexID) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
