package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
)

// measurement is a measurement under way.
type measurement struct {
	cmd    *Command
	ctx    context.Context // done on the first interrupt
	prog   Program
	in     *benchcase.Input
	filled *benchcase.Input // what exists is measured on; nil when it is not measured
	dir    string           // for files of its own
	binary string           // motifd
	report Report

	counts map[string]*big.Int // by query: matches of the stream, of either sign
}

// Sample is one process's figures.
type Sample struct {
	MatchS  float64 `json:"match_s"`
	ApplyS  float64 `json:"apply_s"`
	PeakMiB float64 `json:"peak_rss_mib"`
}

// cell is a row of the table before it is summed up: what is measured together, and how.
type cell struct {
	name    string // class or query
	class   string
	emit    string
	threads int
	queries []benchcase.Pattern
	left    []string // names of queries that are left out
	matches *big.Int // found in all; of exists, transitions
	updates uint64
	samples []Sample
}

// measure runs all cells by turns.
func (b *measurement) measure() error {
	if err := b.count(); err != nil {
		return err
	}
	if slices.Contains(b.cmd.Emit, "exists") {
		var err error
		if b.filled, err = b.in.Fill(b.dir); err != nil {
			return err
		}
	}
	cells := b.cells()
	for run := range b.cmd.Runs {
		for i := range cells {
			c := &cells[i]
			b.progress("run %d of %d: %s, %s, %d %s", run+1, b.cmd.Runs, c.name, c.emit, c.threads,
				map[bool]string{true: "thread", false: "threads"}[c.threads == 1])
			if len(c.queries) == 0 {
				continue
			}
			if err := b.sample(c); err != nil {
				b.endProgress()
				return err
			}
		}
	}
	b.endProgress()
	b.report.add(cells)
	return nil
}

// count learns what the queries count.
func (b *measurement) count() error {
	b.counts = make(map[string]*big.Int)
	b.progress("counting")
	defer b.endProgress()
	s, err := b.replay(b.in.Queries, "counts", 1)
	if err != nil {
		return err
	}
	for i := range s.Queries {
		b.counts[s.Queries[i].Name] = s.Queries[i].sum()
	}
	return nil
}

// cells lists what is measured.
func (b *measurement) cells() []cell {
	var groups []cell
	for _, class := range benchcase.Classes {
		g := cell{name: class, class: class}
		for _, q := range b.in.Queries {
			switch {
			case q.Class != class:
			case b.cmd.Each:
				groups = append(groups, cell{name: q.Name, class: class, queries: []benchcase.Pattern{q}})
			default:
				g.queries = append(g.queries, q)
			}
		}
		if len(g.queries) > 0 {
			groups = append(groups, g)
		}
	}
	most := new(big.Int).SetUint64(b.cmd.MaxDeltas)
	var out []cell
	for _, g := range groups {
		for _, emit := range b.cmd.Emit {
			c := g
			c.emit, c.queries = emit, nil
			for _, q := range g.queries {
				if emit == "deltas" && b.counts[q.Name].Cmp(most) > 0 {
					c.left = append(c.left, q.Name)
					continue
				}
				c.queries = append(c.queries, q)
			}
			for _, c.threads = range b.cmd.Threads {
				out = append(out, c)
			}
		}
	}
	return out
}

// sample measures a cell once. What it counts has to be what was counted before.
func (b *measurement) sample(c *cell) error {
	s, err := b.replay(c.queries, c.emit, c.threads)
	if err != nil {
		return err
	}
	c.updates = s.Updates
	c.samples = append(c.samples, Sample{MatchS: s.MatchS, ApplyS: s.ApplyS, PeakMiB: s.PeakRSSMiB})
	sum := new(big.Int)
	for i := range s.Queries {
		q := &s.Queries[i]
		sum.Add(sum, q.sum())
		if before := b.counts[q.Name]; (c.emit == "counts" || c.emit == "deltas") && q.sum().Cmp(before) != 0 {
			return fmt.Errorf("query %s, %s, %d threads: %s matches, but %s were counted before; this is a defect "+
				"of motifd",
				q.Name, c.emit, c.threads, q.sum(), before)
		}
		if c.emit == "exists" && q.Positive.Cmp(&q.Negative) != 0 {
			return fmt.Errorf("query %s, exists, %d threads: in the end no edge is left, but it began to match %s "+
				"times and ceased to %s times; this is a defect of motifd",
				q.Name, c.threads, &q.Positive, &q.Negative)
		}
	}
	if c.matches != nil && c.matches.Cmp(sum) != 0 {
		return fmt.Errorf("%s, %s, %d threads: %s in all, but %s before; this is a defect of motifd", c.name, c.emit,
			c.threads, sum, c.matches)
	}
	c.matches = sum
	return nil
}

// replaySummary has the fields of a replay's summary that are read.
type replaySummary struct {
	Queries    []queryCounts `json:"queries"`
	Updates    uint64        `json:"updates"`
	ApplyS     float64       `json:"apply_s"`
	MatchS     float64       `json:"match_s"`
	PeakRSSMiB float64       `json:"peak_rss_mib"`
}

type queryCounts struct {
	Name     string  `json:"name"`
	Positive big.Int `json:"positive"`
	Negative big.Int `json:"negative"`
	Matches  big.Int `json:"matches"` // of a graph that does not change
}

// sum is all that was found.
func (q *queryCounts) sum() *big.Int {
	n := new(big.Int).Add(&q.Positive, &q.Negative)
	return n.Add(n, &q.Matches)
}

// replay runs motifd replay in a process of its own; or motifd match when the graph is static.
func (b *measurement) replay(queries []benchcase.Pattern, emit string, threads int) (*replaySummary, error) {
	summary := filepath.Join(b.dir, "summary.json")
	in := b.in
	if emit == "exists" {
		in = b.filled
	}
	args := []string{"replay", "--updates", in.Stream, "--batch", strconv.Itoa(b.cmd.Batch), "--emit", emit, "--out",
		"none"}
	if emit == "static" {
		args = []string{"match"}
	}
	args = append(args, "--undirected", "--graph", in.Graph, "--threads", strconv.Itoa(threads), "--summary", summary)
	for _, q := range queries {
		args = append(args, "--query", q.Path)
	}
	cmd := exec.CommandContext(b.ctx, b.binary, args...)
	if emit == "deltas" {
		// What puts rows in order and hands them on runs beside the workers: on a processor more than there are
		// threads it would make one thread faster than it is.
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(threads))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if b.ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		return nil, fmt.Errorf("motifd %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}

	text, err := os.ReadFile(summary)
	if err != nil {
		return nil, fmt.Errorf("the summary of a replay: %w", err)
	}
	s := new(replaySummary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("the summary of a replay: %w", err)
	}
	return s, nil
}

// progress shows what is being done: in place on a terminal, a line each elsewhere.
func (b *measurement) progress(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if command.IsTerminal(b.prog.Stderr) {
		line = "\r\x1b[K" + line
	} else {
		line += "\n"
	}
	// Progress that cannot be shown is no reason to stop measuring.
	_, _ = fmt.Fprint(b.prog.Stderr, line)
}

func (b *measurement) endProgress() {
	if command.IsTerminal(b.prog.Stderr) {
		_, _ = fmt.Fprint(b.prog.Stderr, "\r\x1b[K")
	}
}
