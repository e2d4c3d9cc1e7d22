package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/estimate"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/eventtime"
	"motifd/stream/file"
)

// sampleFlags say what of a stream is played to see what queries cost.
type sampleFlags struct {
	Format string `help:"${format_help}" enum:",json,csv,text" default:""`
	Last   int    `help:"Records at the end that are played (default: ${default})." default:"10000" placeholder:"N"`
	Batch  int    `help:"${sample_batch_help}" placeholder:"N"`

	queryFlags   `embed:""`
	timeFlags    `embed:""`
	backendFlags `embed:""`
}

// defaultLast is the default of --last.
const defaultLast = 10_000

// check refuses what is out of range, and what goes with updates alone; name is that of the flag that names them.
func (f *sampleFlags) check(name, updates string) error {
	switch {
	case updates == "" && (f.Last != defaultLast || f.Batch != 0 || f.Format != ""):
		return command.Refuse(fmt.Errorf("--last, --batch and --format go with %s, the stream that is played", name))
	case f.Last < 1:
		return command.Refuse(fmt.Errorf("--last: %d is out of range; it is at least 1", f.Last))
	case f.Batch < 0:
		return command.Refuse(fmt.Errorf("--batch: %d is out of range; it is at least 1", f.Batch))
	case updates == file.Stdin:
		return command.Refuse(fmt.Errorf("%s: the updates are read twice, and standard input comes once; write it to "+
			"a file", name))
	}
	return nil
}

// sampling is the end of a stream, and what it is played with.
type sampling struct {
	queries  []*matcher.Query
	graph    dyngraph.Options
	load     *input // the graph file; nil for none
	updates  *input
	last     int // records that are played
	batch    int // updates in a batch
	time     stream.TimeOptions
	labels   int // of a vertex, at most
	limits   matcher.Limits
	encoding codec.EncoderOptions
	backend  backendFlags
}

// ofFiles returns what pattern files are played with; the graph and the updates may be empty.
func (f *sampleFlags) ofFiles(a *app, g *graphFlags, patterns []string, graph, updates string) (*sampling, error) {
	var files []updateFile
	for _, x := range []updateFile{{graph, ""}, {updates, f.Format}} {
		if x.path != "" {
			files = append(files, x)
		}
	}
	if f.Retention != "" && g.EdgeIdentity == "" {
		g.EdgeIdentity = config.EdgeIdentityID // as in the configuration
	}
	if len(files) > 0 {
		if err := g.infer(a, files...); err != nil {
			return nil, err
		}
	}
	defaults := config.Default()
	s := &sampling{last: f.Last, batch: f.Batch, limits: defaults.MatcherLimits(), backend: f.backendFlags}
	if s.batch == 0 {
		s.batch = defaults.Batch.MaxUpdates
	}
	var err error
	if s.queries, err = g.queries(patterns); err != nil {
		return nil, err
	}
	if err := f.queryFlags.apply(s.queries, !g.Undirected); err != nil {
		return nil, err
	}
	if s.time, err = f.timeFlags.options(); err != nil {
		return nil, err
	}
	if s.graph, err = g.options(); err != nil {
		return nil, err
	}
	if graph != "" {
		if s.load, err = g.input(graph, ""); err != nil {
			return nil, err
		}
	}
	if updates != "" {
		s.updates, err = g.input(updates, f.Format)
	}
	return s, err
}

// loaded returns the graph of the graph file, an empty one without.
func (s *sampling) loaded(a *app) (*dyngraph.Graph, error) {
	g := dyngraph.NewGraph(s.graph)
	if s.load == nil {
		return g, nil
	}
	_, err := loadGraph(a, g, s.load)
	return g, err
}

// estimate plays the sample twice, one by one and in batches, and has the graph behind it looked at.
func (s *sampling) estimate(a *app, look func(*dyngraph.Graph) error) (report *estimate.Report, err error) {
	var updates estimate.Updates
	batches := estimate.Batches{Size: s.batch}
	one := *s
	one.backend.profile = nil // the batches are told of
	if err := one.play(a, 1, &updates, func(*matcher.Engine) error { return nil }); err != nil {
		return nil, err
	}
	err = s.play(a, s.batch, &batches, func(e *matcher.Engine) error {
		subjects := make([]estimate.Subject, len(s.queries))
		for i, q := range s.queries {
			subjects[i] = estimate.Subject{Name: q.Name, Kept: e.Kept(q.Name),
				Warnings: matcher.Warnings(q, e.Graph().Options(), e.Graph())}
		}
		report = estimate.New(&updates, &batches, e.Graph(), subjects)
		return look(e.Graph())
	})
	return report, err
}

// play loads all but the sample, plays the sample in batches of a size, and calls done before the engine is closed.
func (s *sampling) play(a *app, batch int, observe stream.Observer,
	done func(*matcher.Engine) error) (err error) {
	backend, err := s.backend.make(a.log, nil, false)
	if err != nil {
		return err
	}
	g, err := s.loaded(a)
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	engine, err := newEngine(g, backend, matcher.EngineOptions{Limits: s.limits})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	src, err := s.updates.open(a.stdin)
	if err != nil {
		return err
	}
	before := &allBut{Source: src, last: s.last}
	state := &stream.State{StreamID: "sample", Fresh: true, Positions: stream.Positions{}}
	keep := &keepTime{state: state}
	opt := stream.PipelineOptions{
		Source: before, Decoder: s.updates.dec, Engine: engine, State: state, Store: keep,
		Batch: stream.BatcherOptions{MaxUpdates: loadChunk, MaxBytes: 1 << 40, Linger: -1},
		Time:  s.time, MaxVertexLabels: s.labels,
	}
	if err := s.run(a, opt); err != nil {
		return fmt.Errorf("loading what is before the sample: %w", err)
	}
	opt.Source, opt.Observer = &given{records: before.kept}, observe
	opt.State = &stream.State{StreamID: "sample", Batch: keep.batch, Positions: stream.Positions{}, Time: keep.time}
	opt.Batch.MaxUpdates = batch
	opt.Startup = func([]matcher.QueryState) ([]*matcher.QueryChange, error) {
		added := make([]*matcher.Query, len(s.queries))
		for i, q := range s.queries {
			alone := *q
			alone.Backfill = matcher.BackfillNone
			added[i] = &alone
		}
		return additions(added), nil
	}
	opt.Ready = rehearsal(engine, a.log)
	if err := s.run(a, opt); err != nil {
		return err
	}
	return done(engine)
}

// run runs a pipeline whose output goes nowhere.
func (s *sampling) run(a *app, opt stream.PipelineOptions) error {
	sink, err := file.NewSink(file.SinkOptions{Output: file.None, NoSync: true, NoProgress: true})
	if err != nil {
		return err
	}
	opt.Sink, opt.StopTimeout = sink, -1
	opt.Encoder = codec.NewEncoder(s.encoding)
	p, err := stream.NewPipeline(opt)
	if err != nil {
		return err
	}
	if err := p.Run(a.ctx); err != nil {
		return err
	}
	if a.ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return nil
}

// keepTime is a store that keeps nothing but where event time stands.
type keepTime struct {
	stream.NopStore
	state *stream.State
	batch uint64
	time  *eventtime.State
}

// Commit implements stream.Store.
func (k *keepTime) Commit(_ context.Context, info *stream.CommitInfo) error {
	k.batch = info.Batch
	if info.Time != nil {
		k.time = info.Time.Clone()
	}
	return nil
}

// allBut is a source that keeps its last records back.
type allBut struct {
	stream.Source
	last int
	kept []stream.Record
}

// Read implements stream.Source.
func (s *allBut) Read(ctx context.Context) ([]stream.Record, error) {
	for {
		recs, err := s.Source.Read(ctx)
		if damaged := (*file.DamageError)(nil); errors.As(err, &damaged) {
			return nil, command.Refuse(err)
		}
		s.kept = append(s.kept, recs...)
		if n := len(s.kept) - s.last; n > 0 && (err == nil || errors.Is(err, io.EOF)) {
			out := s.kept[:n:n]
			s.kept = append([]stream.Record(nil), s.kept[n:]...)
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// given is a source of records that are there.
type given struct{ records []stream.Record }

// Read implements stream.Source.
func (s *given) Read(context.Context) ([]stream.Record, error) {
	if len(s.records) == 0 {
		return nil, io.EOF
	}
	out := s.records
	s.records = nil
	return out, nil
}

// Seek implements stream.Source.
func (s *given) Seek(context.Context, stream.Positions) error { return nil }

// Close implements stream.Source.
func (s *given) Close() error { return nil }

// configuredInput is how a file of the input of a configuration is read.
func configuredInput(cfg *config.Config, path, format string) (*input, error) {
	if format == "" {
		var err error
		if format, err = config.FormatOf(path); err != nil {
			return nil, command.Refuse(err)
		}
	}
	opt, err := cfg.DecoderOptions()
	if err != nil {
		return nil, command.Refuse(err)
	}
	in := &input{path: path, format: format, onDamage: file.DamageStop,
		maxExpansion: cfg.Input.Limits.MaxExpansion}
	if format == codec.FormatCSV {
		in.noHeader = cfg.Input.CSV.Header != "" // the configuration has it instead
		if cfg.Input.CSV.Comma != "" {
			in.comma = cfg.Input.CSV.Comma[0]
		}
	}
	in.dec, err = newDecoder(format, cfg.Input.CSV.Columns, opt)
	return in, err
}
