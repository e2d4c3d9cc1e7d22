package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
	"motifd/config"
)

// runCmd runs the daemon.
type runCmd struct {
	Config     string   `short:"c" help:"Configuration file (YAML)." placeholder:"FILE"`
	Set        []string `help:"${set_help}" placeholder:"FIELD=VALUE" sep:"none"`
	Graph      *string  `help:"${bootstrap_help}" placeholder:"FILE"`
	Checkpoint *string  `help:"Directory of the daemon's state: checkpoint.dir." placeholder:"DIR"`
	Backend    *string  `help:"What searches: auto, cpu, cuda or reference: engine.backend." placeholder:"NAME"`
	Device     *string  `help:"GPUs that search, 0,1 or all: engine.device." placeholder:"N"`
	Threads    *string  `help:"Search threads: engine.threads." placeholder:"N"`
	Listen     *string  `help:"Address of the admin interface: admin.listen." placeholder:"HOST:PORT"`
	Check      bool     `help:"Check the configuration and the patterns, and end."`

	Suspend []string `help:"${run_suspend_help}" placeholder:"NAME" sep:"none"`

	ResetProgress bool `help:"${reset_progress_help}"`
}

func (runCmd) Help() string {
	return `The configuration comes from the file, then from MOTIFD_* variables, then from the command line; each
overrides the one before. The field batch.linger is the variable MOTIFD_BATCH_LINGER and the flag --set
batch.linger=50ms.

The first interrupt or SIGTERM stops the daemon gracefully: it finishes the current batch. The next start continues
there. If recovery was not finished, the exit status is 4, and the next start finishes it.

Examples:
  motifd run -c motifd.yaml
  motifd run -c motifd.yaml --check
  motifd run -c motifd.yaml --graph=initial.jsonl.zst
  motifd run -c motifd.yaml --suspend=fan10     # a batch does not end: go on without that query
  motifd run -c motifd.yaml --set batch.linger=20ms --set log.level=debug
  MOTIFD_INPUT_KAFKA_BROKERS=kafka:9092 motifd run -c motifd.yaml`
}

// load reads the configuration.
func (c *runCmd) load(a *app) (*config.Config, error) {
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	set := c.Set
	for _, f := range []struct {
		path  string
		value *string // nil: not given; "" is a value, too
	}{
		{"graph.bootstrap", c.Graph}, {"checkpoint.dir", c.Checkpoint}, {"engine.backend", c.Backend},
		{"engine.device", c.Device},
		{"engine.threads", c.Threads}, {"admin.listen", c.Listen}, {"log.level", given(a.level)},
		{"log.format", given(a.format)},
	} {
		if f.value != nil {
			set = append(set, f.path+"="+*f.value)
		}
	}
	cfg, err := config.Load(config.LoadOptions{File: c.Config, Environ: a.environ, Set: set, GPU: gpuBuild})
	if err != nil {
		return nil, command.Refuse(unnamed(c.Config, err))
	}
	return cfg, nil
}

// unnamed adds to what is wrong with a configuration that no file was named, if so.
func unnamed(file string, err error) error {
	if file != "" {
		return err
	}
	return fmt.Errorf("%w\nno configuration file was named: -c FILE names one, and motifd config defaults shows one",
		err)
}

// Run runs the daemon until its input ends or it is interrupted.
func (c *runCmd) Run(a *app) error {
	cfg, err := c.load(a)
	if err != nil {
		return err
	}
	if c.Check {
		for _, w := range cfg.Warnings() {
			fmt.Fprintf(a.stderr, "motifd: warning: %s\n", w)
		}
		_, err := fmt.Fprintln(a.stdout, "the configuration and its patterns are sound")
		return err
	}
	log := command.NewLogger(a.stderr, cfg.Log.Level, cfg.Log.Format)
	return runDaemon(a, cfg, log, func(s *service) { s.resetProgress, s.suspend = c.ResetProgress, c.Suspend })
}

// runDaemon runs the admin interface beside the service, which adapt completes.
func runDaemon(a *app, cfg *config.Config, log zerolog.Logger, adapt func(*service)) error {
	s := newService(a, cfg, log)
	adapt(s)
	log.Info().Str("version", version).Msg("motifd starts")
	for _, w := range cfg.Warnings() {
		log.Warn().Msg(w)
	}
	cfg.OnReload(func(path string, err error) {
		if err != nil {
			log.Error().Str("field", path).Err(err).Msg("the file cannot be used; its previous content stays in use")
			return
		}
		log.Info().Str("field", path).Msg("the file has changed and was read again")
	})
	servers, err := admin.Open(cfg.Admin, s, s.metrics.Registry, log)
	if err != nil {
		return err
	}
	// The admin interface outlives the graceful stop, so that it can be watched.
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(a.ctx))
	defer stopAdmin()
	g, ctx := errgroup.WithContext(a.ctx)
	for _, x := range servers {
		g.Go(func() error { return x.Serve(adminCtx) })
	}
	g.Go(func() error {
		defer stopAdmin()
		return s.run(ctx)
	})
	err = g.Wait()
	if errors.Is(err, context.Canceled) && a.ctx.Err() != nil {
		return nil
	}
	return err
}
