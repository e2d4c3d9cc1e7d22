package publish

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// headers appends the headers of a record of the main output to dst. The values point into scratch, which is
// returned grown.
func headers(
	dst []recordbatch.Header,
	scratch []byte,
	streamID string,
	r *stream.OutRecord,
) ([]recordbatch.Header, []byte) {
	dst, scratch = nameHeaders(dst, scratch, streamID, r.Batch, r.Index)
	dst = append(dst, recordbatch.Header{Key: kafka.HeaderQuery, Value: []byte(r.Query)})
	switch {
	case r.Notice:
		dst = append(dst, recordbatch.Header{Key: kafka.HeaderSign, Value: bang})
	case r.Sign == dyngraph.Inserted:
		dst = append(dst, recordbatch.Header{Key: kafka.HeaderSign, Value: plus})
	case r.Sign == dyngraph.Deleted:
		dst = append(dst, recordbatch.Header{Key: kafka.HeaderSign, Value: minus})
	default:
		dst = append(dst, recordbatch.Header{Key: kafka.HeaderSign, Value: tilde})
	}
	if r.Snapshot {
		dst = append(dst, recordbatch.Header{Key: kafka.HeaderSnapshot, Value: yes})
	}
	return dst, scratch
}

var plus, minus, tilde, bang, yes = []byte("+"), []byte("-"), []byte("~"), []byte("!"), []byte("true")

// nameHeaders appends the three headers that name a record.
func nameHeaders(
	dst []recordbatch.Header,
	scratch []byte,
	streamID string,
	batch, index uint64,
) ([]recordbatch.Header, []byte) {
	i := len(scratch)
	scratch = strconv.AppendUint(scratch, batch, 10)
	j := len(scratch)
	scratch = strconv.AppendUint(scratch, index, 10)
	return append(dst,
		recordbatch.Header{Key: kafka.HeaderStream, Value: []byte(streamID)},
		recordbatch.Header{Key: kafka.HeaderBatch, Value: scratch[i:j:j]},
		recordbatch.Header{Key: kafka.HeaderIndex, Value: scratch[j:]}), scratch
}

// recordName is the name of a published record, from its headers.
type recordName struct {
	stream       string
	batch, index uint64
	ok           bool // all three headers are there and make sense
}

func nameOf(r *recordbatch.Record) (recordName, error) {
	var n recordName
	var have int
	err := r.EachHeader(func(k, v []byte) {
		var err error
		switch string(k) {
		case kafka.HeaderStream:
			n.stream = string(v)
		case kafka.HeaderBatch:
			n.batch, err = strconv.ParseUint(string(v), 10, 64)
		case kafka.HeaderIndex:
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
