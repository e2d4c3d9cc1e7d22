package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// demoCmd shows the daemon at work: generated payments go through an embedded log into the same pipeline that
// `motifd run` has, and what comes out is compared with what was planted.
type demoCmd struct {
	Duration time.Duration `help:"How long payments are made." default:"20s"`
	Rate     int           `help:"Payments per second." default:"5000"`
	Seed     uint64        `help:"Seed of the generator; the same seed makes the same payments." default:"1"`
	Summary  string        `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	Quiet    bool          `short:"q" help:"Print only the table."`

	backendFlags `embed:""`
}

// The demo's topics and sizes.
const (
	demoInput    = "payments"
	demoOutput   = "alerts"
	demoControl  = "batches"
	demoAccounts = 2000
	demoMessage  = 100 // payments in a message
	demoBatch    = 2000
	demoLinger   = 10 * time.Millisecond
	maxDemoRate  = 10_000_000
)

func (demoCmd) Help() string {
	return `Payments between accounts are generated. Among them are rings of 3 to 6 accounts that pass on nearly the
same amount, fan-ins and fan-outs, some of which are cancelled later. They go through an embedded log, which speaks
Kafka's protocol, into the pipeline of motifd run. Alerts are printed as they come. At the end, one case is shown from
the alert to its withdrawal, with the records as an analyst gets them, and a table:

  unexpected   found, but not planted: true matches that arose by chance, as an oracle confirms
  wrong        reported, but the oracle denies it

The exit status is 0 when nothing was missed and nothing was wrong.

Examples:
  motifd demo
  motifd demo --duration=60s --rate=50000 --quiet
  motifd demo --seed=7 --summary=summary.json`
}

// demoSummary is what --summary writes.
type demoSummary struct {
	Planted      int     `json:"planted"`
	Found        int     `json:"found"`
	Missed       int     `json:"missed"`
	Unexpected   int     `json:"unexpected"`
	Wrong        int     `json:"wrong"`
	Positive     uint64  `json:"positive"`
	Negative     uint64  `json:"negative"`
	Updates      uint64  `json:"updates"`
	UpdatesPerS  float64 `json:"updates_per_s"`
	LatencyP50MS float64 `json:"latency_p50_ms"`
	LatencyP99MS float64 `json:"latency_p99_ms"`
}

// Run runs the demo.
func (c *demoCmd) Run(a *app) (err error) {
	if c.Duration <= 0 {
		return command.Refuse(fmt.Errorf("--duration: %s is out of range; it is more than 0", c.Duration))
	}
	if c.Rate < 1 || c.Rate > maxDemoRate {
		return command.Refuse(fmt.Errorf("--rate: %d is out of range; it is 1 to %d", c.Rate, maxDemoRate))
	}
	if err := c.check(); err != nil { // refused before anything starts
		return err
	}
	dir, err := os.MkdirTemp("", "motifd-demo-")
	if err != nil {
		return fmt.Errorf("a directory for the checkpoint: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := embedded.Open(embedded.Options{Topics: []admin.Topic{
		{Name: demoInput}, {Name: demoOutput}, {Name: demoControl},
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if _, err := fmt.Fprintf(a.stdout, "payments go into topic %s of the embedded log at %s, alerts come out of "+
		"topic %s\n\n",
		demoInput, log.Addr(), demoOutput); err != nil {
		return err
	}
	sum, err := c.play(a, log.Addr(), dir)
	if err != nil {
		return err
	}
	if err := command.WriteSummary(c.Summary, sum); err != nil {
		return err
	}
	if err := sum.print(a.stdout); err != nil {
		return err
	}
	if sum.Missed > 0 || sum.Wrong > 0 {
		return fmt.Errorf("%d missed, %d wrong", sum.Missed, sum.Wrong)
	}
	return nil
}

// play runs producer, daemon and checker until all that was produced is checked.
func (c *demoCmd) play(a *app, broker, dir string) (*demoSummary, error) {
	// An interrupt ends the payments; what is under way is still shown.
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	defer cancel()
	input := newDemoInput()
	check, err := newDemoChecker(input, a.stdout, c.Quiet)
	if err != nil {
		return nil, err
	}
	alerts, err := newDemoConsumer(broker, demoOutput)
	if err != nil {
		return nil, err
	}
	batches, err := newDemoConsumer(broker, demoControl)
	if err != nil {
		return nil, errors.Join(err, alerts.Close())
	}
	log := command.NewLogger(a.stderr, orDefault(a.level, "error"), a.format)
	daemon := newService(&app{ctx: ctx, stdin: a.stdin, stdout: a.stdout, stderr: io.Discard, environ: a.environ},
		c.config(broker, dir), newMetrics(0), log)
	begin := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	serving, stopDaemon := context.WithCancel(gctx)
	defer stopDaemon()
	g.Go(func() error { return daemon.run(serving) })
	g.Go(func() error {
		defer stopDaemon() // all is checked
		return check.run(gctx)
	})
	g.Go(func() error {
		stop := context.AfterFunc(a.ctx, input.finish)
		defer stop()
		return c.produce(gctx, broker, input)
	})
	reading, stopReading := context.WithCancel(gctx)
	defer stopReading()
	for _, r := range []struct {
		from *source.Source
		take func([]byte) error
	}{{alerts, check.alert}, {batches, check.batch}} {
		g.Go(func() error { return consume(reading, r.from, r.take) })
	}
	g.Go(func() error {
		defer stopReading()
		select {
		case <-check.finished:
		case <-gctx.Done():
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !c.Quiet {
		if err := check.story.print(a.stdout); err != nil {
			return nil, err
		}
	}
	return check.summary(check.ended.Sub(begin)), nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// config is what a user would write for the demo.
func (c *demoCmd) config(broker, dir string) *config.Config {
	cfg := config.Default()
	conn := config.Connection{Brokers: []string{broker}}
	cfg.Input.Kafka = &config.KafkaInput{
		Connection: conn, Topic: demoInput, Start: "earliest", Isolation: "read_committed",
		Merge:      source.MergeTimestamp,
		OnDataLoss: "stop",
	}
	cfg.Input.Format = "json"
	cfg.Output.EchoProps = true
	cfg.Batch.MaxUpdates, cfg.Batch.Linger = demoBatch, config.Duration(demoLinger)
	cfg.Output.Kafka = &config.KafkaOutput{
		Connection: conn, Topic: demoOutput, Control: demoControl, Compression: "none",
		Transactions: publish.TransactionsOff,
	}
	for _, q := range demoQueries() {
		cfg.Queries = append(cfg.Queries, config.Query{
			Name: q.Name, Cypher: q.Text, Emit: "deltas", Unit: "subgraphs", Backfill: "none",
		})
	}
	cfg.Engine.Backend, cfg.Engine.Device, cfg.Engine.Threads = c.Backend, c.Device, c.Threads
	cfg.Checkpoint.Dir = dir
	return cfg
}
