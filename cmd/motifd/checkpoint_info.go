package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream/checkpoint"
)

// contents prints what a checkpoint holds, a row for each thing.
type contents struct {
	*checkpoint.Contents
	w *tabwriter.Writer
}

// row prints a row.
func (c *contents) row(name, format string, args ...any) {
	fmt.Fprintf(c.w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
}

// printContents prints what a checkpoint holds as a table.
func printContents(w io.Writer, info *checkpoint.Contents) error {
	c := contents{info, tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	c.row("format", "%d", c.Format)
	c.row("stream", "%s", c.StreamID)
	c.row("input", "%s", c.Settings.Input)
	c.row("decoding", "%s", c.Settings.Decoding)
	c.row("output", "%s, %s", c.Settings.Output, c.Settings.Mode)
	c.graph()
	c.progress()
	c.time()
	c.log()
	c.row("on disk", "%d bytes", c.DiskBytes)
	c.queries()
	return c.w.Flush()
}

// graph prints the graph's size, and what its edges and properties are.
func (c *contents) graph() {
	c.row("graph", "%s, %s, %s, %s",
		map[bool]string{true: "directed", false: "undirected"}[c.Settings.Directed],
		plural(c.Vertices, "vertex"), plural(c.Edges, "edge"), plural(c.Labels, "label"))
	if c.Settings.EdgeIDs {
		c.row("edge identity", "ends, label and id")
	}
	if c.Settings.Properties.Several() {
		c.row("vertex labels", "several")
	}
	if c.Settings.Properties != nil {
		c.properties("edges", c.Settings.Properties.Edges)
		c.properties("vertices", c.Settings.Properties.Vertices)
	}
}

// properties prints the declared properties of edges or of vertices.
func (c *contents) properties(of string, all property.Declarations) {
	for _, label := range slices.Sorted(maps.Keys(all)) {
		var declared []string
		for _, name := range slices.Sorted(maps.Keys(all[label])) {
			declared = append(declared, fmt.Sprintf("%s %v", name, all[label][name]))
		}
		c.row("properties", "%s %s: %s", of, label, strings.Join(declared, ", "))
	}
}

// progress prints how far the input was taken.
func (c *contents) progress() {
	c.row("bootstrapped", "%v", c.Bootstrapped)
	c.row("last batch", "%d", c.Batch)
	for _, p := range slices.Sorted(maps.Keys(c.Positions)) {
		name := ""
		if p >= 0 && int(p) < len(c.InputFiles) {
			name = fmt.Sprintf(" (%q)", c.InputFiles[p])
		}
		c.row("position", "partition %d%s: %d", p, name, c.Positions[p])
	}
}

// time prints retention and watermark, where edges expire.
func (c *contents) time() {
	at := c.Time
	if at == nil {
		return
	}
	for _, k := range at.Retention {
		horizon := "nothing has expired"
		if i := slices.IndexFunc(at.Horizons, func(h dyngraph.Horizon) bool {
			return h.Label == k.Label && h.Before > math.MinInt64
		}); i >= 0 {
			horizon = "expired before " + eventTime(at.Horizons[i].Before)
		}
		c.row("retention", "%s: %s, %s", k.Label, config.Span(k.For), horizon)
	}
	if at.Watermark.Known {
		c.row("watermark", "%s", eventTime(at.Watermark.TS))
	}
}

// eventTime writes a ts, with the date that it stands for where RFC 3339 can write it.
func eventTime(ts int64) string {
	at := time.UnixMilli(ts).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return strconv.FormatInt(ts, 10)
	}
	return fmt.Sprintf("%d (%s)", ts, at.Format(time.RFC3339))
}

// log prints the batch log and the batches in progress.
func (c *contents) log() {
	if c.LogBatches == 0 {
		c.row("batch log", "empty")
	} else {
		since := ""
		if !c.LogSince.IsZero() {
			since = ", since " + c.LogSince.Format(time.RFC3339)
		}
		c.row("batch log", "%s, %d to %d, %d bytes%s", plural(c.LogBatches, "batch"), c.LogFirst, c.LogLast,
			c.LogBytes, since)
	}
	for _, n := range c.Open {
		c.row("in progress", "batch %d", n)
	}
}

// queries prints the queries and their states.
func (c *contents) queries() {
	for _, q := range c.Queries {
		if q.Removed {
			c.row("query", "%s, version %d, removed", q.Query.Name, q.Query.Version)
			continue
		}
		state := "active"
		switch {
		case q.Suspended && q.SuspendedBy != "":
			state = "suspended (" + q.SuspendedBy + ")"
		case q.Suspended:
			state = "suspended"
		case slices.Contains(c.Suspend, q.Query.Name):
			state = "active, to be suspended at the next start"
		}
		c.row("query", "%s, version %d, from %s, %s", q.Query.Name, q.Query.Version, q.Query.Origin, state)
	}
}
