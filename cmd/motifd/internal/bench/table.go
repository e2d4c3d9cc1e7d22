package bench

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
)

// Report has all measurements, as --json writes them.
type Report struct {
	Machine Machine          `json:"machine"`
	Sizes   *benchcase.Sizes `json:"sizes,omitempty"` // of a generated case
	Case    string           `json:"case,omitempty"`  // of another
	Batch   int              `json:"batch"`
	Runs    int              `json:"runs"`
	Rows    []Row            `json:"rows,omitempty"`
	Peer    []PeerRow        `json:"peer,omitempty"`
	Means   *Means           `json:"means,omitempty"` // of the peer's rows
}

// Machine describes the machine and the program of a measurement.
type Machine struct {
	CPU      string `json:"cpu"`
	CPUs     int    `json:"cpus"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Version  string `json:"version"` // of motifd
}

// Row is a cell's medians.
type Row struct {
	Name        string   `json:"name"` // class, or query
	Class       string   `json:"class"`
	Emit        string   `json:"emit"`
	Threads     int      `json:"threads"`
	Queries     int      `json:"queries"`
	LeftOut     []string `json:"left_out,omitempty"`
	Matches     *big.Int `json:"matches"` // positive and negative; of exists, transitions
	MatchS      float64  `json:"match_s"`
	UpdatesPerS float64  `json:"updates_per_s"` // 0 where there are none
	MatchesPerS float64  `json:"matches_per_s"` // 0 where none are counted
	PeakMiB     float64  `json:"peak_rss_mib"`
	SpeedUp     float64  `json:"speed_up,omitempty"` // against the first number of threads
	Samples     []Sample `json:"samples"`
}

// median returns the median of what is taken from each sample; NaN without samples.
func median[T any](samples []T, of func(T) float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	all := make([]float64, len(samples))
	for i := range samples {
		all[i] = of(samples[i])
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// quotient is x by y; 0 when y is too short to be measured.
func quotient(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

// add sums up cells.
func (r *Report) add(cells []cell) {
	first := make(map[string]float64) // match time with the first number of threads, by name and mode
	for i := range cells {
		c := &cells[i]
		row := Row{
			Name: c.name, Class: c.class, Emit: c.emit, Threads: c.threads, Queries: len(c.queries), LeftOut: c.left,
			Matches: c.matches, Samples: c.samples,
		}
		if len(c.samples) > 0 {
			row.MatchS = median(c.samples, func(s Sample) float64 { return s.MatchS })
			row.UpdatesPerS = median(c.samples,
				func(s Sample) float64 { return quotient(float64(c.updates), s.MatchS+s.ApplyS) })
			row.PeakMiB = median(c.samples, func(s Sample) float64 { return s.PeakMiB })
			if c.emit != "exists" {
				n, _ := c.matches.Float64()
				row.MatchesPerS = median(c.samples, func(s Sample) float64 { return quotient(n, s.MatchS) })
			}
			if base, ok := first[c.name+" "+c.emit]; ok {
				row.SpeedUp = quotient(base, row.MatchS)
			} else {
				first[c.name+" "+c.emit] = row.MatchS
			}
		}
		r.Rows = append(r.Rows, row)
	}
}

// print writes the results as text.
func (r *Report) print(w io.Writer) error {
	m := &r.Machine
	fmt.Fprintf(w, "motifd %s, %s, %s, %d x %s\n", m.Version, m.Go, m.Platform, m.CPUs, m.CPU)
	if s := r.Sizes; s != nil {
		fmt.Fprintf(w, "%d vertices, %d edges, %d labels, exponent %g; %d updates (%s); seed %d; ", s.Vertices, s.Edges,
			s.Labels, s.Exponent, s.Updates, s.Stream, s.Seed)
	} else {
		fmt.Fprintf(w, "%s; ", r.Case)
	}
	fmt.Fprintf(w, "batches of %d, medians of %d\n\n", r.Batch, r.Runs)
	if r.Peer != nil {
		return r.printPeer(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "patterns\temit\tthreads\tqueries\tmatches\tmatch s\tupdates/s\tmatches/s\tpeak MiB\tspeed-up\t")
	var notes []string
	for i := range r.Rows {
		row := &r.Rows[i]
		if n := len(row.LeftOut); n > 0 {
			note := fmt.Sprintf("%s, %s: left out, with more matches than --max-deltas: %s\n", row.Name, row.Emit,
				strings.Join(row.LeftOut, ", "))
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		if row.Queries == 0 {
			continue
		}
		updates, matches, up := "", "", ""
		if row.UpdatesPerS > 0 {
			updates = grouped(row.UpdatesPerS)
		}
		if row.MatchesPerS > 0 {
			matches = grouped(row.MatchesPerS)
		}
		if row.SpeedUp > 0 {
			up = fmt.Sprintf("%.2f", row.SpeedUp)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%.4f\t%s\t%s\t%.0f\t%s\t\n", row.Name, row.Emit, row.Threads, row.Queries,
			command.GroupDigits(row.Matches.String()),
			row.MatchS, updates, matches, row.PeakMiB, up)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Join(notes, ""))
	return err
}

// grouped writes a number with commas, to three places that matter.
func grouped(x float64) string {
	if x >= 1000 {
		unit := math.Pow(10, math.Floor(math.Log10(x))-2)
		x = math.Round(x/unit) * unit
	}
	return command.GroupDigits(fmt.Sprintf("%.0f", x))
}

// machine describes this machine and this build.
func machine(version string) Machine {
	m := Machine{CPU: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version(), Platform: runtime.GOOS +
		"/" + runtime.GOARCH, Version: version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 && !strings.Contains(version, s.Value[:7]) {
				m.Version += " " + s.Value[:12]
			}
		}
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return m // not Linux: the architecture has to do
	}
	defer f.Close() // opened for reading: closing it can lose nothing
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}
