package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/copies"
	"motifd/config"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/file"
)

// replayLog steps the batches of a checkpoint's log from its base on, and writes what the daemon wrote (DESIGN P2).
func (c *replayCmd) replayLog(a *app) (err error) {
	r := &replay{cmd: c, app: a, begin: time.Now()}
	if r.trace, err = c.timeline(); err != nil {
		return err
	}
	log, done, err := openBatchLog(a.ctx, c.BatchLog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if r.backend, err = c.make(a.log, r.trace, false); err != nil {
		return err
	}
	begin := time.Now()
	state, err := log.Base(a.ctx)
	if err != nil {
		return err
	}
	r.sum.LoadS = command.Rounded(time.Since(begin))
	settings := log.Settings()
	if own, ok := strings.CutPrefix(settings.Output, "file "); ok {
		for _, path := range c.written() {
			if same(path, own) { // it is committed, and may begin before the log does
				return command.Refuse(fmt.Errorf("%s is the output of the daemon itself; write to another file", path))
			}
		}
	}
	upsert := settings.Mode == "upsert"
	engine, err := newEngine(state.Graph, r.backend, matcher.EngineOptions{Upsert: upsert})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := engine.Restore(r.app.ctx, state.Queries); err != nil {
		return err
	}
	for _, q := range state.Queries {
		if !q.Removed {
			r.query(q.Query.Name)
		}
	}
	committed, open := log.Len()
	if open > 0 {
		a.log.Warn().Int("batches", open).Msg("batches in progress are not replayed: the daemon has not committed them")
	}
	a.log.Info().Uint64("from", state.Batch+1).Int("batches", committed).Str("stream", state.StreamID).
		Msg("replaying the batch log")
	enc := &shapedEncoder{opt: codec.EncoderOptions{StreamID: state.StreamID, Upsert: upsert}}
	if err := enc.shape(settings.Shape); err != nil {
		return err
	}
	r.progress = command.NewProgress(a.stderr, "replaying "+c.BatchLog, "updates")
	state.Fresh = true // of the output, which begins here
	opt := stream.PipelineOptions{
		Engine: engine, Observer: r, State: state, Log: committedBatches(log, enc), MaxInFlight: 1,
		Ready: rehearsal(engine, a.log),
	}
	return r.run(&opt, enc, file.SinkOptions{Upsert: upsert})
}

// openBatchLog opens the batch log of a checkpoint, or of a copy that the daemon which uses it makes. done closes it.
func openBatchLog(ctx context.Context, dir string) (log *checkpoint.Replay, done func() error, err error) {
	dir, remove, err := copies.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if log, err = checkpoint.OpenReplay(dir, nil); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return log, func() error { return errors.Join(log.Close(), remove()) }, nil
}

// committedBatches yields the committed batches of a log, and sets the encoder to each one's shape.
func committedBatches(log *checkpoint.Replay, enc *shapedEncoder) iter.Seq2[*stream.Batch, error] {
	return func(yield func(*stream.Batch, error) bool) {
		for l, err := range log.Batches() {
			if err == nil && !l.Committed {
				return
			}
			if err == nil {
				err = enc.shape(l.Shape)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&l.Batch, nil) {
				return
			}
		}
	}
}

// shapedEncoder encodes as the settings of each batch say. The shape is set between two batches; records are encoded
// before the engine's step returns, so that none is left of the batch before.
type shapedEncoder struct {
	opt  codec.EncoderOptions
	text string
	cur  atomic.Pointer[codec.Encoder]
}

var _ stream.Encoder = (*shapedEncoder)(nil)

func (e *shapedEncoder) shape(text string) error {
	if e.cur.Load() != nil && text == e.text {
		return nil
	}
	var s config.Shape
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fmt.Errorf("the settings %q in the batch log are not understood: %w", text, err)
	}
	e.text = text
	e.opt.EchoProps = s.EchoProps
	e.cur.Store(codec.NewEncoder(e.opt))
	return nil
}

// Append implements stream.Encoder.
func (e *shapedEncoder) Append(dst []stream.OutRecord, ev *matcher.Event, i, j int) ([]stream.OutRecord, error) {
	return e.cur.Load().Append(dst, ev, i, j)
}

// DeadLetter implements stream.Encoder.
func (e *shapedEncoder) DeadLetter(d stream.DeadLetter) (stream.OutRecord, error) {
	return e.cur.Load().DeadLetter(d)
}

// BatchRecord implements stream.Encoder.
func (e *shapedEncoder) BatchRecord(b *stream.BatchReport) (stream.OutRecord, error) {
	return e.cur.Load().BatchRecord(b)
}
