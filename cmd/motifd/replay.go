package main

import (
	"errors"
	"fmt"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/matcher"
	"motifd/stream"
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
	DeadLetter   string        `help:"${replay_dead_letter_help}" placeholder:"FILE"`
	Control      string        `help:"File for the record of each batch." placeholder:"FILE"`
	Summary      string        `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	Trace        string        `help:"${trace_help}" placeholder:"FILE"`
	TraceBatches int           `help:"${trace_batches_help} (default: ${default})." default:"100" placeholder:"N"`
	OnDamage     string        `help:"${on_damage_help}" enum:"stop,skip" default:"stop"`
	BatchLog     string        `help:"${batch_log_help}" placeholder:"DIR"`
	StopTimeout  time.Duration `help:"${stop_timeout_help} (default: ${default})." default:"30s" placeholder:"TIME"`
	queryFlags   `embed:""`
	limitFlags   `embed:""`
	timeFlags    `embed:""`
	graphFlags   `embed:""`

	backendFlags `embed:""`
}

// limitFlags bound what searching may cost, as engine.limits does for a daemon.
type limitFlags struct {
	GroupMatches uint64        `help:"Maximum matches of one update and one query; 0 is no limit." placeholder:"N"`
	QueryMatches uint64        `help:"Maximum matches of one query in one batch; 0 is no limit." placeholder:"N"`
	QueryOutput  config.Size   `help:"${query_output_help}" placeholder:"SIZE"`
	QueryTime    time.Duration `help:"${query_time_help}" placeholder:"TIME"`
	BatchTime    time.Duration `help:"${batch_time_help}" placeholder:"TIME"`
	SpillBytes   config.Size   `help:"${spill_bytes_help}" placeholder:"SIZE"`
}

func (l *limitFlags) limits() matcher.Limits {
	return matcher.Limits{
		Matches:      l.GroupMatches,
		QueryMatches: l.QueryMatches,
		QueryOutput:  int64(l.QueryOutput),
		QueryTime:    l.QueryTime,
		BatchTime:    l.BatchTime,
		Spill:        int64(l.SpillBytes),
	}
}

// timeFlags say which edges expire, as graph.retention and time do for a daemon.
type timeFlags struct {
	Retention  string        `help:"${retention_help}" placeholder:"LABEL=TIME,..."`
	Lateness   config.Period `help:"${lateness_help}" placeholder:"TIME"`
	MaxExpired *int          `help:"${max_expired_help}" placeholder:"N"`
	Late       string        `help:"${late_help}" enum:"drop,report" default:"drop"`
	Vertices   string        `name:"vertex-expiry" help:"${vertex_expiry_help}" enum:"none,isolated" default:"none"`
}

// options returns what the pipeline is told of time.
func (f *timeFlags) options() (o stream.TimeOptions, err error) {
	o = stream.TimeOptions{Lateness: int64(f.Lateness), ReportLate: f.Late == config.LateReport,
		Isolated: f.Vertices == config.VertexExpiryIsolated}
	if f.MaxExpired != nil {
		o.MaxExpired = *f.MaxExpired
	}
	switch {
	case f.MaxExpired != nil && o.MaxExpired < 1:
		err = fmt.Errorf("--max-expired: %d is out of range; it is at least 1", o.MaxExpired)
	case f.Retention != "":
		if o.Retention, err = config.ParseRetention(f.Retention); err != nil {
			err = fmt.Errorf("--retention: %w", err)
		}
	case f.Lateness > 0 || f.Late != config.LateDrop || f.MaxExpired != nil || o.Isolated:
		err = errors.New("--lateness, --late, --max-expired and --vertex-expiry go with --retention, which is " +
			"missing: no edge expires without it")
	}
	if err != nil {
		err = command.Refuse(err)
	}
	return o, err
}

// defaultReplayBatch is the default of --batch.
const defaultReplayBatch = 1000

func (replayCmd) Help() string {
	return `The queries are registered before the stream, so deltas are those of the stream. Batches are cut by
count only, so the output depends on the files and --batch only. A query is named after its file, without the
extension. The summary goes to standard error.

The flags for caps, budgets and limits apply to all queries. With a daemon's settings and its batches, a replay writes
the same bytes except for the stream's id, as long as no limit of time, output or temporary files is reached. A daemon
limits searches by default (engine.limits); a replay does not.

The first interrupt or SIGTERM ends the replay after the current batch, or after --stop-timeout without it, with
status 1. A second one ends the process at once.

Examples:
  motifd replay --updates=payments.jsonl --query=ring.cypher
  motifd replay --graph=graph.txt --updates=updates.txt --query=queries/ --undirected --batch=100 --out=none
  motifd replay --updates=tx.csv.gz --csv=from=SRC,to=DST,ts=TIME,label="'T'" --query=ring.cypher --emit=counts
  motifd replay --updates=payments.jsonl --properties=properties.yaml --query=pass_on.cypher --param=hour=1h
  motifd replay --updates=payments.jsonl --properties=infer --query=pass_on.cypher --within=24h
  motifd replay --updates=payments.jsonl --query=ring.cypher --retention="TRANSFER=30d,*=90d" --lateness=1h
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
	if c.QueryOutput > 0 && c.Out == file.None {
		return fail("--query-output does not go with --out=none: no record is written")
	}
	if c.StopTimeout < 0 {
		return fail("--stop-timeout: %s is out of range; it is at least 0", c.StopTimeout)
	}
	if c.BatchLog != "" {
		for name, set := range map[string]bool{
			"--graph": c.Graph != "", "--updates": c.Updates != "", "--query": len(c.Query) > 0, "--csv": c.CSV != "",
			"--retention": c.Retention != "", "--lateness": c.Lateness > 0, "--late": c.Late != config.LateDrop,
			"--max-expired":   c.MaxExpired != nil,
			"--edge-identity": c.EdgeIdentity != "",
			"--vertex-labels": c.VertexLabels != config.VertexLabelsOne,
			"--vertex-expiry": c.Vertices != config.VertexExpiryNone,
			"--properties":    c.Properties != "", "--param": len(c.Param) > 0, "--within": c.Within > 0,
			"--match-mode": c.MatchMode != matcher.Isomorphism.String(),
			"--format":     c.Format != "", "--undirected": c.Undirected, "--batch": c.Batch != defaultReplayBatch,
			"--emit":                  c.Emit != "deltas",
			"--max-matches-per-batch": c.MaxMatchesPerBatch > 0, "--exact-total": c.ExactTotal,
			"--work-budget": c.WorkBudget > 0,
			"--over-budget": c.OverBudget != "skip", "--sample": c.Sample > 0, "--echo-props": c.EchoProps,
			"--on-expiry": c.OnExpiry != config.SilentName(false),
			"--on-change": c.OnChange != "",
			"--once-per":  len(c.OncePer) > 0, "--once-for": c.OnceFor > 0, "--once-max-keys": c.OnceMaxKeys > 0,
			"--group-matches": c.GroupMatches > 0, "--query-matches": c.QueryMatches > 0,
			"--query-time": c.QueryTime > 0, "--batch-time": c.BatchTime > 0,
			"--spill-bytes": c.SpillBytes > 0, "--query-output": c.QueryOutput > 0,
			"--unit": c.Unit != "embeddings", "--on-damage": c.OnDamage != string(file.DamageStop),
		} {
			if set {
				return fail("%s does not go with --batch-log: the log holds the updates, queries and settings", name)
			}
		}
		return nil
	}
	if c.Retention != "" && c.EdgeIdentity == "" {
		c.EdgeIdentity = config.EdgeIdentityID // as in the configuration
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
