package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	fetchapi "github.com/segmentio/kafka-go/protocol/fetch"

	"motifd/stream/kafka/internal/recordbatch"
	"motifd/stream/kafka/internal/wire"
)

// MaxResponse bounds the size of a fetch response, against a peer that is no Kafka broker. A broker answers with one
// record batch at least, so a topic's max.message.bytes must be smaller.
const MaxResponse = 256 << 20

// MaxFetch is the size of the largest record batch that can be read: a topic's max.message.bytes must not be above.
const MaxFetch = MaxResponse / 2

// fetchRequest asks one partition's leader for records. It is a protocol.RawExchanger so that the answer comes as raw
// bytes: see the package comment.
type fetchRequest struct {
	fetchapi.Request
	clientID string
	version  int16
}

// Fetched is the answer for one partition.
type Fetched struct {
	End     int64 // end of what can be read: the last stable offset under read_committed, else the high watermark
	Aborted []AbortedTxn
	Batches []byte // whole record batches, the last one possibly cut short; owned by the receiver
}

// AbortedTxn is an aborted transaction: its producer, and the offset of its first record.
type AbortedTxn struct{ producer, first int64 }

// ApiKey implements protocol.Message.
func (f *Fetched) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required reports true always, and remembers the version that was negotiated for the connection.
func (r *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

// RawExchange implements protocol.RawExchanger.
func (r *fetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if r.version < 4 {
		return nil, permanent{
			fmt.Errorf("broker speaks version %d of the fetch protocol; 4 (Kafka 0.11) is the oldest supported",
				r.version),
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
	if size < 0 || size > MaxResponse {
		return nil, fmt.Errorf("fetch response of %d bytes, limit %d", size, MaxResponse)
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
func parseFetch(body []byte, version int16, iso kafkago.IsolationLevel) (*Fetched, error) {
	b := wire.Reader{B: body}
	b.Int32() // throttle time
	if version >= 7 {
		if code := b.Int16(); code != 0 {
			return nil, kafkago.Error(code)
		}
		b.Int32() // session
	}
	if n := b.Int32(); n != 1 && b.Err == nil {
		return nil, fmt.Errorf("fetch response holds %d topics, asked for 1", n)
	}
	b.Bytes(int(b.Int16()))
	if n := b.Int32(); n != 1 && b.Err == nil {
		return nil, fmt.Errorf("fetch response holds %d partitions, asked for 1", n)
	}
	b.Int32() // partition
	code := b.Int16()
	f := &Fetched{End: b.Int64()}
	if stable := b.Int64(); iso == kafkago.ReadCommitted && stable >= 0 {
		f.End = stable
	}
	if version >= 5 {
		b.Int64() // log start
	}
	n := int(b.Int32()) // -1 when there are none
	if n > len(b.B)/16 {
		return nil, wire.ErrShort
	}
	for range max(n, 0) {
		f.Aborted = append(f.Aborted, AbortedTxn{b.Int64(), b.Int64()})
	}
	if version >= 11 {
		b.Int32() // preferred replica
	}
	f.Batches = b.Bytes(int(max(b.Int32(), 0)))
	if b.Err != nil {
		return nil, b.Err
	}
	if code != 0 {
		return nil, kafkago.Error(code)
	}
	return f, nil
}

// Fetch asks for records of a partition from an offset on. It waits up to wait for the first record.
func (c *Client) Fetch(
	ctx context.Context,
	topic string,
	partition int32,
	offset int64,
	maxBytes int,
	wait time.Duration,
	iso kafkago.IsolationLevel,
) (*Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Options.RequestTimeout+wait)
	defer cancel()
	m, err := c.Transport.RoundTrip(ctx, c.addr, &fetchRequest{clientID: c.Options.ClientID, Request: fetchapi.Request{
		ReplicaID:   -1,
		MaxWaitTime: int32(wait.Milliseconds()),
		MinBytes:    1,
		// The partition's limit is to cut the answer: the embedded log then tells of aborted transactions.
		MaxBytes:       MaxFetch,
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
	return m.(*Fetched), nil
}

// AbortedSet finds the batches of aborted transactions in a response, as the protocol lays down: an entry takes effect
// at its first offset and ends with its producer's abort marker.
type AbortedSet struct {
	pending []AbortedTxn // ascending by first offset
	active  map[int64]bool
}

// NewAbortedSet returns the set for a response with these aborted transactions, which it sorts.
func NewAbortedSet(txns []AbortedTxn) *AbortedSet {
	sort.Slice(txns, func(i, j int) bool { return txns[i].first < txns[j].first })
	return &AbortedSet{pending: txns, active: map[int64]bool{}}
}

// Skips tells whether a batch is of an aborted transaction. It is called with each batch, in order.
func (a *AbortedSet) Skips(b *recordbatch.Batch) bool {
	for len(a.pending) > 0 && a.pending[0].first <= b.Last {
		a.active[a.pending[0].producer] = true
		a.pending = a.pending[1:]
	}
	return b.Transactional() && a.active[b.Producer]
}

// Ended is told of each marker that ends a transaction.
func (a *AbortedSet) Ended(producer int64, abort bool) {
	if abort {
		delete(a.active, producer)
	}
}
