package publish

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

// API keys of the protocol that a transactional sink's fate depends on.
const (
	apiProduce         = 0
	apiFetch           = 1
	apiListOffsets     = 2
	apiFindCoordinator = 10
	apiInitProducer    = 22
	apiAddPartitions   = 24
	apiAddOffsets      = 25
	apiEndTxn          = 26
	apiTxnOffsets      = 28
)

var errCut = errors.New("cut by the test")

// cutter breaks a client's connections at the k-th request of the kinds that matter.
type cutter struct {
	at     int  // which request, from 1
	answer bool // the request reaches the broker and its answer is lost; otherwise the request is lost
	dead   bool // nothing gets through afterwards
	onCut  func()
	kinds  []int16 // what is counted; nil for all that matter
	// code, when it is not 0, lets the request and the answer through, the answer with this error code in place of what
	// it says: for EndTxn in version 3 alone.
	code int16

	mu    sync.Mutex
	n     int
	isCut bool
	seen  []int16 // the requests that were counted
}

var counted = []int16{apiProduce, apiInitProducer, apiAddPartitions, apiAddOffsets, apiEndTxn, apiTxnOffsets}

// install puts the cutter under a sink that is not open yet.
func (c *cutter) install(s *TxnSink) {
	dial := s.cl.Transport.Dial
	s.cl.Transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if c.gone() {
			return nil, errCut
		}
		nc, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: nc, c: c}, nil
	}
}

func (c *cutter) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isCut && c.dead
}

// watch begins anew, with other requests.
func (c *cutter) watch(at int, kinds ...int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.kinds, c.n, c.seen = at, kinds, 0, nil
}

// requests returns those that were counted.
func (c *cutter) requests() []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// request counts a request and tells whether to cut here.
func (c *cutter) request(key int16) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := c.kinds
	if kinds == nil {
		kinds = counted
	}
	if !slices.Contains(kinds, key) {
		return false
	}
	c.n++
	c.seen = append(c.seen, key)
	if c.n != c.at {
		return false
	}
	c.isCut = true
	return true
}

// cutConn sees the requests of one connection, which has one under way at a time.
type cutConn struct {
	net.Conn
	c    *cutter
	buf  []byte // of a request that is not complete
	lose bool   // the next answer
	// forge is an answer that is being handed on with another error code.
	forge []byte
}

func (n *cutConn) Write(p []byte) (int, error) {
	if n.c.gone() {
		return 0, errCut
	}
	n.buf = append(n.buf, p...)
	for len(n.buf) >= 6 {
		size := 4 + int(binary.BigEndian.Uint32(n.buf))
		if len(n.buf) < size {
			break
		}
		request := n.buf[:size]
		n.buf = n.buf[size:]
		if cut := n.c.request(int16(binary.BigEndian.Uint16(request[4:]))); cut {
			if !n.c.answer && n.c.code == 0 {
				n.cut()
				return 0, errCut
			}
			n.lose = true
		}
		if _, err := n.Conn.Write(request); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (n *cutConn) cut() {
	_ = n.Conn.Close()
	if n.c.onCut != nil {
		n.c.onCut()
	}
}

func (n *cutConn) Read(p []byte) (int, error) {
	if len(n.forge) > 0 {
		k := copy(p, n.forge)
		n.forge = n.forge[k:]
		return k, nil
	}
	if n.lose && n.c.code != 0 {
		// size, correlation id, tags, throttle time, error code, tags
		n.lose, n.forge = false, make([]byte, 4+4+1+4+2+1)
		if _, err := io.ReadFull(n.Conn, n.forge); err != nil {
			return 0, err
		}
		if size := binary.BigEndian.Uint32(n.forge); int(size) != len(n.forge)-4 {
			return 0, fmt.Errorf("answer to EndTxn has %d bytes", size)
		}
		binary.BigEndian.PutUint16(n.forge[13:], uint16(n.c.code))
		return n.Read(p)
	}
	if n.lose {
		_, err := io.ReadFull(n.Conn, make([]byte, 8)) // the broker has done it
		n.cut()
		return 0, errors.Join(errCut, err)
	}
	if n.c.gone() {
		return 0, errCut
	}
	return n.Conn.Read(p)
}

// run is a pipeline's memory: what it has intended and committed, over several sinks.
type run struct {
	opt       TxnSinkOptions
	sizes     []int // records of batch i+1
	committed uint64
	intended  bool
	mark      stream.Mark
	// save is called whenever what is above has changed, done after each batch; both may be nil.
	save func()
	done func(batch uint64)
}

// input returns a batch and its tail.
func (r *run) input(batch uint64) ([]stream.OutRecord, stream.Tail) {
	n := r.sizes[batch-1]
	tail := stream.Tail{Positions: stream.Positions{0: int64(batch) * 10},
		BatchRecord: &stream.OutRecord{Value: fmt.Appendf(nil, "batch %d", batch)}}
	for i := range batch % 3 {
		tail.DeadLetters = append(tail.DeadLetters, stream.OutRecord{Value: fmt.Appendf(nil, "dead %d/%d", batch, i)})
	}
	return kafkatest.Deltas(batch, 0, uint64(n)), tail
}

// goOn opens a sink and publishes what is left, up to a batch. Errors come back; the sink is closed as by a crash then.
func (r *run) goOn(t testing.TB, ctx context.Context, to uint64, prepare func(s *TxnSink)) error {
	t.Helper()
	s, err := NewTxnSink(r.opt)
	require.NoError(t, err)
	if prepare != nil {
		prepare(s)
	}
	defer func() { require.NoError(t, s.Close()) }()
	err = r.publish(ctx, s, to)
	if err != nil {
		crash(t, s)
	}
	return err
}

func (r *run) publish(ctx context.Context, s *TxnSink, to uint64) error {
	at, err := s.Open(ctx, "stream-1", r.committed, r.mark, !r.intended)
	if err != nil {
		return err
	}
	for r.committed < to {
		batch := r.committed + 1
		if !r.intended {
			r.intended = true
			r.saved()
		}
		if at.Batch <= batch {
			recs, tail := r.input(batch)
			if at.Batch == batch {
				recs = recs[at.Index:]
			}
			if r.mark, err = kafkatest.PublishBatch(ctx, s, batch, recs, tail); err != nil {
				return err
			}
		}
		r.committed = batch
		r.saved()
		if r.done != nil {
			r.done(batch)
		}
	}
	return nil
}

func (r *run) saved() {
	if r.save != nil {
		r.save()
	}
}

// check compares what a reader sees with what was to be published: each record once, in order.
func (r *run) check(t testing.TB, e *kafkatest.Cluster, msg string) {
	t.Helper()
	var out, dead, control []string
	for b := range uint64(len(r.sizes)) {
		recs, tail := r.input(b + 1)
		for _, rec := range recs {
			out = append(out, fmt.Sprintf("%06d/%06d", rec.Batch, rec.Index))
		}
		for _, d := range tail.DeadLetters {
			dead = append(dead, string(d.Value))
		}
		control = append(control, string(tail.BatchRecord.Value))
	}
	got := e.Committed(t, r.opt.Topic)
	last := map[int]string{}
	var names []string
	for _, g := range got {
		name := fmt.Sprintf("%06d/%06d", g.Batch, g.Index)
		require.Less(t, last[g.Partition], name, "%s: order in partition %d", msg, g.Partition)
		require.Equal(t, "stream-1", g.Stream)
		last[g.Partition] = name
		names = append(names, name)
	}
	slices.Sort(names)
	requireSame(t, out, names, msg)
	valuesOf := func(recs []kafkatest.Seen) (out []string) {
		for _, r := range recs {
			out = append(out, string(r.Value))
		}
		return out
	}
	requireSame(t, dead, valuesOf(e.Committed(t, r.opt.DeadLetters)), msg)
	requireSame(t, control, valuesOf(e.Committed(t, r.opt.Control)), msg)
}

// requireSame compares long lists and shows where they part.
func requireSame(t testing.TB, want, got []string, msg string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], "%s: record %d", msg, i)
	}
	require.Equal(t, len(want), len(got), msg)
}
