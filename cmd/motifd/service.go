package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/copies"
	"motifd/cmd/motifd/internal/health"
	"motifd/cmd/motifd/internal/metrics"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/tempfile"
)

// errUnfinished: the daemon was stopped before it had recovered.
var errUnfinished = errors.New("stopped before recovery was done")

// service is the daemon: it puts the parts together and runs them.
type service struct {
	app      *app
	cfg      *config.Config
	metrics  *metrics.Metrics
	log      zerolog.Logger
	started  time.Time
	doing    atomic.Pointer[string] // before there is a pipeline
	store    atomic.Pointer[checkpoint.Store]
	pipeline atomic.Pointer[stream.Pipeline]
	gpus     atomic.Pointer[gpus]           // nil: there are none, or the backend is not open yet
	core     atomic.Pointer[matcher.Engine] // of which others than the pipeline call Interrupt alone
	// observe, which may be nil, returns what the pipeline tells instead of o; that passes on to o.
	observe func(o stream.Observer) stream.Observer
	changes *admin.Changes
	waits   health.Waits
	// resetProgress lets the daemon go on behind its checkpoint whatever the output's progress record says.
	resetProgress bool
	// suspend names queries that the start suspends.
	suspend []string
	// schema declares what the configuration does, with the columns of the graph. It is set before pipeline is.
	schema *property.Schema
}

func newService(a *app, cfg *config.Config, log zerolog.Logger) *service {
	s := &service{app: a, cfg: cfg, log: log, started: time.Now(), changes: admin.NewChanges(&cfg.Admin, log)}
	s.metrics = metrics.New(metrics.Options{Version: version, MaxEdges: cfg.Graph.MaxEdges, Daemon: s})
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
	s.store.Store(store)
	defer copies.Serve(s.cfg.Checkpoint.Dir, store, s.log)()
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
	backend, err := s.backend() // this and the ends before a recovery that may be long
	if err != nil {
		return err
	}
	defer func() {
		if s.core.Load() == nil { // which closes it
			err = errors.Join(err, backend.Close())
		}
	}()
	ends, err := s.ends(store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ends.close()) }()
	state, err := s.recover(ctx, store)
	if err != nil {
		return err
	}
	last = state.Batch + uint64(len(state.Open))
	engine, err := s.engine(ctx, state, store, backend)
	if err != nil {
		return err
	}
	s.core.Store(engine)
	defer closing("the engine", engine.Close)
	if ctx.Err() != nil { // stopped while the state was read
		return context.Cause(ctx)
	}
	p, err := s.build(state, store, engine, ends)
	if err != nil {
		return err
	}
	s.pipeline.Store(p)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // a graceful stop is watched, too
	var watchers sync.WaitGroup
	watchers.Go(func() { health.WatchSteps(watching, p.Step, s.log) })
	watchers.Go(func() { health.WatchDisk(watching, store.DiskUse, s.log) })
	quiet := context.AfterFunc(ctx, func() {
		s.log.Info().Stringer("stop_timeout", s.cfg.StopTimeout.Std()).
			Msg("stopping: the batch in progress is finished first")
	})
	err = p.Run(ctx)
	if errors.Is(err, matcher.ErrDeclared) {
		err = command.Refuse(err)
	}
	quiet()
	stopWatching()
	watchers.Wait()
	if err == nil {
		s.log.Info().Uint64("batch", p.Status().Batch).Msg("motifd stopped")
	}
	return err
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
	dec, err := newDecoder(s.cfg.Graph.BootstrapFormat, s.cfg.Graph.BootstrapCSV,
		codec.DecoderOptions{EdgeIDs: s.cfg.Graph.EdgeIDs(), Schema: s.cfg.Graph.Schema()})
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

// backend opens what searches.
func (s *service) backend() (backend *timedBackend, err error) {
	c := &s.cfg.Engine
	backend, err = newBackend(backendOptions{
		name: c.Backend, devices: c.Device, deviceMemory: int64(c.DeviceMemory), placement: c.Placement,
		metrics: s.metrics, log: s.log,
		cpu:  cpu.Options{Threads: c.Threads, TempFiles: tempfile.In(c.SpillDir), GroupMemory: int(c.GroupMemory)},
		lost: func(name string, gpus *gpus) { s.metrics.Searches(name, backend.threads, gpus.names()) },
	})
	if err != nil {
		return nil, fmt.Errorf("engine.backend: %w", err)
	}
	s.metrics.Searches(backend.Name(), backend.threads, backend.gpus.names())
	s.gpus.Store(backend.gpus)
	backend.phase = func(_ uint64, phase matcher.Phase) {
		if p := s.pipeline.Load(); p != nil {
			p.NotePhase(phase)
		}
	}
	return backend, nil
}

// engine returns an engine with the stored queries. The backend is the engine's, unless there is an error.
func (s *service) engine(ctx context.Context, state *stream.State, store *checkpoint.Store,
	backend *timedBackend) (*matcher.Engine, error) {
	e, err := newEngine(state.Graph, backend, matcher.EngineOptions{
		Upsert: s.cfg.Output.Mode == "upsert", Limits: s.cfg.MatcherLimits(), Decide: store.Decide,
		Suspend: store.ToSuspend(),
	})
	if err != nil {
		return nil, err
	}
	if err := e.Restore(ctx, state.Queries); err != nil {
		return nil, err
	}
	return e, nil
}

// build makes the pipeline.
func (s *service) build(state *stream.State, store *checkpoint.Store, engine *matcher.Engine,
	ends *ends) (*stream.Pipeline, error) {
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
	s.schema = stream.Declared(state, opt.Schema)
	decoder.Schema = s.schema
	if opt.Decoder, err = codec.NewDecoder(s.cfg.Input.Format, decoder); err != nil {
		return nil, command.Refuse(err)
	}
	opt.Source, opt.Sink = ends.source, ends.sink
	opt.Encoder = codec.NewEncoder(codec.EncoderOptions{
		StreamID: state.StreamID, Upsert: s.cfg.Output.Mode == "upsert", EchoProps: s.cfg.Output.EchoProps,
	})
	opt.Engine, opt.Store, opt.State = engine, store, state
	opt.Ready = rehearsal(engine, s.log)
	opt.Admit = s.admit
	opt.Observer = &observer{
		Metrics: s.metrics, log: s.log,
		often: s.log.Sample(&zerolog.BurstSampler{Burst: 5, Period: 10 * time.Second}),
	}
	if s.observe != nil {
		opt.Observer = s.observe(opt.Observer)
	}
	opt.Control = s.cfg.Control()
	s.changes.Configured(queries)
	opt.Startup = func(stored []matcher.QueryState) ([]*matcher.QueryChange, error) {
		changes := startup(stored, queries)
		registered := func(q matcher.QueryState) bool { return !q.Removed && q.Query.Origin != "config" }
		if len(queries) == 0 && !slices.ContainsFunc(stored, registered) {
			s.log.Warn().Msg("there is no query, so nothing is reported: set queries or queries_dir, or use motifd " +
				"query add")
		}
		return changes, newNames(changes)
	}
	p, err := stream.NewPipeline(opt)
	if err == nil {
		ends.taken = true
	}
	return p, err
}
