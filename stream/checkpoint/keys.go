package checkpoint

import (
	"encoding/binary"

	"motifd/dyngraph"
)

// The first byte of a key is its space. Numbers inside keys are big-endian, so that keys sort as the numbers do.
const (
	spaceMeta   = 'm' // m + name
	spaceLabel  = 'n' // n + label id (4)
	spaceVertex = 'v' // v + vertex id (4)
	spaceEdge   = 'x' // x + source (4) + label (4) + target (4) [+ id]
	spaceOnce   = 'o' // o + length of the query's name (1) + name [+ key (16)]
	spaceLog    = 'z' // z + batch (8) + part (1) [+ number (4)]
)

// The records of the meta space.
var (
	keyFormat   = []byte("m:format")
	keyStream   = []byte("m:stream")
	keySettings = []byte("m:settings")
	keyState    = []byte("m:state")
	keyQueries  = []byte("m:queries")
	keyIntents  = []byte("m:intents") // not there before the first commit, and in checkpoints of older versions
	keyTopic    = []byte("m:topic")   // not there until a topic with an id is read
	keySuspend  = []byte("m:suspend") // not there unless queries are to be suspended
	keyEpochs   = []byte("m:epochs")  // not there until a topic with leader epochs is read
	keyFiles    = []byte("m:files")   // not there until an input of several files is read
	keyMode     = []byte("m:mode")    // not there until an output that knows one is opened
)

// The parts of a log entry, in key order.
const (
	partIntent   = 1
	partDecision = 2 // followed by a number: 0, 1, ...
	partDone     = 3
	partTime     = 4 // not there in checkpoints of older versions
)

const (
	edgeKeyLen = 13 // without an id
	logKeyLen  = 10
)

func labelKey(dst []byte, id dyngraph.LabelID) []byte {
	return binary.BigEndian.AppendUint32(append(dst, spaceLabel), uint32(id))
}

func vertexKey(dst []byte, id dyngraph.VertexID) []byte {
	return binary.BigEndian.AppendUint32(append(dst, spaceVertex), uint32(id))
}

// edgeKey returns the key of an edge; id is "" unless it identifies edges.
func edgeKey(dst []byte, from dyngraph.VertexID, label dyngraph.LabelID, to dyngraph.VertexID, id string) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, spaceEdge), uint32(from))
	dst = binary.BigEndian.AppendUint32(dst, uint32(label))
	return append(binary.BigEndian.AppendUint32(dst, uint32(to)), id...)
}

func logKey(batch uint64, part byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{spaceLog}, batch), part)
}

func decisionKey(batch uint64, n uint32) []byte {
	return binary.BigEndian.AppendUint32(logKey(batch, partDecision), n)
}

// space returns the bounds of a key space for an iterator.
func space(s byte) (lower, upper []byte) { return []byte{s}, []byte{s + 1} }

// parseID reads the number of a label or vertex key.
func parseID(key []byte) (uint32, bool) {
	if len(key) != 5 {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}

// parseEdge reads an edge key: the ends, the label and, where it identifies edges, the id.
func parseEdge(key []byte) (r dyngraph.EdgeRecord, ok bool) {
	if len(key) < edgeKeyLen {
		return r, false
	}
	r.From, r.Label = dyngraph.VertexID(binary.BigEndian.Uint32(key[1:])),
		dyngraph.LabelID(binary.BigEndian.Uint32(key[5:]))
	r.To = dyngraph.VertexID(binary.BigEndian.Uint32(key[9:]))
	r.Attr.ID = string(key[edgeKeyLen:])
	return r, true
}

// parseLog reads a log key; n is the number of a decision.
func parseLog(key []byte) (batch uint64, part byte, n uint32, ok bool) {
	if len(key) < logKeyLen {
		return 0, 0, 0, false
	}
	batch, part = binary.BigEndian.Uint64(key[1:]), key[9]
	switch {
	case (part == partIntent || part == partDone || part == partTime) && len(key) == logKeyLen:
		return batch, part, 0, true
	case part == partDecision && len(key) == logKeyLen+4:
		return batch, part, binary.BigEndian.Uint32(key[10:]), true
	}
	return 0, 0, 0, false
}
