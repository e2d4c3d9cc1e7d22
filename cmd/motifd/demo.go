package main

import (
	"cmp"
	"context"
	"io"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/demo"
	"motifd/config"
)

// demoCmd shows the daemon at work on generated payments.
type demoCmd struct {
	demo.Command
	backendFlags `embed:""`
}

// Run runs the demo.
func (c *demoCmd) Run(a *app) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := c.backendFlags.check(); err != nil { // refused before anything starts
		return err
	}
	log := command.NewLogger(a.stderr, cmp.Or(a.level, "error"), a.format)
	return c.Play(a.ctx, demo.Program{Stdout: a.stdout, Daemon: func(ctx context.Context, cfg *config.Config) error {
		cfg.Engine.Backend, cfg.Engine.Device, cfg.Engine.Threads = c.Backend, c.Device, c.Threads
		quiet := &app{ctx: ctx, stdin: a.stdin, stdout: a.stdout, stderr: io.Discard, environ: a.environ}
		return newService(quiet, cfg, log).run(ctx)
	}})
}
