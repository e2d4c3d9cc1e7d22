package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// benchmark is one replay or match, and what was measured of it.
type benchmark struct {
	name    string
	args    []string
	answers []answer  // of the first run
	old     []float64 // seconds of the old program, by pair
	ratios  []float64 // new / old, by pair
}

// generated makes the ten fixed benchmarks. Their cases are those of `motifd bench` with a fixed seed: an undirected
// graph with vertex labels whose degrees follow a power law, a stream and patterns taken from the graph. Two of them
// read a mixed stream as a directed graph with edge labels.
func generated(ctx context.Context, motifd, dir string) ([]benchmark, error) {
	sizes := []string{"--seed", "1", "--vertices", "20000", "--edges", "150000", "--queries", "2"}
	write := func(name string, args ...string) (string, error) {
		path := filepath.Join(dir, name)
		cmd := exec.CommandContext(ctx, motifd,
			append(append([]string{"bench", "--write", path}, sizes...), args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("making a case: %w\n%s", err, out)
		}
		return path, nil
	}
	inserts, err := write("inserts", "--updates", "30000")
	if err != nil {
		return nil, err
	}
	mixed, err := write("mixed", "--updates", "30000", "--stream", "mixed")
	if err != nil {
		return nil, err
	}
	directed := filepath.Join(dir, "directed")
	if err := direct(mixed, directed); err != nil {
		return nil, fmt.Errorf("making the directed case: %w", err)
	}
	replay := func(name, at, stream, emit, batch string, queries ...string) benchmark {
		args := []string{"replay", "--graph", filepath.Join(at, "graph.txt"), "--updates",
			filepath.Join(at, stream+".txt"),
			"--emit", emit, "--batch", batch, "--out", "none"}
		if at != directed {
			args = append(args, "--undirected")
		}
		return benchmark{name: name, args: append(args, queryFlags(at, queries)...)}
	}
	trees, sparse, dense := named("tree", 4, 8), named("sparse", 4, 8), named("dense", 4, 8)
	match := []string{"match", "--undirected", "--graph", filepath.Join(inserts, "graph.txt")}
	return []benchmark{
		replay("counts/trees", inserts, "insert", "counts", "1000", trees...),
		replay("counts/sparse", inserts, "insert", "counts", "1000", sparse...),
		replay("counts/dense", inserts, "insert", "counts", "1000", dense...),
		replay("counts/single", mixed, "mixed", "counts", "1", append(named("tree", 4, 7), named("dense", 4, 6)...)...),
		replay("counts/directed", directed, "mixed", "counts", "100", directedNames()...),
		replay("deltas/trees", inserts, "insert", "deltas", "1000", named("tree", 4, 5)...),
		replay("deltas/sparse", inserts, "insert", "deltas", "1000",
			append(named("sparse", 4, 5), "sparse-6-1.txt")...),
		replay("deltas/single", mixed, "mixed", "deltas", "1",
			append(named("dense", 4, 7), named("sparse", 4, 5)...)...),
		replay("deltas/directed", directed, "mixed", "deltas", "100", directedNames()...),
		{name: "match", args: append(match, queryFlags(inserts, slices.Concat(trees, sparse, dense))...)},
	}, nil
}

// named lists the patterns of a class, by numbers of vertices from one to another: two of each.
func named(class string, from, to int) (names []string) {
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprintf("%s-%d-1.txt", class, n), fmt.Sprintf("%s-%d-2.txt", class, n))
	}
	return names
}

func queryFlags(at string, names []string) (flags []string) {
	for _, name := range names {
		flags = append(flags, "--query", filepath.Join(at, "queries", name))
	}
	return flags
}

// directedPatterns have edge labels, edges of any label and edges of either direction. A ' stands for a backtick.
var directedPatterns = []struct{ name, cypher string }{
	{"ring3", "MATCH (a)-[:'0']->(b)-[:'1']->(c)-[:'2']->(a)"},
	{"ring4", "MATCH (a:'0')-[:'0']->(b)-[:'0']->(c)-[:'1']->(d)-[:'1']->(a)"},
	{"wild", "MATCH (a:'1')-->(b:'2')-->(c:'3')-->(a)"},
	{"either", "MATCH (a:'0')-[:'0']-(b:'1')-[:'1']->(c:'2')-[:'2']-(d:'3')"},
	{"fan", "MATCH (a:'0')-[:'0']->(m:'1'), (b:'2')-[:'1']->(m), (c:'3')-[:'2']->(m), (m)-[:'0']->(d:'4')"},
}

func directedNames() (names []string) {
	for _, p := range directedPatterns {
		names = append(names, p.name+".cypher")
	}
	return names
}

// direct rewrites a case: each edge gets one of three labels by its ends.
func direct(from, to string) error {
	if err := os.MkdirAll(filepath.Join(to, "queries"), 0o755); err != nil {
		return err
	}
	for _, file := range []string{"graph.txt", "mixed.txt"} {
		text, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			return err
		}
		var out strings.Builder
		for line := range strings.Lines(string(text)) {
			var op string
			var a, b int
			if _, err := fmt.Sscan(line, &op, &a, &b); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if op == "v" {
				out.WriteString(line)
			} else {
				fmt.Fprintf(&out, "%s %d %d %d\n", op, a, b, (a+b)%3)
			}
		}
		if err := os.WriteFile(filepath.Join(to, file), []byte(out.String()), 0o644); err != nil {
			return err
		}
	}
	for _, p := range directedPatterns {
		cypher := strings.ReplaceAll(p.cypher, "'", "`")
		if err := os.WriteFile(filepath.Join(to, "queries", p.name+".cypher"), []byte(cypher), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shared lists the benchmarks on data sets of known answers, beside the ten: real graphs have other hubs and clusters
// than generated ones.
func shared(data string) ([]benchmark, error) {
	if _, err := os.Stat(data); err != nil {
		return nil, err
	}
	at := func(set string) string { return filepath.Join(data, set) }
	queries := func(set, format string, numbers ...int) (flags []string) {
		for _, n := range numbers {
			flags = append(flags, "--query", filepath.Join(at(set), "queries", fmt.Sprintf(format, n)))
		}
		return flags
	}
	synth := func(name, stream, emit, batch string, numbers ...int) benchmark {
		args := []string{"replay", "--undirected", "--graph", filepath.Join(at("synth"), "graph.txt"),
			"--updates", filepath.Join(at("synth"), stream+".txt"), "--emit", emit, "--batch", batch, "--out", "none"}
		return benchmark{name: name, args: append(args, queries("synth", "Q_%d.txt", numbers...)...)}
	}
	github := append([]string{"match", "--undirected", "--graph", filepath.Join(at("github16"), "graph.txt.gz")},
		queries("github16", "Q_%d.graph", 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)...)
	return []benchmark{
		synth("data/counts", "insert", "counts", "1000", 6, 8, 14, 16, 17, 18, 19, 22, 26, 28),
		synth("data/deltas", "insert", "deltas", "1000", 14, 15, 19, 24),
		synth("data/mixed", "mixed", "deltas", "1", 4, 6, 10, 12, 20),
		{name: "data/match", args: github},
	}, nil
}
