package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/timeline"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/file"
)

// replayCmd runs logged updates offline.
type replayCmd struct {
	Graph        string        `help:"${replay_graph_help}" placeholder:"FILE"`
	Updates      string        `help:"${updates_help}" placeholder:"FILE"`
	Format       string        `help:"${format_help}" enum:",json,csv,text" default:""`
	Query        []string      `help:"${patterns_help}" placeholder:"FILE_OR_DIR" sep:"none"`
	Batch        int           `help:"Updates per batch (default: ${default})." default:"1000" placeholder:"N"`
	EchoProps    bool          `help:"Repeat the props of edges in every match."`
	Out          string        `help:"${replay_out_help} (default: ${default})." default:"-" placeholder:"FILE"`
	DeadLetter   string        `help:"File for refused records (default: they are logged)." placeholder:"FILE"`
	Control      string        `help:"File for the record of each batch." placeholder:"FILE"`
	Summary      string        `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	Trace        string        `help:"${trace_help}" placeholder:"FILE"`
	TraceBatches int           `help:"${trace_batches_help} (default: ${default})." default:"100" placeholder:"N"`
	OnDamage     string        `help:"${on_damage_help}" enum:"stop,skip" default:"stop"`
	BatchLog     string        `help:"${batch_log_help}" placeholder:"DIR"`
	StopTimeout  time.Duration `help:"${stop_timeout_help} (default: ${default})." default:"30s" placeholder:"TIME"`
	queryFlags   `embed:""`
	limitFlags   `embed:""`
	graphFlags   `embed:""`

	backendFlags `embed:""`
}

// limitFlags bound what searching may cost, as engine.limits does for a daemon.
type limitFlags struct {
	GroupMatches uint64        `help:"Maximum matches of one update and one query; 0 is no limit." placeholder:"N"`
	QueryMatches uint64        `help:"Maximum matches of one query in one batch; 0 is no limit." placeholder:"N"`
	QueryTime    time.Duration `help:"${query_time_help}" placeholder:"TIME"`
	BatchTime    time.Duration `help:"${batch_time_help}" placeholder:"TIME"`
	SpillBytes   config.Size   `help:"${spill_bytes_help}" placeholder:"SIZE"`
}

func (l *limitFlags) limits() matcher.Limits {
	return matcher.Limits{
		Matches:      l.GroupMatches,
		QueryMatches: l.QueryMatches,
		QueryTime:    l.QueryTime,
		BatchTime:    l.BatchTime,
		Spill:        int64(l.SpillBytes),
	}
}

// mostReadAhead is how many records of two batches wait for the engine at most, for each, where several threads search.
const mostReadAhead = 1 << 15

// defaultReplayBatch is the default of --batch.
const defaultReplayBatch = 1000

func (replayCmd) Help() string {
	return `The queries are registered before the stream, so deltas are those of the stream. Batches are cut by
count only, so the output depends on the files and --batch only. A query is named after its file, without the
extension. The summary goes to standard error.

The flags for caps, budgets and limits apply to all queries. With a daemon's settings and its batches, a replay writes
the same bytes except for the stream's id. A daemon limits searches by default (engine.limits); a replay does not.

The first interrupt or SIGTERM ends the replay after the current batch, or after --stop-timeout without it, with
status 1. A second one ends the process at once.

Examples:
  motifd replay --updates=payments.jsonl --query=ring.cypher
  motifd replay --graph=graph.txt --updates=updates.txt --query=queries/ --undirected --batch=100 --out=none
  motifd replay --updates=tx.csv.gz --csv=from=SRC,to=DST,ts=TIME,label="'T'" --query=ring.cypher --emit=counts
  motifd replay --updates=payments.jsonl --properties=properties.yaml --query=pass_on.cypher --param=hour=1h
  motifd replay --batch-log=/var/lib/motifd --out=again.jsonl
  motifd replay --updates=payments.jsonl --query=ring.cypher --out=none --trace=timeline.json --trace-batches=20`
}

func (c *replayCmd) check() error {
	fail := func(format string, args ...any) error { return command.Refuse(fmt.Errorf(format, args...)) }
	for name, d := range map[string]time.Duration{"--query-time": c.QueryTime, "--batch-time": c.BatchTime} {
		if d < 0 {
			return fail("%s: %s is out of range; it is at least 0", name, d)
		}
	}
	if c.TraceBatches < 1 {
		return fail("--trace-batches: %d is out of range; it is at least 1", c.TraceBatches)
	}
	if c.StopTimeout < 0 {
		return fail("--stop-timeout: %s is out of range; it is at least 0", c.StopTimeout)
	}
	if c.BatchLog != "" {
		for name, set := range map[string]bool{
			"--graph": c.Graph != "", "--updates": c.Updates != "", "--query": len(c.Query) > 0, "--csv": c.CSV != "",
			"--properties": c.Properties != "", "--param": len(c.Param) > 0, "--within": c.Within > 0,
			"--format": c.Format != "", "--undirected": c.Undirected, "--batch": c.Batch != defaultReplayBatch,
			"--emit":                  c.Emit != "deltas",
			"--max-matches-per-batch": c.MaxMatchesPerBatch > 0, "--exact-total": c.ExactTotal,
			"--work-budget": c.WorkBudget > 0,
			"--over-budget": c.OverBudget != "skip", "--sample": c.Sample > 0, "--echo-props": c.EchoProps,
			"--group-matches": c.GroupMatches > 0, "--query-matches": c.QueryMatches > 0,
			"--query-time": c.QueryTime > 0, "--batch-time": c.BatchTime > 0,
			"--spill-bytes": c.SpillBytes > 0,
			"--unit":        c.Unit != "embeddings", "--on-damage": c.OnDamage != string(file.DamageStop),
		} {
			if set {
				return fail("%s does not go with --batch-log: the log holds the updates, queries and settings", name)
			}
		}
		return nil
	}
	switch {
	case c.Updates == "":
		return fail("--updates is missing; name the update stream, or a checkpoint with --batch-log")
	case len(c.Query) == 0:
		return fail("--query is missing; name a pattern file or a directory of them")
	case c.Batch < 1:
		return fail("--batch: %d is out of range; it is at least 1", c.Batch)
	case c.Updates == "-" && c.Format == "":
		return fail("--format is missing; standard input has no extension to tell it by")
	}
	return nil
}

// Run replays.
func (c *replayCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.BatchLog != "" {
		return c.replayLog(a)
	}
	return c.replayFiles(a)
}

func (c *replayCmd) replayFiles(a *app) (err error) {
	r := &replay{cmd: c, app: a, begin: time.Now()}
	queries, err := c.queries(c.Query)
	if err != nil {
		return err
	}
	if err := c.queryFlags.apply(queries, !c.Undirected); err != nil {
		return err
	}
	in, err := c.input(c.Updates, c.Format)
	if err != nil {
		return err
	}
	if r.trace, err = c.timeline(); err != nil {
		return err
	}
	if r.backend, err = c.make(a.log, r.trace, false); err != nil {
		return err
	}
	in.onDamage = file.OnDamage(c.OnDamage)
	src, err := in.open(a.stdin)
	if err != nil {
		return err
	}
	graph, err := c.options()
	if err != nil {
		return errors.Join(err, src.Close())
	}
	g := dyngraph.NewGraph(graph)
	if err := r.load(g); err != nil {
		return errors.Join(err, src.Close())
	}
	engine, err := newEngine(g, r.backend, matcher.EngineOptions{Limits: c.limits()})
	if err != nil {
		return errors.Join(err, src.Close())
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	opt := stream.PipelineOptions{
		Source: src, Decoder: in.dec, Engine: engine, Observer: r,
		State: &stream.State{StreamID: "replay", Fresh: true, Positions: stream.Positions{}},
		Batch: stream.BatcherOptions{MaxUpdates: c.Batch, MaxBytes: 1 << 40, Linger: -1},
		Startup: func([]matcher.QueryState) ([]*matcher.QueryChange, error) {
			return additions(queries), nil
		},
		Ready: rehearsal(engine, a.log),
	}
	if r.backend.threads > 1 {
		// What is read ahead takes a processor from the search. So it is little, and comes while the engine stages a
		// batch, which takes one.
		opt.QueueRecords = 2 * min(c.Batch, mostReadAhead)
	}
	r.progress = command.NewProgress(a.stderr, "replaying "+c.Updates, "updates")
	r.src = src
	for _, q := range queries {
		r.query(q.Name)
	}
	defer func() {
		if err == nil {
			a.warn(slices.DeleteFunc(queries, func(q *matcher.Query) bool { return r.query(q.Name).matched() }), g)
		}
	}()
	return r.run(
		&opt,
		codec.NewEncoder(codec.EncoderOptions{StreamID: "replay", EchoProps: c.EchoProps}),
		file.SinkOptions{},
	)
}

// timeline opens what --trace asks for; nil when it does not.
func (c *replayCmd) timeline() (*timeline.Timeline, error) {
	if c.Trace == "" {
		return nil, nil
	}
	free := func() error {
		for _, path := range append(slices.Clone(c.Query), c.Graph, c.Updates, c.Out, c.DeadLetter, c.Control,
			c.Summary, c.BatchLog) {
			if same(c.Trace, path) {
				return command.Refuse(fmt.Errorf("--trace: %s is another file of this command; name another file",
					c.Trace))
			}
		}
		return nil
	}
	if err := free(); err != nil { // before anything is cut off
		return nil, err
	}
	f, err := os.Create(c.Trace)
	if err != nil {
		return nil, command.Refuse(fmt.Errorf("--trace: %w", err))
	}
	if err := free(); err != nil { // a link to what was not there may lead to it now
		return nil, errors.Join(err, f.Close())
	}
	return timeline.New(timeline.Options{File: f, MaxBatches: c.TraceBatches}), nil
}

// additions registers queries.
func additions(queries []*matcher.Query) []*matcher.QueryChange {
	out := make([]*matcher.QueryChange, len(queries))
	for i, q := range queries {
		out[i] = &matcher.QueryChange{Add: q}
	}
	return out
}

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
	lost     string        // where the rest of a compressed file could not be read
	progress *command.Progress
	trace    *timeline.Timeline // nil without --trace
	src      *file.Source       // nil for a batch log
}

// load loads the initial graph, if any.
func (r *replay) load(g *dyngraph.Graph) error {
	if r.cmd.Graph == "" {
		return nil
	}
	in, err := r.cmd.input(r.cmd.Graph, "")
	if err != nil {
		return err
	}
	took, err := loadGraph(r.app, g, in)
	r.sum.LoadS = command.Rounded(took)
	return err
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
		return fmt.Errorf("interrupted after %d batches", r.sum.Batches)
	}
	if r.lost != "" {
		return fmt.Errorf("%s: the rest of the file could not be read; the deltas are of what is before it", r.lost)
	}
	if r.sum.Refused > 0 && r.sum.Updates == 0 {
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

// Read implements stream.Observer.
func (r *replay) Read(stream.ReadStats) {}

// Span implements stream.Observer.
func (r *replay) Span(s stream.Span) { r.trace.Span(s) }

// Step implements stream.Observer.
func (r *replay) Step(s stream.StepStats) {
	r.trace.Step(s)
	searched := r.backend.search - r.before
	r.before = r.backend.search
	for _, d := range s.Batch.DeadLetters {
		r.sum.Refused++
		if d.Reason == file.ReasonCompression && r.cmd.BatchLog == "" { // a log has all that there was
			r.lost = r.place(d)
		}
		if r.cmd.DeadLetter == "" && r.sum.Refused <= maxLogged {
			r.app.log.Warn().Str("at", r.place(d)).Str("reason", d.Reason).Msg(d.Error)
		}
	}
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		into := r.query(q.Query.Name)
		into.Positive.add(q.Positive)
		into.Negative.add(q.Negative)
		into.searchNS += q.SearchNS
		if q.Truncated {
			into.truncated++
		}
		into.skipped += q.Skipped
		into.suspended = into.suspended || q.Suspended != nil
	}
	if s.Batch.Change != nil {
		return // registration is neither an update nor a batch of the stream
	}
	r.sum.Batches++
	r.sum.Updates += uint64(s.Summary.Updates)
	r.sum.EffectiveUpdates += uint64(s.Summary.NetInserted + s.Summary.NetDeleted)
	r.match += searched
	other := s.Encode + s.Publish
	if r.backend.whole {
		other = 0 // it is part of what was searched
	}
	r.apply += max(0, s.Accept+s.Step-other-searched)
	r.progress.Update(r.sum.Updates, r.part(s.Batch.Positions))
}

// part tells how much of the updates was stepped over, 0 when it is not known: positions are in decompressed bytes.
func (r *replay) part(at stream.Positions) float64 {
	if r.src == nil || len(r.src.Files()) != 1 {
		return 0
	}
	_, total := r.src.Progress()
	if name := r.src.Files()[0]; total == 0 || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") {
		return 0
	}
	return float64(at[0]) / float64(total)
}

// maxLogged is how many refused records are logged one by one; all are counted.
const maxLogged = 20

func (r *replay) place(d stream.DeadLetter) string {
	if r.src == nil {
		return fmt.Sprintf("partition %d, offset %d", d.Partition, d.Offset)
	}
	return placeIn(r.app.ctx, r.src.Files()[d.Partition], d.Offset)
}

// Commit implements stream.Observer.
func (r *replay) Commit(s stream.CommitStats) { r.trace.Commit(s) }

// discard encodes no matches: for --out none.
type discard struct{ stream.Encoder }

// Append implements stream.Encoder.
func (discard) Append(dst []stream.OutRecord, _ *matcher.Event, _, _ int) ([]stream.OutRecord, error) {
	return dst, nil
}
