package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/payments"
	"motifd/config"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// Command is the command line of motifd demo, less the choice of the backend.
type Command struct {
	Duration time.Duration `help:"How long payments are made." default:"20s"`
	Rate     int           `help:"Payments per second." default:"5000"`
	Seed     uint64        `help:"Seed of the generator; the same seed makes the same payments." default:"1"`
	Summary  string        `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	Quiet    bool          `short:"q" help:"Print only the table."`
}

// Program is the daemon that the demo shows, and where the output goes.
type Program struct {
	Stdout io.Writer
	// Daemon runs the daemon of a configuration until ctx is done. It chooses the backend.
	Daemon func(ctx context.Context, cfg *config.Config) error
}

// Topics of the demo.
const (
	InputTopic   = "payments"
	OutputTopic  = "alerts"
	ControlTopic = "batches"
)

const (
	accounts    = 2000
	messageSize = 100 // payments
	batchSize   = 2000
	linger      = 10 * time.Millisecond
	maxRate     = 10_000_000
)

// Help is the long help text.
func (Command) Help() string {
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

// Check refuses flags that are out of range.
func (c *Command) Check() error {
	if c.Duration <= 0 {
		return command.Refuse(fmt.Errorf("--duration: %s is out of range; it is more than 0", c.Duration))
	}
	if c.Rate < 1 || c.Rate > maxRate {
		return command.Refuse(fmt.Errorf("--rate: %d is out of range; it is 1 to %d", c.Rate, maxRate))
	}
	return nil
}

// Play shows the demo. It is an error if the daemon missed a planted structure, or reported what is not there. An
// interrupt (ctx) ends the payments; what is under way is still shown.
func (c *Command) Play(ctx context.Context, p Program) (err error) {
	dir, err := os.MkdirTemp("", "motifd-demo-")
	if err != nil {
		return fmt.Errorf("a directory for the checkpoint: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := embedded.Open(embedded.Options{Topics: Topics()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if _, err := fmt.Fprintf(p.Stdout, "payments go into topic %s of the embedded log at %s, alerts come out of "+
		"topic %s\n\n",
		InputTopic, log.Addr(), OutputTopic); err != nil {
		return err
	}
	sum, err := c.play(ctx, p, log.Addr(), dir)
	if err != nil {
		return err
	}
	if err := command.WriteSummary(c.Summary, sum); err != nil {
		return err
	}
	if err := sum.print(p.Stdout); err != nil {
		return err
	}
	if sum.Missed > 0 || sum.Wrong > 0 {
		return fmt.Errorf("%d missed, %d wrong", sum.Missed, sum.Wrong)
	}
	return nil
}

// play runs producer, daemon and checker until all that was produced is checked.
func (c *Command) play(interrupted context.Context, p Program, broker, dir string) (*summary, error) {
	ctx := context.WithoutCancel(interrupted)
	cfg := Config(broker, dir)
	queries, err := cfg.BuildQueries()
	if err != nil {
		return nil, err
	}
	in := newProduced()
	check := newChecker(in, queries, p.Stdout, c.Quiet)
	begin := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	serving, stopDaemon := context.WithCancel(gctx)
	defer stopDaemon()
	g.Go(func() error { return p.Daemon(serving, cfg) })
	g.Go(func() error {
		defer stopDaemon() // all is checked
		return check.run(gctx)
	})
	g.Go(func() error {
		stop := context.AfterFunc(interrupted, in.finish)
		defer stop()
		return c.produce(gctx, broker, in)
	})
	reading, stopReading := context.WithCancel(gctx)
	defer stopReading()
	g.Go(func() error { return Consume(reading, broker, OutputTopic, check.addAlert) })
	g.Go(func() error { return Consume(reading, broker, ControlTopic, check.addReport) })
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
		if err := check.story.print(p.Stdout); err != nil {
			return nil, err
		}
	}
	return check.summarize(check.ended.Sub(begin)), nil
}

// Topics are the topics of the demo, to be created.
func Topics() []admin.Topic {
	return []admin.Topic{{Name: InputTopic}, {Name: OutputTopic}, {Name: ControlTopic}}
}

// Config returns the configuration that a user would write for the demo.
func Config(broker, dir string) *config.Config {
	cfg := config.Default()
	conn := config.Connection{Brokers: []string{broker}}
	cfg.Input.Kafka = &config.KafkaInput{
		Connection: conn, Topic: InputTopic, Start: "earliest", Isolation: "read_committed",
		Merge:      source.MergeTimestamp,
		OnDataLoss: "stop",
	}
	cfg.Input.Format = "json"
	cfg.Output.EchoProps = true
	cfg.Batch.MaxUpdates, cfg.Batch.Linger = batchSize, config.Duration(linger)
	cfg.Output.Kafka = &config.KafkaOutput{
		Connection: conn, Topic: OutputTopic, Control: ControlTopic, Compression: "none",
		Transactions: publish.TransactionsOff,
	}
	for _, q := range payments.Queries() {
		cfg.Queries = append(cfg.Queries, config.Query{
			Name: q.Name, Cypher: q.Text, Emit: "deltas", Unit: "subgraphs", Backfill: "none",
		})
	}
	cfg.Checkpoint.Dir = dir
	return cfg
}
