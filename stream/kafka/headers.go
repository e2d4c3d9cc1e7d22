package kafka

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/stream"
)

// Names of the record headers. Their values are text, so that any tool shows them. (stream, batch, index) names a
// record of the main output for good (DESIGN S7); in the dead-letter topic the index counts the batch's dead letters.
const (
	HeaderStream   = "motifd-stream"
	HeaderBatch    = "motifd-batch"
	HeaderIndex    = "motifd-index"
	HeaderQuery    = "motifd-query"
	HeaderSign     = "motifd-sign"     // "+", "-" or "!"; absent from records without a sign
	HeaderSnapshot = "motifd-snapshot" // "true" on records of a registration, else absent
)

// headers appends the headers of a record of the main output to dst. The values point into scratch, which is
// returned grown.
func headers(dst []header, scratch []byte, streamID string, r *stream.OutRecord) ([]header, []byte) {
	dst, scratch = nameHeaders(dst, scratch, streamID, r.Batch, r.Index)
	dst = append(dst, header{HeaderQuery, []byte(r.Query)})
	switch {
	case r.Notice:
		dst = append(dst, header{HeaderSign, bang})
	case r.Sign == dyngraph.Inserted:
		dst = append(dst, header{HeaderSign, plus})
	case r.Sign == dyngraph.Deleted:
		dst = append(dst, header{HeaderSign, minus})
	}
	if r.Snapshot {
		dst = append(dst, header{HeaderSnapshot, yes})
	}
	return dst, scratch
}

var plus, minus, bang, yes = []byte("+"), []byte("-"), []byte("!"), []byte("true")

// nameHeaders appends the three headers that name a record.
func nameHeaders(dst []header, scratch []byte, streamID string, batch, index uint64) ([]header, []byte) {
	i := len(scratch)
	scratch = strconv.AppendUint(scratch, batch, 10)
	j := len(scratch)
	scratch = strconv.AppendUint(scratch, index, 10)
	return append(dst,
		header{HeaderStream, []byte(streamID)},
		header{HeaderBatch, scratch[i:j:j]},
		header{HeaderIndex, scratch[j:]}), scratch
}

// recordName is what the headers of a published record say.
type recordName struct {
	stream       string
	batch, index uint64
	ok           bool // all three headers are there and make sense
}

func nameOf(r *record) (recordName, error) {
	var n recordName
	var have int
	err := r.eachHeader(func(k, v []byte) {
		var err error
		switch string(k) {
		case HeaderStream:
			n.stream = string(v)
		case HeaderBatch:
			n.batch, err = strconv.ParseUint(string(v), 10, 64)
		case HeaderIndex:
			n.index, err = strconv.ParseUint(string(v), 10, 64)
		default:
			return
		}
		if err == nil {
			have++
		}
	})
	n.ok = have == 3
	return n, err
}
