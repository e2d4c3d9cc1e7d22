package main

import "motifd/cmd/motifd/internal/bench"

// benchCmd measures motifd on a generated case, or beside a peer.
type benchCmd struct{ bench.Command }

// Run makes the case and measures.
func (c *benchCmd) Run(a *app) error {
	return c.Measure(a.ctx, bench.Program{Version: version, Stdout: a.stdout, Stderr: a.stderr})
}
