package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	fetchapi "github.com/segmentio/kafka-go/protocol/fetch"
)

// maxResponse bounds the size of a fetch response, against a peer that is no Kafka broker. A broker answers with one
// record batch at least, so a topic's max.message.bytes must be smaller.
const maxResponse = 256 << 20

// MaxFetch is the size of the largest record batch that can be read: a topic's max.message.bytes must not be above.
const MaxFetch = maxResponse / 2

// fetchRequest asks one partition's leader for records. It is a protocol.RawExchanger so that the answer comes as raw
// bytes: see the package comment.
type fetchRequest struct {
	fetchapi.Request
	clientID string
	version  int16
}

// fetched is the answer for one partition.
type fetched struct {
	end     int64 // end of what can be read: the last stable offset under read_committed, else the high watermark
	aborted []abortedTxn
	batches []byte // whole record batches, the last one possibly cut short; owned by the receiver
}

type abortedTxn struct{ producer, first int64 }

func (f *fetched) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required reports true always, and remembers the version that was negotiated for the connection.
func (r *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if r.version < 4 {
		return nil, permanent{
			fmt.Errorf("broker speaks version %d of the fetch protocol; 4 (Kafka 0.11) is the oldest supported", r.version),
		}
	}
	const correlation = 1 // a connection has one request in flight
	if err := protocol.WriteRequest(rw, r.version, correlation, r.clientID, &r.Request); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4])) - 4
	if size < 0 || size > maxResponse {
		return nil, fmt.Errorf("fetch response of %d bytes, limit %d", size, maxResponse)
	}
	if id := binary.BigEndian.Uint32(head[4:]); id != correlation {
		return nil, fmt.Errorf("fetch response has correlation id %d, want %d", id, correlation)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	return parseFetch(body, r.version, kafkago.IsolationLevel(r.IsolationLevel))
}

// parseFetch reads a fetch response, versions 4 to 11, for one partition.
func parseFetch(body []byte, version int16, iso kafkago.IsolationLevel) (*fetched, error) {
	b := wire{b: body}
	b.int32() // throttle time
	if version >= 7 {
		if code := b.int16(); code != 0 {
			return nil, kafkago.Error(code)
		}
		b.int32() // session
	}
	if n := b.int32(); n != 1 && b.err == nil {
		return nil, fmt.Errorf("fetch response holds %d topics, asked for 1", n)
	}
	b.bytes(int(b.int16()))
	if n := b.int32(); n != 1 && b.err == nil {
		return nil, fmt.Errorf("fetch response holds %d partitions, asked for 1", n)
	}
	b.int32() // partition
	code := b.int16()
	f := &fetched{end: b.int64()}
	if stable := b.int64(); iso == kafkago.ReadCommitted && stable >= 0 {
		f.end = stable
	}
	if version >= 5 {
		b.int64() // log start
	}
	n := int(b.int32()) // -1 when there are none
	if n > len(b.b)/16 {
		return nil, errShort
	}
	for range max(n, 0) {
		f.aborted = append(f.aborted, abortedTxn{b.int64(), b.int64()})
	}
	if version >= 11 {
		b.int32() // preferred replica
	}
	f.batches = b.bytes(int(max(b.int32(), 0)))
	if b.err != nil {
		return nil, b.err
	}
	if code != 0 {
		return nil, kafkago.Error(code)
	}
	return f, nil
}

// fetch asks for records of a partition from an offset on. It waits up to wait for the first record.
func (c *client) fetch(
	ctx context.Context,
	topic string,
	partition int32,
	offset int64,
	maxBytes int,
	wait time.Duration,
	iso kafkago.IsolationLevel,
) (*fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.RequestTimeout+wait)
	defer cancel()
	m, err := c.transport.RoundTrip(ctx, c.addr, &fetchRequest{clientID: c.opt.ClientID, Request: fetchapi.Request{
		ReplicaID:      -1,
		MaxWaitTime:    int32(wait.Milliseconds()),
		MinBytes:       1,
		MaxBytes:       MaxFetch, // the partition's limit is to cut the answer: the embedded log then tells of aborted transactions
		IsolationLevel: int8(iso),
		SessionEpoch:   -1,
		Topics: []fetchapi.RequestTopic{{Topic: topic, Partitions: []fetchapi.RequestPartition{{
			Partition:          partition,
			CurrentLeaderEpoch: -1,
			FetchOffset:        offset,
			LogStartOffset:     -1,
			PartitionMaxBytes:  int32(maxBytes),
		}}}},
	}})
	if err != nil {
		return nil, err
	}
	return m.(*fetched), nil
}

var errShort = errors.New("message is cut short")

// wire reads big-endian fields; after the first error it returns zeros.
type wire struct {
	b   []byte
	err error
}

func (w *wire) bytes(n int) []byte {
	if w.err != nil || n < 0 || n > len(w.b) {
		if w.err == nil {
			w.err = errShort
		}
		return nil
	}
	out := w.b[:n:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) int16() int16 {
	if b := w.bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *wire) int32() int32 {
	if b := w.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (w *wire) int64() int64 {
	if b := w.bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// varint reads a zigzag-encoded integer as records hold them.
func (w *wire) varint() int64 {
	if w.err != nil {
		return 0
	}
	v, n := binary.Varint(w.b)
	if n <= 0 {
		w.err = errShort
		return 0
	}
	w.b = w.b[n:]
	return v
}

// varbytes reads a length and as many bytes; nil when the length is -1.
func (w *wire) varbytes() []byte {
	n := w.varint()
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(w.b)) {
		if w.err == nil {
			w.err = errShort
		}
		return nil
	}
	b := w.bytes(int(n))
	if b == nil {
		b = []byte{}
	}
	return b
}
