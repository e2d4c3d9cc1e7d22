// Command benchpair compares two builds of motifd: it runs fixed benchmarks by both, in pairs, on one thread, and
// prints the ratios of the processor time that they take. `make bench-pair OLD=path NEW=path` runs it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "benchpair:", err)
		}
		os.Exit(1)
	}
}

// run makes the cases, runs all pairs and prints the table.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f := flag.NewFlagSet("benchpair", flag.ContinueOnError)
	f.SetOutput(stderr)
	old := f.String("old", "", "motifd `program` to compare with")
	now := f.String("new", "", "motifd `program` to compare")
	pairs := f.Int("pairs", 10, "pairs of runs for each benchmark")
	data := f.String("data", "", "`directory` with the data sets of known answers; empty: the generated cases alone")
	only := f.String("only", "", "run the benchmarks whose names match a `regexp`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *old == "" || *now == "" || *pairs < 1 || f.NArg() > 0 {
		return errors.New("usage: benchpair -old PROGRAM -new PROGRAM [-pairs N] [-data DIRECTORY] [-only REGEXP]")
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motifd-benchpair-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	list, err := generated(ctx, *old, dir)
	if err != nil {
		return err
	}
	if *data != "" {
		more, err := shared(*data)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	list = slices.DeleteFunc(list, func(b benchmark) bool { return !wanted.MatchString(b.name) })
	if len(list) == 0 {
		return fmt.Errorf("no benchmark matches %q", *only)
	}
	c := comparison{ctx: ctx, programs: [2]string{*old, *now}, summary: filepath.Join(dir, "summary.json")}
	for n := range *pairs {
		for i := range list {
			fmt.Fprintf(stderr, "pair %d of %d: %s\n", n+1, *pairs, list[i].name)
			if err := c.pair(&list[i], n); err != nil {
				return fmt.Errorf("%s: %w", list[i].name, err)
			}
		}
	}
	return print(stdout, list)
}

// comparison runs benchmarks by two programs.
type comparison struct {
	ctx      context.Context
	programs [2]string // old, new
	summary  string    // file
}

// pair runs a benchmark once by each program. Odd pairs begin with the new one, so that what drifts on the machine
// favours neither. The answers of all runs must be equal.
func (c *comparison) pair(b *benchmark, n int) error {
	var took [2]time.Duration
	for k := range 2 {
		side := (k + n) % 2
		answers, cpu, err := c.run(c.programs[side], b.args)
		if err != nil {
			return err
		}
		if b.answers == nil {
			b.answers = answers
		} else if !reflect.DeepEqual(b.answers, answers) {
			return fmt.Errorf("%s found %v, a run before it %v", c.programs[side], answers, b.answers)
		}
		took[side] = cpu
	}
	b.old = append(b.old, took[0].Seconds())
	b.ratios = append(b.ratios, took[1].Seconds()/took[0].Seconds())
	return nil
}

// answer holds the counts that a run found for a query.
type answer struct {
	Name      string      `json:"name"`
	Positive  json.Number `json:"positive"`
	Negative  json.Number `json:"negative"`
	Matches   json.Number `json:"matches"`
	Truncated bool        `json:"truncated"`
}

// run runs a program and returns what it found and the processor time that it took.
func (c *comparison) run(program string, args []string) ([]answer, time.Duration, error) {
	cmd := exec.CommandContext(c.ctx, program, append(slices.Clone(args), "--threads", "1", "--summary", c.summary)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	text, err := os.ReadFile(c.summary)
	if err != nil {
		return nil, 0, err
	}
	var s struct {
		Queries []answer `json:"queries"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, 0, fmt.Errorf("the summary of %s: %w", program, err)
	}
	return s.Queries, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// print prints, for each benchmark, the old program's time and the ratios new/old; below 1 the new program is faster.
func print(to io.Writer, list []benchmark) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "benchmark\told s\tnew/old\tmin\tmax\t")
	logs := 0.0
	for i := range list {
		b := &list[i]
		m := median(b.ratios)
		logs += math.Log(m)
		fmt.Fprintf(w, "%s\t%.2f\t%.3f\t%.3f\t%.3f\t\n", b.name, median(b.old), m, slices.Min(b.ratios),
			slices.Max(b.ratios))
	}
	worst := slices.MaxFunc(list, func(a, b benchmark) int { return cmp.Compare(median(a.ratios), median(b.ratios)) })
	fmt.Fprintf(w, "geometric mean\t\t%.3f\t\t\t\n", math.Exp(logs/float64(len(list))))
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "processor time (user and system), medians of %d pairs; the highest ratio is that of "+
		"%s, %.3f\n",
		len(list[0].ratios), worst.name, median(worst.ratios))
	return err
}

// median returns the middle of the values, of an even number the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
