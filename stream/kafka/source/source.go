package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// Source reads the records of a topic's partitions. Each partition has a goroutine and a connection. The goroutine
// fetches a chunk, and waits until Read has taken it. Read merges the chunks by timestamp, or returns them in the order
// of arrival (Options.Merge).
type Source struct {
	opt Options
	cl  *kafka.Client
	dec *recordbatch.Decompressor
	iso kafkago.IsolationLevel
	// interval is the interval at which the source looks for added partitions, and for the ends of all partitions.
	interval time.Duration

	ctx    context.Context // done when the source is closed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	merger *merger

	mu      sync.Mutex // guards the fields below
	started bool
	closed  bool
	start   stream.Positions // resolved by Seek
	behind  map[int32]bool   // partitions that had records from start on when Seek asked

	gaps   gaps // offsets without records for the reader
	epochs *epochLog

	lagMu sync.Mutex // not mu: Seek holds mu while it waits for the brokers
	ends  map[int32]lagEnd
}

var errClosed = errors.New("kafka: source is closed")

// New checks the options and returns a source; it connects with the first Seek or Read.
func New(opt Options) (*Source, error) {
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	cl, err := kafka.NewClient(opt.ClientOptions, opt.Topic)
	if err != nil {
		return nil, err
	}
	s := &Source{opt: opt, cl: cl, dec: recordbatch.NewDecompressor(opt.MaxBatchBytes), interval: partitionInterval,
		merger: newMerger(
			opt.Merge == MergeTimestamp,
			opt.ReadBytes,
		), ends: map[int32]lagEnd{}, epochs: newEpochLog(opt.Epochs, opt.KeepEpochs)}
	if opt.Isolation == ReadCommitted {
		s.iso = kafkago.ReadCommitted
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// Seek determines the start of reading in each partition, and checks that the positions are available. A position below
// the log start (retention has removed the records) or beyond the end (the topic was created anew, or cut) is
// stream.ErrDataLoss. With AllowDataLoss reading continues at the nearest offset that exists, and a deleted partition
// is forgotten. A position in a partition that is not read is an error.
//
// Start applies to partitions without a position. If all partitions are read and others have a position, a partition
// without one was added to the topic since, and is read from its beginning. Seek waits for the brokers until ctx is
// done.
func (s *Source) Seek(ctx context.Context, at stream.Positions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errors.New("kafka: Seek after Read")
	}
	return s.seek(ctx, at)
}

func (s *Source) seek(ctx context.Context, at stream.Positions) error {
	ctx, stop := s.untilClosed(ctx)
	defer stop()
	had := int32(0)
	for p := range at {
		had = max(had, p+1)
	}
	n, err := s.cl.Partitions(ctx, s.opt.Topic, had)
	if err != nil {
		return err
	}
	parts := s.opt.Partitions
	if parts == nil {
		parts = kafka.AllPartitions(n)
	}
	for _, p := range parts {
		if p >= n {
			return fmt.Errorf("kafka: topic %q has %d partitions; there is no partition %d", s.opt.Topic, n, p)
		}
	}
	for p, pos := range at {
		if p >= n {
			if !s.opt.AllowDataLoss {
				return fmt.Errorf(
					"%w: the checkpoint has a position in partition %d of topic %q, which has %d partitions: it was "+
						"created anew",
					stream.ErrDataLoss,
					p,
					s.opt.Topic,
					n,
				)
			}
			s.opt.Events.Lost(p, 0, pos)
			continue
		}
		if !slices.Contains(parts, p) {
			return fmt.Errorf(
				"kafka: the checkpoint has a position in partition %d of topic %q, which is not among the "+
					"partitions to read",
				p,
				s.opt.Topic,
			)
		}
	}
	// Positions are checked against the high watermark for either isolation: a position inside an open transaction is
	// valid.
	ext, err := s.cl.Extents(ctx, s.opt.Topic, parts, kafkago.ReadUncommitted)
	if err != nil {
		return err
	}
	if at, err = s.sameTopic(ctx, at); err != nil {
		return err
	}
	if at, err = s.sameLogs(ctx, at, n); err != nil {
		return err
	}
	start := make(stream.Positions, len(parts))
	grown := s.opt.Partitions == nil && len(at) > 0
	added := int32(0)
	for _, p := range parts {
		e := ext[p]
		pos, ok := at[p]
		switch {
		case !ok && grown:
			pos, added = e.Start, added+1
		case !ok && s.opt.Start == Latest:
			pos = e.End
		case !ok:
			pos = e.Start
		default:
			if pos, err = s.available(p, pos, e); err != nil {
				return err
			}
		}
		start[p] = pos
	}
	s.start, s.behind = start, map[int32]bool{}
	for p, pos := range start {
		s.behind[p] = pos < ext[p].End
	}
	s.epochs.begin(start)
	if added > 0 {
		s.opt.Events.Grown(s.opt.Topic, n-added, n)
	}
	return nil
}

// sameTopic returns the positions that are still valid: none if the topic was deleted and created anew.
func (s *Source) sameTopic(ctx context.Context, at stream.Positions) (stream.Positions, error) {
	id, err := topicID(ctx, s.cl, s.opt.Topic)
	if err != nil {
		return nil, err
	}
	had := s.opt.TopicID
	if had != "" && id != "" && had != id && len(at) > 0 {
		if !s.opt.AllowDataLoss {
			return nil, fmt.Errorf(
				"%w: topic %q was deleted and created anew: its id is %s, the positions are of the topic with id %s",
				stream.ErrDataLoss,
				s.opt.Topic,
				id,
				had,
			)
		}
		anew := make(stream.Positions, len(at))
		for p, pos := range at {
			s.opt.Events.Lost(p, 0, pos)
			anew[p] = 0
		}
		if at, err = s.starts(ctx, anew); err != nil {
			return nil, err
		}
		s.epochs.drop()
	}
	if id != "" && id != had && s.opt.KeepTopicID != nil {
		if err := s.opt.KeepTopicID(id); err != nil {
			return nil, err
		}
	}
	s.opt.TopicID = id
	return at, nil
}

// sameLogs is sameLog for all positions in the topic's n partitions; it drops other positions.
func (s *Source) sameLogs(ctx context.Context, at stream.Positions, n int32) (stream.Positions, error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(kafka.MaxRequests)
	out := make(stream.Positions, len(at))
	for p, pos := range at {
		if p >= n {
			continue
		}
		g.Go(func() error {
			pos, err := s.sameLog(ctx, p, pos)
			mu.Lock()
			defer mu.Unlock()
			out[p] = pos
			return err
		})
	}
	return out, g.Wait()
}

// starts returns the first offsets of the partitions that have a position, without deleted partitions.
func (s *Source) starts(ctx context.Context, at stream.Positions) (stream.Positions, error) {
	n, err := s.cl.Partitions(ctx, s.opt.Topic, 0)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(at, func(p int32, _ int64) bool { return p >= n })
	ext, err := s.cl.Extents(ctx, s.opt.Topic, slices.Collect(maps.Keys(at)), kafkago.ReadUncommitted)
	if err != nil {
		return nil, err
	}
	for p := range at {
		at[p] = ext[p].Start
	}
	return at, nil
}

// available returns pos if the partition holds it or ends there; otherwise it handles the loss.
func (s *Source) available(p int32, pos int64, e kafka.Extent) (int64, error) {
	to := min(max(pos, e.Start), e.End)
	if to == pos {
		return pos, nil
	}
	if !s.opt.AllowDataLoss {
		return 0, fmt.Errorf(
			"%w: topic %q, partition %d: offset %d is wanted, offsets %d to %d are available",
			stream.ErrDataLoss,
			s.opt.Topic,
			p,
			pos,
			e.Start,
			e.End,
		)
	}
	s.opt.Events.Lost(p, pos, to)
	return to, nil
}

// Positions returns the start of reading in each partition, as Seek determined it (nil before). A checkpoint stores
// them with its first batch, so that Latest keeps its meaning after a restart for partitions without a record.
func (s *Source) Positions() stream.Positions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.start)
}

// Lag implements stream.Lagger. It leaves out a partition whose end is not known for three intervals, for example
// because brokers do not answer. Under ReadCommitted a partition ends where its first open transaction begins.
func (s *Source) Lag(at stream.Positions) map[int32]int64 {
	s.lagMu.Lock()
	defer s.lagMu.Unlock()
	out := make(map[int32]int64, len(s.ends))
	for p, e := range s.ends {
		if e.told.IsZero() || time.Since(e.told) > lagValid*s.interval {
			continue
		}
		pos, ok := at[p]
		if !ok {
			pos = e.start
		}
		out[p] = max(e.end-s.gaps.past(p, pos), 0)
	}
	return out
}

// lagEnd holds the start of reading in a partition, the end of its readable part, and when that end was valid.
type lagEnd struct {
	start, end int64
	told       time.Time
}

// lagValid is the number of intervals for which the end of a partition is valid.
const lagValid = 3

// setEnd notes the end of a partition.
func (s *Source) setEnd(partition int32, end int64) {
	s.lagMu.Lock()
	defer s.lagMu.Unlock()
	s.ends[partition] = lagEnd{s.ends[partition].start, end, time.Now()}
}

// watchEnds asks for the ends of the partitions, for Lag: a fetcher does not learn them while its chunk waits for Read.
func (s *Source) watchEnds() {
	for s.cl.Sleep(s.ctx, s.interval) == nil {
		s.lagMu.Lock()
		parts := slices.Collect(maps.Keys(s.ends))
		s.lagMu.Unlock()
		ext, err := s.cl.Extents(s.ctx, s.opt.Topic, parts, s.iso)
		if err != nil { // closed; or not allowed, which the fetchers find out
			return
		}
		for p, e := range ext {
			s.setEnd(p, e.End)
		}
	}
}

// Advance implements stream.Advancer.
func (s *Source) Advance(at stream.Positions) { s.gaps.advance(at) }

// Read returns the next records: at least one, and at most about ReadBytes unless one record is larger. It blocks until
// there are records, ctx is done, the source is closed, or an error ends reading. Broker errors do not end reading: the
// source retries, and reports them to Events.Retry.
func (s *Source) Read(ctx context.Context) ([]stream.Record, error) {
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	for {
		switch { // after ctx is done, no fetched records are returned
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case s.ctx.Err() != nil:
			return nil, context.Cause(s.ctx)
		}
		recs, err := s.merger.take()
		if err != nil {
			s.cancel(err)
			return nil, err
		}
		if len(recs) > 0 {
			return recs, nil
		}
		select {
		case <-s.merger.ready:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	}
}

// run starts the fetchers. The first Read calls it.
func (s *Source) run(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return nil
	}
	if s.start == nil {
		if err := s.seek(ctx, nil); err != nil {
			return err
		}
	}
	if s.closed {
		return errClosed
	}
	s.started = true
	s.wg.Go(s.watchEnds)
	for _, p := range slices.Sorted(maps.Keys(s.start)) {
		s.goFetch(p, s.start[p], s.behind[p])
	}
	if s.opt.Partitions == nil {
		n := int32(len(s.start))
		s.wg.Go(func() { s.watchPartitions(n) })
	}
	return nil
}

func (s *Source) goFetch(p int32, pos int64, behind bool) {
	s.lagMu.Lock()
	s.ends[p] = lagEnd{start: pos}
	s.lagMu.Unlock()
	f := newFetcher(s, p, pos, behind)
	s.wg.Go(func() {
		if err := f.run(s.ctx); err != nil && s.ctx.Err() == nil {
			s.merger.fail(err)
		}
	})
}

// watchPartitions reads partitions that are added to the topic, from their beginning. A topic with fewer partitions
// than before was created anew.
func (s *Source) watchPartitions(n int32) {
	fewer := 0
	for s.cl.Sleep(s.ctx, s.interval) == nil {
		res, err := s.cl.API.Metadata(s.ctx, &kafkago.MetadataRequest{Topics: []string{s.opt.Topic}})
		if err == nil {
			err = res.Topics[0].Error
		}
		if err != nil {
			if s.ctx.Err() == nil {
				s.opt.Events.Retried("metadata", s.opt.Topic, -1, 1, err)
			}
			continue
		}
		has := int32(len(res.Topics[0].Partitions))
		if has >= n {
			fewer = 0
		} else if fewer++; fewer == kafka.MetadataConfirmations && !s.opt.AllowDataLoss {
			s.merger.fail(
				fmt.Errorf(
					"%w: topic %q has %d partitions and had %d: it was created anew",
					stream.ErrDataLoss,
					s.opt.Topic,
					has,
					n,
				),
			)
			return
		}
		if known := s.opt.TopicID; known != "" && !s.opt.AllowDataLoss {
			id, err := topicID(s.ctx, s.cl, s.opt.Topic)
			if err == nil && id != "" && id != known {
				s.merger.fail(fmt.Errorf("%w: topic %q was deleted and created anew: its id is %s, and was %s",
					stream.ErrDataLoss,
					s.opt.Topic, id, known))
				return
			}
		}
		if has > n {
			s.opt.Events.Grown(s.opt.Topic, n, has)
		}
		for ; n < has; n++ {
			s.goFetch(n, 0, true)
		}
	}
}

// untilClosed returns a context that ends with ctx and with the source.
func (s *Source) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Close ends a running Read and all goroutines of the source. It may be called at any time, and more than once.
func (s *Source) Close() error {
	s.cancel(errClosed) // before the lock: Seek holds it while it waits for the brokers
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cl.Close()
	s.wg.Wait()
	return nil
}
