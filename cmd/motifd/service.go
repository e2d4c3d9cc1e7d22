package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
	"motifd/stream/tempfile"
)

// errUnfinished: the daemon was stopped before it had recovered.
var errUnfinished = errors.New("stopped before recovery was done")

// service is the daemon: it puts the parts together and runs them.
type service struct {
	app      *app
	cfg      *config.Config
	metrics  *metrics
	log      zerolog.Logger
	started  time.Time
	doing    atomic.Pointer[string] // before there is a pipeline
	pipeline atomic.Pointer[stream.Pipeline]
	core     atomic.Pointer[matcher.Engine] // of which others than the pipeline call Interrupt alone
	// observe, which may be nil, returns what the pipeline tells instead of o; that passes on to o.
	observe func(o stream.Observer) stream.Observer
	pending pending
	// resetProgress lets the daemon go on behind its checkpoint whatever the output's progress record says.
	resetProgress bool
	// suspend names queries that the start suspends.
	suspend []string
}

func newService(a *app, cfg *config.Config, m *metrics, log zerolog.Logger) *service {
	s := &service{app: a, cfg: cfg, metrics: m, log: log, started: time.Now()}
	s.now("starting")
	return s
}

func (s *service) now(what string) { s.doing.Store(&what) }

// run runs the daemon until its input ends, a part fails, or ctx is done. What was begun is closed again.
func (s *service) run(ctx context.Context) (err error) {
	defer func() { err = s.advise(err) }()
	closing := func(what string, f func() error) {
		cerr := f()
		if errors.Is(cerr, checkpoint.ErrBroken) && errors.Is(err, checkpoint.ErrBroken) {
			return // said already
		}
		if cerr != nil {
			err = errors.Join(err, fmt.Errorf("closing %s: %w", what, cerr))
		}
	}
	if s.cfg.Embedded != nil {
		s.now("starting the embedded log")
		log, err := s.embedded()
		if err != nil {
			return err
		}
		defer closing("the embedded log", log.Close)
	}
	s.now("recovering")
	opt := s.cfg.CheckpointOptions()
	opt.Graph.Background = beside
	opt.Logger = func(msg string) { s.log.Error().Str("from", "checkpoint").Msg(msg) }
	store, err := checkpoint.Open(s.cfg.Checkpoint.Dir, opt)
	if err != nil {
		return err
	}
	defer closing("the checkpoint", store.Close)
	s.metrics.checkpoint.Store(store)
	defer serveCopies(s.cfg.Checkpoint.Dir, store, s.log)()
	var last uint64 // of the batches that the run before had in hand
	defer func() {
		stopped := err == nil || errors.Is(err, context.Canceled)
		if p := s.pipeline.Load(); p != nil && errors.Is(err, stream.ErrStopTimeout) {
			stopped = p.Status().Batch < last
		}
		if n := store.InHand(); n > 0 && ctx.Err() != nil && stopped {
			err = fmt.Errorf("%w: batches in progress: %d; the next start finishes them", errUnfinished, n)
		}
	}()
	for _, name := range s.suspend {
		got, err := store.Suspend(name)
		if err != nil {
			return command.Refuse(err)
		}
		if got.Already {
			s.log.Info().Str("query", name).Msg("the query is suspended already; leave out --suspend from now on")
		}
	}
	for _, name := range store.ToSuspend() {
		s.log.Warn().Str("query", name).
			Msg("the query is suspended on request, before anything more of it is published")
	}
	state, err := s.recover(ctx, store)
	if err != nil {
		return err
	}
	last = state.Batch + uint64(len(state.Open))
	engine, err := s.engine(ctx, state, store)
	if err != nil {
		return err
	}
	defer closing("the engine", engine.Close)
	if ctx.Err() != nil { // stopped while the state was read
		return context.Cause(ctx)
	}
	s.core.Store(engine)
	p, err := s.build(state, store, engine)
	if err != nil {
		return err
	}
	s.pipeline.Store(p)
	s.metrics.pipeline.Store(p)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // a graceful stop is watched, too
	var watchers sync.WaitGroup
	watchers.Go(func() { watchSteps(watching, p.Step, s.log) })
	watchers.Go(func() { watchDisk(watching, store.DiskUse, s.log) })
	quiet := context.AfterFunc(ctx, func() {
		s.log.Info().Stringer("stop_timeout", s.cfg.StopTimeout.Std()).
			Msg("stopping: the batch in progress is finished first")
	})
	err = p.Run(ctx)
	quiet()
	stopWatching()
	watchers.Wait()
	st := p.Status()
	done := s.log.Info().Uint64("batch", st.Batch)
	if err == nil {
		done.Msg("motifd stopped")
	}
	return err
}

// embedded starts the embedded log with the topics that the configuration names.
func (s *service) embedded() (*embedded.Log, error) {
	e := s.cfg.Embedded
	var topics []admin.Topic
	add := func(name string, cfg map[string]string) {
		if name != "" {
			topics = append(topics, admin.Topic{Name: name, Partitions: e.Partitions, Config: cfg})
		}
	}
	if in := s.cfg.Input.Kafka; in != nil {
		add(in.Topic, nil)
	}
	if out := s.cfg.Output.Kafka; out != nil {
		if s.cfg.Output.Mode == "upsert" {
			add(out.Topic, admin.Compacted())
		} else {
			add(out.Topic, nil)
		}
		add(out.DeadLetter, nil)
		add(out.Control, nil)
		if out.Transactions != publish.TransactionsOff {
			topics = append(topics, admin.ProgressTopic(out.Progress()))
		}
	}
	log, err := embedded.Open(embedded.Options{Dir: e.Dir, Port: e.Port, Sync: e.Sync, Topics: topics})
	if err != nil {
		return nil, err
	}
	s.log.Warn().Str("address", log.Addr()).Str("dir", e.Dir).
		Msg("the embedded log is a single-node log for trying motifd and for development, not for production")
	return log, nil
}

// recover loads the stored state, and the initial graph into a fresh checkpoint.
func (s *service) recover(ctx context.Context, store *checkpoint.Store) (*stream.State, error) {
	begin := time.Now()
	state, err := store.Recover(ctx)
	if err != nil {
		return nil, err
	}
	s.log.Info().Str("stream", state.StreamID).Uint64("batch", state.Batch).Int("open", len(state.Open)).
		Int("vertices", state.Graph.Vertices()).Int("edges", state.Graph.Edges()).
		Stringer("took", time.Since(begin).Round(time.Millisecond)).Msg("recovered")
	path := s.cfg.Graph.Bootstrap
	switch {
	case path == "" || store.Bootstrapped():
		return state, nil
	case !state.Fresh:
		s.log.Warn().Str("file", path).
			Msg("graph.bootstrap is for a new checkpoint; this one holds batches, so that the file is not loaded")
		return state, nil
	}
	s.now("loading the initial graph")
	dec, err := newDecoder(s.cfg.Graph.BootstrapFormat, s.cfg.Graph.BootstrapCSV)
	if err != nil {
		return nil, err
	}
	graph := s.cfg.GraphOptions()
	graph.Background = beside
	g := dyngraph.NewGraph(graph)
	a := *s.app
	a.ctx = ctx
	took, err := loadGraph(&a, g, &input{
		path: path, format: s.cfg.Graph.BootstrapFormat, dec: dec, onDamage: file.DamageStop,
		maxExpansion: s.cfg.Input.Limits.MaxExpansion,
	})
	if err != nil {
		return nil, err
	}
	if err := store.Bootstrap(ctx, g); err != nil {
		return nil, err
	}
	s.log.Info().Str("file", path).Int("vertices", g.Vertices()).Int("edges", g.Edges()).
		Stringer("took", took.Round(time.Millisecond)).Msg("initial graph loaded")
	state.Graph = g
	return state, nil
}

// engine returns an engine with the stored queries.
func (s *service) engine(ctx context.Context, state *stream.State, store *checkpoint.Store) (*matcher.Engine, error) {
	c := &s.cfg.Engine
	var backend *timedBackend
	var err error
	backend, err = newBackend(backendOptions{
		name: c.Backend, device: c.Device, placement: c.Placement, metrics: s.metrics, log: s.log,
		cpu:  cpu.Options{Threads: c.Threads, TempFiles: tempfile.In(c.SpillDir), GroupMemory: int(c.GroupMemory)},
		lost: func() { s.metrics.searches("cpu", backend.threads, "") },
	})
	if err != nil {
		return nil, fmt.Errorf("engine.backend: %w", err)
	}
	s.metrics.searches(backend.Name(), backend.threads, backend.device)
	backend.phase = func(_ uint64, phase matcher.Phase) {
		if p := s.pipeline.Load(); p != nil {
			p.NotePhase(phase)
		}
	}
	e, err := newEngine(state.Graph, backend, matcher.EngineOptions{
		Upsert: s.cfg.Output.Mode == "upsert", Limits: s.cfg.MatcherLimits(), Decide: store.Decide,
		Suspend: store.ToSuspend(),
	})
	if err != nil {
		return nil, err
	}
	if err := e.Restore(ctx, state.Queries); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// build makes the pipeline.
func (s *service) build(state *stream.State, store *checkpoint.Store,
	engine *matcher.Engine) (*stream.Pipeline, error) {
	queries, err := s.cfg.BuildQueries()
	if err != nil {
		return nil, command.Refuse(err)
	}
	opt := s.cfg.PipelineOptions()
	opt.Paused = func(reason string) { s.log.Warn().Msg("input is paused: " + reason) }
	decoder, err := s.cfg.DecoderOptions()
	if err != nil {
		return nil, command.Refuse(err)
	}
	if opt.Decoder, err = codec.NewDecoder(s.cfg.Input.Format, decoder); err != nil {
		return nil, command.Refuse(err)
	}
	if opt.Source, err = s.source(store); err != nil {
		return nil, err
	}
	if opt.Sink, err = s.sink(store); err != nil {
		return nil, errors.Join(err, opt.Source.Close())
	}
	opt.Encoder = codec.NewEncoder(codec.EncoderOptions{
		StreamID: state.StreamID, Upsert: s.cfg.Output.Mode == "upsert", EchoProps: s.cfg.Output.EchoProps,
	})
	opt.Engine, opt.Store, opt.State = engine, store, state
	opt.Ready = rehearsal(engine, s.log)
	opt.Admit = s.admit
	opt.Observer = &observer{
		metrics: s.metrics, log: s.log,
		often: s.log.Sample(&zerolog.BurstSampler{Burst: 5, Period: 10 * time.Second}),
	}
	if s.observe != nil {
		opt.Observer = s.observe(opt.Observer)
	}
	opt.Control = s.cfg.Control()
	opt.Startup = func(stored []matcher.QueryState) ([]*matcher.QueryChange, error) {
		changes := startup(stored, queries)
		return changes, newNames(changes)
	}
	p, err := stream.NewPipeline(opt)
	if err != nil {
		return nil, errors.Join(err, opt.Source.Close(), opt.Sink.Close())
	}
	return p, nil
}

func (s *service) source(store *checkpoint.Store) (stream.Source, error) {
	if s.cfg.Input.Kafka != nil {
		opt, err := s.cfg.SourceOptions()
		if err != nil {
			return nil, err
		}
		opt.Events = s.events()
		if opt.TopicID, err = store.InputTopicID(); err != nil {
			return nil, err
		}
		if opt.Epochs, err = store.InputEpochs(); err != nil {
			return nil, err
		}
		opt.KeepTopicID, opt.KeepEpochs = store.KeepInputTopicID, store.KeepInputEpochs
		return source.New(opt)
	}
	opt := s.cfg.FileSourceOptions()
	opt.Known = store.InputFiles()
	src, err := file.NewSource(opt)
	if err != nil {
		return nil, err
	}
	if err := store.KeepInputFiles(src.Names()); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

func (s *service) sink(store *checkpoint.Store) (stream.Sink, error) {
	if s.cfg.Output.Kafka != nil {
		opt, err := s.cfg.SinkOptions()
		if err != nil {
			return nil, err
		}
		opt.Events = s.events()
		opt.ResetProgress = s.resetProgress
		if opt.LastMode, err = store.OutputMode(); err != nil {
			return nil, err
		}
		opt.KeepMode = store.KeepOutputMode
		return publish.NewOutput(opt, s.cfg.Output.Kafka.Transactions)
	}
	opt := s.cfg.FileSinkOptions()
	opt.ResetProgress = s.resetProgress
	return file.NewSink(opt)
}

// events counts and logs what the Kafka client tells.
func (s *service) events() kafka.Events {
	e := s.metrics.events()
	count := e
	e.Retry = func(op, topic string, partition int32, attempt int, err error) {
		count.Retry(op, topic, partition, attempt, err)
		s.log.Warn().Str("op", op).Str("topic", topic).Int32("partition", partition).Int("attempt", attempt).Err(err).
			Msg("kafka: trying again")
	}
	e.Blocked = func(op, topic string, partition int32, since time.Time, err error) {
		if waited := s.metrics.waits.note(operation{op, topic, partition}, since, err); waited >= patience {
			s.log.Info().Str("op", op).Str("topic", topic).Int32("partition", partition).
				Stringer("waited", waited.Round(time.Millisecond)).Msg("kafka: the wait is over")
		}
	}
	e.Loss = func(partition int32, from, to int64) {
		count.Loss(partition, from, to)
		s.log.Error().Int32("partition", partition).Int64("from", from).Int64("to", to).
			Msg("kafka: input records are gone; reading goes on after them")
	}
	e.Partitions = func(topic string, from, to int32) {
		s.log.Warn().Str("topic", topic).Int32("had", from).Int32("has", to).
			Msg("kafka: the topic has more partitions than before; all are used")
	}
	e.Duplicates = func(topic string, partition int32, n int64) {
		count.Duplicates(topic, partition, n)
		s.log.Warn().Str("topic", topic).Int32("partition", partition).Int64("records", n).
			Msg("kafka: records were probably published more than once")
	}
	e.Recovered = func(n uint64) {
		s.log.Info().Uint64("records", n).Msg("kafka: records of the batches in progress were already published")
	}
	return e
}

// startup compares the queries of the configuration with the stored ones. Those of the API stay, unless the
// configuration has one of the same name; a suspended query stays suspended until it is resumed or changed.
func startup(stored []matcher.QueryState, configured []*matcher.Query) []*matcher.QueryChange {
	byName := make(map[string]*matcher.Query)
	for _, q := range configured {
		byName[q.Name] = q
	}
	old := make(map[string]matcher.QueryState)
	var out []*matcher.QueryChange
	for _, s := range stored {
		if s.Removed {
			continue
		}
		old[s.Query.Name] = s
		if byName[s.Query.Name] == nil && s.Query.Origin == "config" {
			out = append(out, &matcher.QueryChange{Remove: s.Query.Name})
		}
	}
	for _, q := range configured {
		s, ok := old[q.Name]
		if ok && s.Suspended && definition(s.Query) == definition(q) {
			continue
		}
		ch := &matcher.QueryChange{Add: q}
		if ok {
			ch.Remove = q.Name
		}
		out = append(out, ch) // the pipeline passes over what is the same
	}
	return out
}

// newNames checks the names of queries that are registered for the first time; a stored one keeps its name.
func newNames(changes []*matcher.QueryChange) error {
	for _, ch := range changes {
		if ch.Add == nil || ch.Remove != "" {
			continue
		}
		if err := matcher.CheckNewName(ch.Add.Name); err != nil {
			return command.Refuse(err)
		}
	}
	return nil
}

// definition is what a query matches and emits, in a form to compare.
func definition(q *matcher.Query) string {
	d := *q
	d.Version, d.Source, d.Language, d.Origin = 0, "", "", ""
	text, err := json.Marshal(&d)
	if err != nil { // a struct of plain fields
		return err.Error()
	}
	return string(text)
}

// observer counts, and logs what an operator has to know.
type observer struct {
	*metrics
	log zerolog.Logger
	// often logs what may happen in every batch: five lines in ten seconds. The metrics count all.
	often zerolog.Logger
}

// Step implements stream.Observer.
func (o *observer) Step(s stream.StepStats) {
	o.metrics.Step(s)
	for _, d := range s.Batch.DeadLetters {
		o.log.Debug().Int32("partition", d.Partition).Int64("offset", d.Offset).Str("reason", d.Reason).Msg(d.Error)
	}
	if n := len(s.Batch.DeadLetters); n > 0 {
		d := s.Batch.DeadLetters[0]
		o.often.Warn().Uint64("batch", s.Batch.Number).Int("records", n).Int32("partition", d.Partition).
			Int64("offset", d.Offset).
			Str("first", d.Error).Msg("records were refused")
	}
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		switch {
		case q.Suspended == nil:
		case q.Suspended.Cause == matcher.CauseOperator:
			o.log.Warn().
				Str("query", q.Query.Name).
				Uint64("batch", s.Batch.Number).
				Msg("the query is suspended on request; resume it with motifd query resume")
		default:
			o.log.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).Uint64("steps", q.Steps).
				Stringer("limit", q.Suspended.Cause).
				Msg("the query exceeded a limit and is suspended; resume it with motifd query resume")
		}
		if q.Skipped > 0 {
			o.often.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).Uint64("groups", q.Skipped).
				Stringer("limit", q.Cause).Uint64("lossy_since", q.LossySince).
				Msg("matches beyond a limit were left out; the output says so")
		}
		if q.Truncated {
			o.often.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).
				Msg("max_matches_per_batch was reached; the rest was left out")
		}
	}
	if ch := s.Batch.Change; ch != nil {
		e := o.log.Info().Uint64("batch", s.Batch.Number)
		if ch.Add == nil {
			e.Str("query", ch.Remove).Msg("query removed")
		} else {
			e.Str("query", ch.Add.Name).Uint64("version", ch.Add.Version).Msg("query registered")
		}
	}
}
