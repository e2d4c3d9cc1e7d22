package stream

import (
	"context"
	"fmt"
	"time"
)

// outItem is a message to the publisher: a batch begins, a chunk of its records, or its end.
type outItem struct {
	batch  uint64
	begin  bool
	logged func() error // with begin: returns when the intent is durable; nil when it is
	recs   *[]OutRecord
	end    *batchEnd
}

// batchEnd closes a batch at the sink and in the store.
type batchEnd struct {
	tail   Tail
	commit CommitInfo
	first  time.Time
	stats  CommitStats
}

// openSink opens the sink and learns where publishing stopped.
func (p *Pipeline) openSink(ctx context.Context) error {
	s := p.opt.State
	if digesting, ok := p.opt.Sink.(DigestingSink); ok {
		digesting.CheckProgress(p.checkProgress)
	}
	got, err := p.opt.Sink.Open(ctx, s.StreamID, s.Batch, s.Mark, s.Fresh)
	if err == nil {
		err = p.checkProgress(got)
	}
	if err != nil {
		return fmt.Errorf("sink: %w", err)
	}
	p.skip, p.mark = got, s.Mark
	return nil
}

// checkProgress refuses a progress that does not belong to the recovered state.
func (p *Pipeline) checkProgress(got Progress) error {
	s := p.opt.State
	if got.Stream != "" && got.Stream != s.StreamID {
		return fmt.Errorf("%w: the output was written by stream %s, the checkpoint is of stream %s; "+
			"restore the checkpoint that belongs to the output, or use a new output", ErrMismatch, got.Stream,
			s.StreamID)
	}
	if got.Begun && len(s.Open) == 0 {
		return fmt.Errorf(
			"%w: the output has records after batch %d, and the checkpoint ends there; is it an old copy, or "+
				"is the end of its write-ahead log damaged?",
			ErrOldCheckpoint,
			s.Batch,
		)
	}
	if got.Known {
		last := s.Batch + uint64(len(s.Open))
		if at := max(got.Batch, 1); at <= s.Batch {
			return fmt.Errorf("%w: the output ends in batch %d, but batch %d is committed; records were lost from "+
				"the output",
				ErrMismatch, at, s.Batch)
		} else if at > last+1 || at == last+1 && got.Index > 0 {
			return fmt.Errorf(
				"%w: the output continues at batch %d, and the checkpoint ends at batch %d; is it an old copy, or is "+
					"the end of its write-ahead log damaged?",
				ErrOldCheckpoint,
				at,
				last,
			)
		}
	}
	if last := got.Last(); got.Digest != "" {
		if have := p.intentDigest(last); have != "" && have != got.Digest {
			return fmt.Errorf("%w: batch %d was published from intent %s, and the checkpoint's intent of batch %d "+
				"is %s",
				ErrDiverged, last, short(got.Digest), last, short(have))
		}
	}
	return nil
}

// intentDigest returns the digest of a batch's intent that the store has.
func (p *Pipeline) intentDigest(batch uint64) string {
	if d, ok := p.opt.Store.(IntentDigester); ok {
		return d.IntentDigest(batch)
	}
	return ""
}

// short cuts a digest to what is enough to tell two apart.
func short(digest string) string { return digest[:min(12, len(digest))] }

// publish is the publisher's goroutine.
func (p *Pipeline) publish(ctx context.Context) error {
	var spent, waited time.Duration
	var batch uint64
	note := func(what string, begin, end time.Time) time.Duration {
		p.opt.Observer.Span(Span{Lane: LanePublisher, What: what, Batch: batch, Begin: begin, End: end})
		return end.Sub(begin)
	}
	for {
		item, ok, err := p.out.takeWait(ctx)
		if err != nil || !ok {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begin := time.Now()
		batch = item.batch
		switch {
		case item.begin:
			if item.logged != nil {
				if err := item.logged(); err != nil {
					return err
				}
			}
			waited = note("intent", begin, time.Now())
			begin = begin.Add(waited)
			spent = 0
			if d, ok := p.opt.Sink.(DigestingSink); ok {
				d.NextDigest(p.intentDigest(item.batch))
			}
			if err := p.opt.Sink.Begin(ctx, item.batch); err != nil {
				return fmt.Errorf("sink: begin of batch %d: %w", item.batch, err)
			}
			spent += note("publish", begin, time.Now())
		case item.recs != nil:
			if err := p.opt.Sink.Write(ctx, *item.recs); err != nil {
				return fmt.Errorf("sink: records of batch %d: %w", item.batch, err)
			}
			p.encoding.Free(item.recs)
			spent += note("publish", begin, time.Now())
		case item.end != nil:
			end := item.end
			if !end.stats.CommittedOnly {
				if p.mark, err = p.opt.Sink.End(ctx, end.tail); err != nil {
					return fmt.Errorf("sink: end of batch %d: %w", item.batch, err)
				}
				spent += note("publish", begin, time.Now())
			}
			end.stats.Publish, end.stats.Intent = spent, waited
			spent, waited = 0, 0
			end.commit.Mark = p.mark
			if err := p.commit(ctx, end); err != nil {
				return err
			}
		}
	}
}

// commit makes a published batch durable and lets another one begin.
func (p *Pipeline) commit(ctx context.Context, end *batchEnd) error {
	begin := time.Now()
	if err := p.opt.Store.Commit(ctx, &end.commit); err != nil {
		return fmt.Errorf("store: commit of batch %d: %w", end.commit.Batch, err)
	}
	now := time.Now()
	end.stats.Commit = now.Sub(begin)
	p.opt.Observer.Span(Span{Lane: LanePublisher, What: "commit", Batch: end.commit.Batch, Begin: begin, End: now})
	if !end.first.IsZero() {
		end.stats.Latency = now.Sub(end.first)
	}
	p.noteCommit(&end.commit)
	p.opt.Observer.Commit(end.stats)
	<-p.slots
	return nil
}
