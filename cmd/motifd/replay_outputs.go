package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/timeline"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/file"
)

// newReplaySink returns the output of a replay: files are overwritten.
func newReplaySink(c *replayCmd, opt file.SinkOptions) (*file.Sink, error) {
	opt.Output, opt.DeadLetters, opt.Control, opt.NoSync = c.Out, c.DeadLetter, c.Control, true
	opt.NoProgress = true
	for _, path := range c.written() {
		for _, in := range []string{c.Graph, c.Updates} {
			if same(path, in) {
				return nil, fmt.Errorf("%s is an input of the replay; write to another file", path)
			}
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if err := os.Truncate(path, 0); err != nil {
				return nil, err
			}
		}
	}
	return file.NewSink(opt)
}

// written are the files that a replay overwrites.
func (c *replayCmd) written() []string {
	return slices.DeleteFunc([]string{c.Out, c.DeadLetter, c.Control}, func(path string) bool {
		return path == "" || path == file.Stdout || path == file.None
	})
}

// same tells whether two paths lead to one file.
func same(a, b string) bool {
	if b == "" {
		return false
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(x, y)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// timeline opens what --trace asks for; nil when it does not.
func (c *replayCmd) timeline() (*timeline.Timeline, error) {
	if c.Trace == "" {
		return nil, nil
	}
	free := func() error {
		for _, path := range append(slices.Clone(c.Query), c.Graph, c.Updates, c.Out, c.DeadLetter, c.Control,
			c.Summary, c.BatchLog) {
			if same(c.Trace, path) {
				return command.Refuse(fmt.Errorf("--trace: %s is another file of this command; name another file",
					c.Trace))
			}
		}
		return nil
	}
	if err := free(); err != nil { // before anything is cut off
		return nil, err
	}
	f, err := os.Create(c.Trace)
	if err != nil {
		return nil, command.Refuse(fmt.Errorf("--trace: %w", err))
	}
	if err := free(); err != nil { // a link to what was not there may lead to it now
		return nil, errors.Join(err, f.Close())
	}
	return timeline.New(timeline.Options{File: f, MaxBatches: c.TraceBatches}), nil
}

// discard encodes no matches: for --out none.
type discard struct{ stream.Encoder }

// Append implements stream.Encoder.
func (discard) Append(dst []stream.OutRecord, _ *matcher.Event, _, _ int) ([]stream.OutRecord, error) {
	return dst, nil
}
