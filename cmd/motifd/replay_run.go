package main

import (
	"errors"
	"fmt"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/timeline"
	"motifd/stream"
	"motifd/stream/file"
)

// replay is a replay under way. It is the pipeline's Observer.
type replay struct {
	cmd     *replayCmd
	app     *app
	backend *timedBackend
	begin   time.Time
	sum     replaySummary

	byName   map[string]int // in sum.Queries
	apply    time.Duration
	match    time.Duration
	before   time.Duration // backend.search before the batch in progress
	unnamed  uint64        // deletions without id that found only edges with ids
	logged   int           // dead letters
	lost     string        // where the rest of a compressed file could not be read
	progress *command.Progress
	trace    *timeline.Timeline // nil without --trace
	src      *file.Source       // nil for a batch log
}

// run runs the pipeline and reports.
func (r *replay) run(opt *stream.PipelineOptions, enc stream.Encoder, out file.SinkOptions) error {
	c := r.cmd
	if c.Out == file.None {
		enc, r.backend.whole = discard{enc}, true
		opt.EncodeThreads = 1 // nothing is to be gained by handing on what is dropped
	}
	out.Out = r.app.stdout
	sink, err := newReplaySink(c, out)
	if err != nil {
		return command.Refuse(err)
	}
	opt.Encoder, opt.Sink = enc, sink
	opt.Control = c.Control != ""
	opt.StopTimeout = c.StopTimeout
	if c.StopTimeout == 0 {
		opt.StopTimeout = -1
	}
	p, err := stream.NewPipeline(*opt)
	if err != nil {
		return err
	}
	err = p.Run(r.app.ctx)
	if damaged := (*file.DamageError)(nil); errors.As(err, &damaged) {
		err = fmt.Errorf("%w (--on-damage=skip leaves out the rest of the file)", err)
	}
	r.progress.Done()
	var traced error
	if r.sum.Timeline, traced = r.trace.Finish(); err != nil { // a timeline of a replay that failed is there, too
		return errors.Join(err, traced)
	}
	r.finish()
	if err := command.WriteSummary(c.Summary, &r.sum); err != nil {
		return err
	}
	if r.sum.Refused > 0 && c.DeadLetter == "" {
		r.app.log.Warn().Uint64("records", r.sum.Refused).Msg("records were refused; --dead-letter FILE keeps them")
	}
	if r.unnamed > 0 {
		r.app.log.Warn().Uint64("updates", r.unnamed).Msg(unnamedText)
	}
	if err := r.sum.print(r.app.stderr); err != nil {
		return err
	}
	if traced != nil {
		return traced
	}
	if r.sum.Timeline != nil {
		if err := r.sum.Timeline.Print(r.app.stderr); err != nil {
			return err
		}
	}
	if r.app.ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s", plural(r.sum.Batches, "batch"))
	}
	if r.lost != "" {
		return fmt.Errorf("%s: the rest of the file could not be read; the deltas are of what is before it", r.lost)
	}
	if r.sum.Refused > 0 && r.sum.Updates == 0 && c.BatchLog == "" { // a log may begin behind all that was accepted
		why := "the warnings say why"
		if c.DeadLetter != "" {
			why = c.DeadLetter + " says why"
		}
		return fmt.Errorf("every record was refused (%d); %s", r.sum.Refused, why)
	}
	return nil
}

// finish completes the summary.
func (r *replay) finish() {
	s := &r.sum
	s.ApplyS, s.MatchS = command.Rounded(r.apply), command.Rounded(r.match)
	s.WallS = command.Rounded(time.Since(r.begin))
	s.PeakRSSMiB, s.Backend, s.Threads = command.PeakRSS(), r.backend.Name(), r.backend.threads
	// Threads search at once: what they took in all is brought down to the time that passed.
	var all int64
	for i := range s.Queries {
		all += s.Queries[i].searchNS
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		switch {
		case all > 0:
			q.MatchS = command.Rounded(time.Duration(float64(r.match) * float64(q.searchNS) / float64(all)))
		case len(s.Queries) == 1:
			q.MatchS = s.MatchS
		}
	}
}

// query returns the summary of a query, made when it is new.
func (r *replay) query(name string) *replayQuery {
	if r.byName == nil {
		r.byName = make(map[string]int)
		r.sum.Queries = []replayQuery{}
	}
	i, ok := r.byName[name]
	if !ok {
		i = len(r.sum.Queries)
		r.byName[name] = i
		r.sum.Queries = append(r.sum.Queries, replayQuery{Name: name})
	}
	return &r.sum.Queries[i]
}
