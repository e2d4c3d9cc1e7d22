package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/sizing"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// number is a count on the command line: 5000000, 5M, 1.5G.
type number uint64

// numberUnits are the suffixes of a number.
var numberUnits = map[string]float64{"K": 1e3, "M": 1e6, "G": 1e9}

// UnmarshalText reads a number.
func (n *number) UnmarshalText(text []byte) error {
	word, unit := string(text), 1.
	if len(word) > 0 {
		if u, ok := numberUnits[strings.ToUpper(word[len(word)-1:])]; ok {
			word, unit = word[:len(word)-1], u
		}
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(word, ",", ""), 64)
	if err != nil || x < 0 || x*unit >= math.MaxUint32 || math.IsNaN(x) {
		return fmt.Errorf("%q is not a number from 0 to 2^32; write 5000000, 5M or 1.5G", text)
	}
	*n = number(math.Round(x * unit))
	return nil
}

// sizeCmd says what a graph needs.
type sizeCmd struct {
	Edges    number `help:"Number of edges: 46M, 1.2G." required:"" placeholder:"N"`
	Vertices number `help:"Number of vertices." required:"" placeholder:"N"`

	Config string   `help:"${size_config_help}" short:"c" placeholder:"FILE" type:"existingfile"`
	Set    []string `help:"Set a field of it: --set engine.threads=4." placeholder:"FIELD=VALUE" sep:"none"`

	KeyBytes   uint64 `help:"Mean length of a vertex's key (16)." default:"16" placeholder:"N"`
	IDBytes    uint64 `help:"Mean length of an edge's id; 0: edges have none (0)." default:"0" placeholder:"N"`
	Undirected bool   `help:"Edges have no direction."`
	Timestamps bool   `help:"Edges have timestamps."`
	Conditions bool   `help:"Queries have conditions."`
	Counts     bool   `help:"Queries have counts or exists."`
	Kinds      uint64 `help:"Pairs of labels, edge and neighbour, of a vertex (4)." default:"4" placeholder:"N"`
	JSON       bool   `name:"json" help:"Write JSON."`
}

func (sizeCmd) Help() string {
	return `The figures are those of graphs that were measured. What matches need is not in them: docs/howto/size.md
says what else to plan.

Without -c edges are directed and have no properties; the queues are those of the defaults.

Examples:
  motifd size --edges=46M --vertices=4.8M
  motifd size --edges=200M --vertices=30M -c motifd.yaml --id-bytes=20 --conditions`
}

// sizeReport is the JSON of motifd size.
type sizeReport struct {
	Host   []sizing.Part `json:"host"`
	Disk   []sizing.Part `json:"disk"`
	Device []sizing.Part `json:"device"`

	HostBytes   uint64 `json:"host_bytes"`
	PlanBytes   uint64 `json:"plan_bytes"` // with what Go's garbage collector lets the heap grow to
	DiskBytes   uint64 `json:"disk_bytes"` // at most, while tables are merged
	DeviceBytes uint64 `json:"device_bytes"`
	// DeviceEdges is the number of edges that devices of a size have room for, by GiB.
	DeviceEdges map[int]uint64 `json:"device_edges"`
}

// deviceSizes are the memories of common GPUs, in GiB.
var deviceSizes = []int{16, 24, 48, 80, 141}

// storeBytes is the memory of the checkpoint's write buffers and cache, spareDisk what its files take beside tables.
const (
	storeBytes = 80 << 20
	spareDisk  = 320 << 20
)

// Run prints the estimate.
func (c *sizeCmd) Run(a *app) error {
	cfg := config.Default()
	if c.Config != "" {
		loaded, err := config.Load(config.LoadOptions{File: c.Config, Environ: a.environ, Set: c.Set, GPU: true,
			Elsewhere: true})
		if err != nil {
			return command.Refuse(err)
		}
		cfg = loaded
	} else if len(c.Set) > 0 {
		return command.Refuse(errors.New("--set changes a configuration; name it with -c"))
	}
	if c.Edges >= number(dyngraph.NoEdge) {
		return command.Refuse(fmt.Errorf("--edges: a graph has at most %s edges",
			command.GroupDigits(fmt.Sprint(dyngraph.NoEdge-1))))
	}
	g := c.graph(cfg)
	threads := uint64(cfg.Engine.Threads)
	if threads == 0 {
		threads = uint64(runtime.NumCPU())
	}
	r := sizeReport{Host: g.Host(), Disk: g.Disk(), Device: g.Device(), DeviceEdges: make(map[int]uint64)}
	r.Host = append(r.Host,
		sizing.Of("queues of input and output", 1, float64(cfg.Queues.InputBytes+cfg.Queues.OutputBytes)),
		sizing.Of("group memory, for sorting and output", 2*threads, float64(cfg.Engine.GroupMemory)),
		sizing.Of("neighbour lists", 1, 128<<20),
		sizing.Of("buffers of the checkpoint", 1, storeBytes))
	if k := cfg.Output.Kafka; k != nil {
		r.Host = append(r.Host, sizing.Of("open transaction", 1, float64(k.TransactionMemory)))
	}
	r.HostBytes, r.DeviceBytes = sizing.Sum(r.Host), sizing.Sum(r.Device)
	r.PlanBytes, r.DiskBytes = 2*r.HostBytes, 2*sizing.Sum(r.Disk)+spareDisk
	for _, gib := range deviceSizes {
		r.DeviceEdges[gib] = g.MostEdges(uint64(gib) << 30)
	}
	if c.JSON {
		return command.PrintJSON(a.stdout, r)
	}
	return r.print(a.stdout)
}

// graph returns what the flags and a configuration say of the graph.
func (c *sizeCmd) graph(cfg *config.Config) *sizing.Graph {
	schema := cfg.Graph.Schema()
	g := &sizing.Graph{Edges: uint64(c.Edges), Vertices: uint64(c.Vertices),
		Directed: cfg.Graph.Directed && !c.Undirected,
		KeyBytes: c.KeyBytes, IDBytes: c.IDBytes, Timestamps: c.Timestamps, Retention: len(cfg.Graph.Retention) > 0,
		Conditions: c.Conditions, Counts: c.Counts, Kinds: c.Kinds}
	for _, declared := range schema.EdgeDeclarations() {
		if _, ok := declared[property.TimeName]; ok {
			g.Timestamps = true
		}
	}
	g.Timestamps = g.Timestamps || g.Retention
	for _, x := range []struct {
		to       *uint64
		declared property.Declarations
	}{
		{&g.EdgeProperties, schema.EdgeDeclarations()},
		{&g.VertexProperties, schema.VertexDeclarations()},
	} {
		*x.to = uint64(len(x.declared.Columns().All()))
	}
	return g
}

// print writes the estimate as tables.
func (r *sizeReport) print(to io.Writer) error {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	table := func(title string, parts []sizing.Part) {
		fmt.Fprintf(w, "%s\t\t\n", title)
		for _, p := range parts {
			each := ""
			switch n := command.GroupDigits(fmt.Sprint(p.Number)); {
			case p.Number > 1 && p.Each >= 1<<20:
				each = n + " x " + size(uint64(p.Each))
			case p.Number > 1:
				each = fmt.Sprintf("%s x %g bytes", n, p.Each)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, size(p.Bytes), each)
		}
		fmt.Fprintf(w, "  sum\t%s\t\n", size(sizing.Sum(parts)))
	}
	table("memory of the host", r.Host)
	fmt.Fprintf(w, "  to plan\t%s\ttwice the sum, or GOMEMLIMIT=%dMiB\n", size(r.PlanBytes), r.HostBytes*5/4>>20)
	table("disk of the checkpoint", r.Disk)
	fmt.Fprintf(w, "  to plan\t%s\ttwice the sum and 320 MiB, and the batch log\n", size(r.DiskBytes))
	table("memory of each GPU, if there is one", r.Device)
	var fits []string
	for _, gib := range deviceSizes {
		fits = append(fits, fmt.Sprintf("%d GiB: %sM", gib, command.GroupDigits(fmt.Sprint(r.DeviceEdges[gib]/1e6))))
	}
	fmt.Fprintf(w, "  most edges\t\t%s\n", strings.Join(fits, ", "))
	err := w.Flush()
	for line := range strings.Lines(text.String()) {
		if err == nil {
			_, err = fmt.Fprintln(to, strings.TrimRight(line, " \n"))
		}
	}
	return err
}

// size writes a number of bytes in KiB, MiB or GiB.
func size(bytes uint64) string {
	if 0 < bytes && bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", (bytes+1<<10-1)>>10)
	}
	if bytes < 10<<30 {
		return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
