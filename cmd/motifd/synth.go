package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/payments"
)

// synthCmd writes generated payments with planted cases of money laundering, and the patterns that find these.
type synthCmd struct {
	Dir      string        `arg:"" help:"Directory to create; it must not exist."`
	Payments int           `help:"Payments, those of planted cases not counted." default:"100000"`
	Accounts int           `help:"Accounts." default:"20000"`
	Cases    int           `help:"Planted cases, an eighth of each typology." default:"160"`
	Span     time.Duration `help:"Time from the first payment to the last." default:"240h"`
	Seed     uint64        `help:"Seed of the generator; the same flags make the same payments." default:"1"`
}

func (synthCmd) Help() string {
	return `The payments are in order of time, and have amounts and ids. Among them are cases of the eight typologies of
AMLworld: cycle, fan-in, fan-out, scatter-gather, gather-scatter, bipartite, stack and random. The directory gets

  payments.jsonl    the updates
  cases.jsonl       the cases with their payments, and whether the pattern of the typology finds the case
  properties.yaml   what the payments have
  patterns/         a pattern for each typology; of cycles, for each length

Examples:
  motifd synth aml
  motifd replay --updates=aml/payments.jsonl --query=aml/patterns --properties=aml/properties.yaml --within=72h \
    --unit=subgraphs`
}

// Ranges of the flags.
const (
	maxSynth      = 1 << 30
	minSynthSpan  = 7 * 24 * time.Hour
	maxSynthSpan  = 100 * 365 * 24 * time.Hour
	minSynthAccts = 64
)

// check refuses flags that are out of range.
func (c *synthCmd) check() error {
	for _, f := range []struct {
		flag               string
		value, least, most int
	}{
		{"payments", c.Payments, 0, maxSynth},
		{"accounts", c.Accounts, minSynthAccts, maxSynth},
		{"cases", c.Cases, 0, maxSynth},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("--%s: %d is out of range; it is %d to %d", f.flag, f.value, f.least, f.most)
		}
	}
	if c.Span < minSynthSpan || c.Span > maxSynthSpan {
		return fmt.Errorf("--span: %s is out of range; it is %s to %s", c.Span, minSynthSpan, maxSynthSpan)
	}
	return nil
}

// Run writes the files.
func (c *synthCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return command.Refuse(err)
	}
	patterns := filepath.Join(c.Dir, "patterns")
	if err := os.Mkdir(c.Dir, 0o755); err != nil {
		return command.Refuse(fmt.Errorf("creating the directory: %w", err))
	}
	if err := os.Mkdir(patterns, 0o755); err != nil {
		return err
	}
	for _, q := range payments.SynthQueries() {
		if err := os.WriteFile(filepath.Join(patterns, q.Name+".cypher"), []byte(q.Text), 0o644); err != nil {
			return err
		}
	}
	err := os.WriteFile(filepath.Join(c.Dir, "properties.yaml"), []byte(payments.SynthProperties), 0o644)
	if err != nil {
		return err
	}
	s := payments.NewSynth(payments.SynthOptions{Seed: c.Seed, Accounts: c.Accounts, Payments: c.Payments,
		Cases: c.Cases, Span: c.Span.Milliseconds()})
	err = writeLines(filepath.Join(c.Dir, "payments.jsonl"), func(put func(v any) error) error {
		for u, ok := s.Next(); ok; u, ok = s.Next() {
			if err := errors.Join(a.ctx.Err(), put(payments.NewUpdate(&u))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeLines(filepath.Join(c.Dir, "cases.jsonl"), func(put func(v any) error) error {
		for _, k := range s.Cases() {
			if err := put(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeLines writes a file of JSON values, one a line.
func writeLines(path string, fill func(put func(v any) error) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := fill(json.NewEncoder(w).Encode); err != nil {
		return err
	}
	return w.Flush()
}
