package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
)

// PeerRow is a query's medians beside the peer's.
//
// The ratio is of RapidFlow's "Query time" by match_s. The former begins when its views of the initial graph are
// made, with the stream in memory as numbers, and holds what each update costs in its copy of the graph (the edges
// that fit the query) and its index of candidates; what these cost motifd is in apply_s, which is shown beside it.
type PeerRow struct {
	Query    string    `json:"query"`
	Class    string    `json:"class"`
	Vertices int       `json:"vertices"`
	Edges    int       `json:"edges"`
	Matches  string    `json:"matches"` // of the stream, positive and negative
	PeerS    float64   `json:"peer_s"`
	MotifdS  float64   `json:"motifd_s"`
	ApplyS   float64   `json:"motifd_apply_s"`    // accepting updates, graph, candidates and index
	Ratio    float64   `json:"ratio"`             // peer_s by motifd_s
	TimedOut bool      `json:"timed_out"`         // the peer did not end: the ratio is at least that
	Differs  string    `json:"differs,omitempty"` // the peer's count, when it is another one
	Failed   string    `json:"failed,omitempty"`  // how the peer failed
	Peer     []float64 `json:"peer_samples_s"`    // its query time
	Motifd   []float64 `json:"motifd_samples_s"`  // the search alone
}

// Means are means of the ratios of the queries on which the peer ended and counted the same.
type Means struct {
	Queries int                `json:"queries"`
	All     float64            `json:"geometric_mean"`
	Classes map[string]float64 `json:"classes"` // geometric means
	Least   float64            `json:"minimum"`
	LeastOf string             `json:"minimum_of"` // query
	// WithApply is the geometric mean of peer_s by motifd_s and motifd_apply_s together.
	WithApply float64 `json:"geometric_mean_with_apply"`
}

// peerResult is the result that RapidFlow prints.
type peerResult struct {
	seconds  float64
	matches  *big.Int
	timedOut bool // the matches are those of a part of the stream
}

var (
	peerTime    = regexp.MustCompile(`(?m)^Query time \(seconds\): ([0-9.]+)\r?$`)
	peerMatches = regexp.MustCompile(`(?m)^Result count: ([0-9]+)\r?$`)
	peerLate    = regexp.MustCompile(`(?m)^Time out`)
)

// parsePeer reads RapidFlow's output.
func parsePeer(out []byte) (peerResult, error) {
	var r peerResult
	took, matches := peerTime.FindAllSubmatch(out, -1), peerMatches.FindAllSubmatch(out, -1)
	if len(took) != 1 || len(matches) != 1 {
		return r, errors.New(`its output has not one line "Query time (seconds): ..." and one "Result count: ..."; ` +
			`is it RapidFlow?`)
	}
	var err error
	if r.seconds, err = strconv.ParseFloat(string(took[0][1]), 64); err != nil {
		return r, fmt.Errorf("its query time %q is not a number", took[0][1])
	}
	var ok bool
	if r.matches, ok = new(big.Int).SetString(string(matches[0][1]), 10); !ok {
		return r, fmt.Errorf("its result count %q is not a number", matches[0][1])
	}
	r.timedOut = peerLate.Match(out)
	return r, nil
}

// peerGrace is the time beyond its limit that the peer has to load, and to notice that the time is over.
const peerGrace = time.Minute

// runPeer runs the peer on a query.
func (b *measurement) runPeer(q benchcase.Pattern) (peerResult, error) {
	limit := b.cmd.TimeLimit
	ctx, cancel := context.WithTimeout(b.ctx, limit+peerGrace)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.cmd.Peer, "-d", b.in.Graph, "-q", q.Path, "-u", b.in.Stream, "-num", "MAX",
		"-time_limit", strconv.Itoa(int(math.Ceil(limit.Seconds()))))
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	switch {
	case b.ctx.Err() != nil:
		return peerResult{}, errors.New("interrupted")
	case ctx.Err() != nil:
		return peerResult{seconds: limit.Seconds(), timedOut: true}, nil
	case err != nil:
		return peerResult{}, err
	}
	return parsePeer(out.Bytes())
}

// comparePeer runs the peer and motifd by turns, query by query.
func (b *measurement) comparePeer() error {
	if _, err := os.Stat(b.cmd.Peer); err == nil { // a file of this directory needs no ./ before it
		path, err := filepath.Abs(b.cmd.Peer)
		if err != nil {
			return fmt.Errorf("--peer: %w", err)
		}
		b.cmd.Peer = path
	}
	if _, err := exec.LookPath(b.cmd.Peer); err != nil {
		return command.Refuse(fmt.Errorf("--peer: %w", err))
	}
	defer b.endProgress()
	for _, q := range b.in.Queries {
		row, err := b.compareQuery(q)
		if err != nil {
			return err
		}
		b.report.Peer = append(b.report.Peer, *row)
	}
	b.report.Means = meansOf(b.report.Peer)
	var errs []error
	for i := range b.report.Peer {
		switch r := &b.report.Peer[i]; {
		case r.Failed != "":
			errs = append(errs, fmt.Errorf("query %s: the peer failed: %s", r.Query, r.Failed))
		case r.Differs != "":
			errs = append(errs, fmt.Errorf("query %s: the counts differ: motifd %s, the peer %s", r.Query, r.Matches,
				r.Differs))
		}
	}
	return errors.Join(errs...)
}

func (b *measurement) compareQuery(q benchcase.Pattern) (*PeerRow, error) {
	row := &PeerRow{Query: q.Name, Class: q.Class, Vertices: q.Vertices, Edges: q.Edges}
	var apply []float64
	for run := range b.cmd.Runs {
		b.progress("%s: run %d of %d", q.Name, run+1, b.cmd.Runs)
		s, err := b.replay([]benchcase.Pattern{q}, "counts", 1)
		if err != nil {
			return nil, err
		}
		row.Motifd, apply = append(row.Motifd, s.MatchS), append(apply, s.ApplyS)
		counted := s.Queries[0].sum()
		row.Matches = counted.String()
		if row.Failed != "" || row.TimedOut {
			continue // once is enough
		}
		p, err := b.runPeer(q)
		switch {
		case b.ctx.Err() != nil:
			return nil, err
		case err != nil:
			row.Failed = err.Error()
			continue
		}
		row.Peer = append(row.Peer, p.seconds)
		row.TimedOut = p.timedOut
		if !p.timedOut && p.matches.Cmp(counted) != 0 {
			row.Differs = p.matches.String()
		}
	}
	self := func(x float64) float64 { return x }
	row.MotifdS, row.ApplyS = median(row.Motifd, self), median(apply, self)
	if row.TimedOut { // not the median: some runs may have ended
		row.PeerS = slices.Max(row.Peer)
	} else if row.Failed == "" {
		row.PeerS = median(row.Peer, self)
	}
	row.Ratio = quotient(row.PeerS, row.MotifdS)
	return row, nil
}

// meansOf sums up the rows that can be compared; nil when there are none.
func meansOf(rows []PeerRow) *Means {
	m := &Means{Classes: make(map[string]float64)}
	logs, withApply := make(map[string][]float64), 0.0
	for i := range rows {
		r := &rows[i]
		if r.TimedOut || r.Failed != "" || r.Differs != "" || r.Ratio == 0 { // 0: too short to be measured
			continue
		}
		logs[""] = append(logs[""], math.Log(r.Ratio))
		logs[r.Class] = append(logs[r.Class], math.Log(r.Ratio))
		withApply += math.Log(r.PeerS / (r.MotifdS + r.ApplyS))
		if m.Queries++; m.Queries == 1 || r.Ratio < m.Least {
			m.Least, m.LeastOf = r.Ratio, r.Query
		}
	}
	if m.Queries == 0 {
		return nil
	}
	m.WithApply = math.Exp(withApply / float64(m.Queries))
	for class, l := range logs {
		sum := 0.0
		for _, x := range l {
			sum += x
		}
		if mean := math.Exp(sum / float64(len(l))); class == "" {
			m.All = mean
		} else {
			m.Classes[class] = mean
		}
	}
	return m
}

// printPeer writes the comparison as text.
func (r *Report) printPeer(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "query\tclass\tvertices\tedges\tmatches\tpeer s\tmatch s\tpeer / match\tapply s\t")
	for i := range r.Peer {
		p := &r.Peer[i]
		peer, ratio := fmt.Sprintf("%.4f", p.PeerS), fmt.Sprintf("%.2f", p.Ratio)
		switch {
		case p.Failed != "":
			peer, ratio = "failed", ""
		case p.TimedOut:
			peer, ratio = "> "+peer, "> "+ratio
		case p.Differs != "":
			ratio = "counts differ"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%.4f\t%s\t%.4f\t\n", p.Query, p.Class, p.Vertices, p.Edges,
			command.GroupDigits(p.Matches), peer, p.MotifdS, ratio, p.ApplyS)
	}
	if err := t.Flush(); err != nil || r.Means == nil {
		return err
	}
	m := r.Means
	fmt.Fprintf(w, "\npeer / match, over the %d queries that the peer ended with the same count: geometric mean %.2f",
		m.Queries, m.All)
	for _, class := range benchcase.Classes {
		if mean, ok := m.Classes[class]; ok {
			fmt.Fprintf(w, ", %s %.2f", class, mean)
		}
	}
	_, err := fmt.Fprintf(w, "; minimum %.2f (%s)\npeer / (match + apply): geometric mean %.2f\n", m.Least, m.LeastOf,
		m.WithApply)
	return err
}
