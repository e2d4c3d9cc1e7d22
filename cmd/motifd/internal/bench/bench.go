package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
)

// Command is the command line of motifd bench.
type Command struct {
	Preset   string   `help:"${preset_help}" enum:"synth,github" default:"synth"`
	Seed     uint64   `help:"Seed of the generator: the same flags make the same case." default:"1"`
	Vertices *int     `help:"Vertices of the graph." placeholder:"N"`
	Edges    *int     `help:"Edges of the graph, those that the stream inserts included." placeholder:"N"`
	Labels   *int     `help:"Vertex labels, given at random." placeholder:"N"`
	Exponent *float64 `help:"Exponent of the degrees' power law: the nearer to 2, the larger the hubs." placeholder:"X"`
	Updates  *int     `help:"Updates in the stream." placeholder:"N"`
	Stream   string   `help:"${stream_help}" enum:"insert,mixed" default:"insert"`
	Classes  []string `help:"${classes_help}" placeholder:"CLASS"`
	Sizes    []int    `help:"Numbers of vertices of the patterns." placeholder:"N"`
	Queries  *int     `help:"Patterns of each class and size." placeholder:"N"`
	Case     string   `help:"${case_help}" placeholder:"DIR"`
	Write    string   `help:"Write the case into a directory, and measure nothing." placeholder:"DIR"`

	Emit      []string      `help:"${bench_emit_help}" placeholder:"MODE"`
	Threads   []int         `help:"${bench_threads_help} (default: ${default})." default:"1,2" placeholder:"N"`
	Runs      int           `help:"${runs_help} (default: ${default})." default:"5" placeholder:"N"`
	Batch     int           `help:"Updates per batch (default: ${default})." default:"1000" placeholder:"N"`
	Each      bool          `help:"Measure query by query instead of a class at a time."`
	MaxDeltas uint64        `help:"${max_deltas_help} (default: ${default})." default:"20000000" placeholder:"N"`
	Peer      string        `help:"${peer_help}" placeholder:"FILE"`
	TimeLimit time.Duration `help:"What the peer gets for a query." default:"60s"`
	JSON      string        `name:"json" help:"${bench_json_help}" placeholder:"FILE"`
}

// HelpTexts are the help texts of flags that are too long for their tags.
var HelpTexts = kong.Vars{
	"bench_emit_help": "What to measure: counts and deltas of the stream; exists, while the graph's edges are " +
		"inserted and " +
		"deleted; static, counts in the graph before the stream.",
	"bench_json_help":    "Write the results, with every run, as JSON to a file.",
	"bench_threads_help": "Search threads. The first number is the base of the speed-up",
	"case_help":          "Use the case in a directory: graph.txt, insert.txt or mixed.txt, queries/.",
	"classes_help":       "Classes of patterns: dense (mean degree of 3 or more), sparse (less, with a cycle), tree.",
	"max_deltas_help":    "With --emit=deltas, leave out queries with more matches, and name them",
	"peer_help":          "Compare with a binary of RapidFlow: counts, one thread, query by query, in turns.",
	"preset_help": "Defaults of the flags below. synth: 20,000 vertices, 150,000 edges, 5 labels, exponent 3, 15,000 " +
		"updates, and a pattern of each class with 4 to 8 vertices. github: the size and skew of that graph, " +
		"with trees of very many matches.",
	"runs_help":   "Number of runs; medians are reported. Each run measures every cell of the table",
	"stream_help": "Stream of updates: insert; or mixed, two insertions to one deletion.",
}

// Help returns the text for --help.
func (Command) Help() string {
	return `A graph whose degrees follow a power law is generated, with a stream of updates and with patterns taken
from it. Each cell of the table is one motifd replay (static: motifd match) in its own process, so its peak memory is
its own:

  matches     found, positive and negative; for exists, transitions
  match s     time of the search; for deltas until the last match is handed on
  updates/s   updates by the time of the search and of updating the graph
  matches/s   matches by the time of the search; counts and static do not list them
  speed-up    match s, relative to the first number of threads

Times depend on the machine and its load; compare only figures of one run of this command. Deltas are put in order,
handed on and discarded. They get as many processors as search threads (GOMAXPROCS), because ordering and handing on
work beside the search. exists has its own stream: it starts with the vertices alone, inserts the edges of the graph
in the order of its file, and deletes them. The counts of all runs, and of the peer, must agree.

Beside a peer, "peer / match" is RapidFlow's "Query time" by match s. RapidFlow's time includes updating its views of
graph and candidates, but not creating them or reading the stream. "apply s" is the corresponding time of motifd:
accepting updates, staging and committing them in the graph, candidates, and the counting index, but not its creation.

Examples:
  motifd bench
  motifd bench --preset=github
  motifd bench --vertices=100000 --edges=1000000 --stream=mixed --classes=tree --sizes=4,5 --json=b.json
  motifd bench --peer=RapidFlow.out
  motifd bench --peer=RapidFlow.out --case=data/synth
  motifd bench --write=case`
}

// presetModes are the modes that are measured for a preset, unless flags say otherwise.
var presetModes = map[string][]string{
	"synth":  {"counts", "deltas", "exists"},
	"github": {"static", "counts", "exists"},
}

// Program is the motifd that is measured, and where this process writes.
type Program struct {
	Version        string
	Stdout, Stderr io.Writer
}

// sizes are the preset's, but for what the flags say.
func (c *Command) sizes() benchcase.Sizes {
	s := benchcase.Presets[c.Preset]
	s.Seed, s.Stream = c.Seed, c.Stream
	for _, f := range []struct{ to, from *int }{{&s.Vertices, c.Vertices}, {&s.Edges, c.Edges}, {&s.Labels, c.Labels},
		{&s.Updates, c.Updates}, {&s.Queries, c.Queries}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if c.Exponent != nil {
		s.Exponent = *c.Exponent
	}
	if len(c.Classes) > 0 {
		s.Classes = c.Classes
	}
	if len(c.Sizes) > 0 {
		s.Sizes = c.Sizes
	}
	return s
}

// check refuses flags that make no sense; what the generator is asked for it checks itself.
func (c *Command) check() error {
	fail := func(format string, args ...any) error { return command.Refuse(fmt.Errorf(format, args...)) }
	switch {
	case c.Runs < 1 || c.Runs > 1000:
		return fail("--runs: %d is out of range; it is 1 to 1000", c.Runs)
	case c.Batch < 1:
		return fail("--batch: %d is out of range; it is at least 1", c.Batch)
	case c.Case != "" && c.Write != "":
		return fail("--write does not go with --case: the case is there")
	case c.TimeLimit < time.Second:
		return fail("--time-limit: %s is out of range; it is at least 1s", c.TimeLimit)
	case c.Peer != "" && c.Stream == "mixed" && c.Batch != 1:
		return fail("--peer with --stream=mixed: the peer counts update by update, so that its counts are those of " +
			"--batch=1 alone")
	}
	for _, m := range c.Emit {
		if !slices.Contains([]string{"counts", "deltas", "exists", "static"}, m) {
			return fail("--emit: there is no mode %q; there are counts, deltas, exists and static", m)
		}
	}
	for _, n := range c.Threads {
		if n < 1 || n > 1024 {
			return fail("--threads: %d is out of range; it is 1 to 1024", n)
		}
	}
	return nil
}

// Measure makes the case, and measures and prints unless it is only to be written.
func (c *Command) Measure(ctx context.Context, prog Program) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	if len(c.Emit) == 0 {
		c.Emit = presetModes[c.Preset]
	}
	work, err := os.MkdirTemp("", "motifd-bench-")
	if err != nil {
		return fmt.Errorf("a directory for the case: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	b := &measurement{cmd: c, ctx: ctx, prog: prog, dir: work,
		report: Report{Machine: machine(prog.Version), Batch: c.Batch, Runs: c.Runs, Case: c.Case}}
	dir := c.Case
	if dir == "" {
		s := c.sizes()
		b.report.Sizes = &s
		made, err := s.Generate()
		if err != nil {
			return err
		}
		if dir = c.Write; dir == "" {
			dir = filepath.Join(work, "case")
		}
		if err := made.Write(dir, c.Stream); err != nil {
			return err
		}
		if c.Write != "" {
			return nil
		}
	}
	in, err := benchcase.Open(dir, c.Stream)
	if err != nil {
		return err
	}
	b.in = in
	if b.binary, err = os.Executable(); err != nil {
		return fmt.Errorf("finding motifd itself: %w", err)
	}
	if c.Peer != "" {
		err = b.comparePeer()
	} else {
		err = b.measure()
	}
	// What was measured is shown even where counts differ.
	return errors.Join(b.finish(), err)
}

// finish prints and writes the results, if there are any.
func (b *measurement) finish() error {
	r := &b.report
	if len(r.Rows) == 0 && len(r.Peer) == 0 {
		return nil
	}
	if err := command.WriteSummary(b.cmd.JSON, r); err != nil {
		return err
	}
	return r.print(b.prog.Stdout)
}
