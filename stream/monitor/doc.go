// Package monitor is motifd as a library: a graph in memory, and the patterns that appear and disappear in it.
//
//	m, err := monitor.Open(monitor.Options{})
//	ring, err := m.Parse("ring", "MATCH (a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)-[:TRANSFER]->(a)")
//	_, err = m.Add(ctx, ring, nil)
//	_, err = m.Apply(ctx, updates, monitor.Each(func(d monitor.Delta) error { ... }))
//
// A Monitor wires what package matcher leaves open: the graph with its labels and keys, the planner, the CPU backend
// with its clock and temporary files, and the numbers of batches. Results have the meaning and the order that
// docs/design.md gives them (DESIGN S1 to S8, S11, S12). They are those of the daemon, record by record.
//
// In go updates and patterns, with string keys and labels. Out come events in canonical order; Each turns them into
// Deltas, which have names in place of ids and memory of their own.
//
// The daemon adds to it what needs a broker or a disk: sources and sinks, the checkpoint, exactly-once delivery. A
// Monitor keeps nothing when it is closed.
package monitor
