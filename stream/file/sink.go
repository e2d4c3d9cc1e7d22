package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"motifd/stream"
)

// Sink writes records as JSON lines. It implements stream.Sink.
//
// A file is locked while the sink is open, and truncated to its committed length by Open; so its readers see every
// record once, but may for a moment see records of a batch that a crash takes back. Standard output, pipes and devices
// cannot be taken back: there a batch that was interrupted is published again as a whole.
type Sink struct {
	opt                 SinkOptions
	main, dead, control *output
	open                bool
	line                []byte
}

var _ stream.Sink = (*Sink)(nil)

// mark is a stream.Mark: the lengths of the regular files.
type mark struct {
	Output      *int64 `json:"output,omitempty"`
	DeadLetters *int64 `json:"dead_letters,omitempty"`
	Control     *int64 `json:"control,omitempty"`
}

// NewSink returns a sink; nothing is opened yet.
func NewSink(opt SinkOptions) (*Sink, error) {
	opt.EnsureDefaults()
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("file output: %w", err)
	}
	return &Sink{
		opt:     opt,
		main:    &output{name: "output", path: opt.Output, sync: !opt.NoSync},
		dead:    &output{name: "dead letters", path: opt.DeadLetters, sync: !opt.NoSync},
		control: &output{name: "control output", path: opt.Control, sync: !opt.NoSync},
	}, nil
}

func (s *Sink) outputs() []*output { return []*output{s.main, s.dead, s.control} }

// Open implements stream.Sink.
func (s *Sink) Open(_ context.Context, streamID string, batch uint64, committed stream.Mark, fresh bool) (stream.Progress, error) {
	known, err := s.openAll(committed, fresh)
	if err != nil {
		return stream.Progress{}, errors.Join(fmt.Errorf("file output: %w", err), s.Close())
	}
	s.open = true
	if !known {
		return stream.Progress{Stream: streamID}, nil
	}
	return stream.Progress{Stream: streamID, Batch: batch + 1, Known: true}, nil
}

func (s *Sink) openAll(committed stream.Mark, fresh bool) (known bool, err error) {
	for _, o := range s.outputs() {
		if err := o.open(s.opt.Out, s.opt.BufferBytes); err != nil {
			return false, err
		}
	}
	known = s.main.regular || s.main.path == None
	switch {
	case fresh:
		return known, s.begin()
	case committed == nil && s.opt.AllowExisting:
		// Nothing was committed, and what was there before is not known: only a torn line can go.
		return known && s.main.length == 0, s.keep(s.outputs()...)
	}
	var m mark
	if committed != nil {
		if err := json.Unmarshal(committed, &m); err != nil {
			return false, fmt.Errorf("the checkpoint's mark %q is none of a file output: %w", committed, err)
		}
	}
	for i, to := range []*int64{m.Output, m.DeadLetters, m.Control} {
		o := s.outputs()[i]
		switch {
		case to != nil:
			err = o.rewind(*to)
		case committed == nil:
			err = o.rewind(0) // it was empty when the checkpoint was fresh
		default:
			err = s.keep(o) // an output that was configured since
			known = known && o != s.main
		}
		if err != nil {
			return false, err
		}
	}
	return known, nil
}

// begin opens outputs for a fresh checkpoint.
func (s *Sink) begin() error {
	for _, o := range s.outputs() {
		if o.length > 0 && !s.opt.AllowExisting {
			return o.wrap(fmt.Errorf("%w: it has %d bytes, but the checkpoint is new; choose another output, or set "+
				"output.allow_existing to write behind them", stream.ErrOutputNotEmpty, o.length))
		}
	}
	for _, o := range s.outputs() {
		length := o.length
		if err := o.rewind(length); err != nil {
			return err
		}
		whole, err := o.wholeLines()
		if err != nil {
			return err
		}
		if whole < length { // what is there does not end in a line end
			if err := errors.Join(o.write([]byte("\n")), o.flush()); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep goes on behind what outputs hold, less a torn line.
func (s *Sink) keep(outputs ...*output) error {
	for _, o := range outputs {
		whole, err := o.wholeLines()
		if err == nil {
			err = o.rewind(whole)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNotOpen = errors.New("file output: not open")

// Begin implements stream.Sink.
func (s *Sink) Begin(context.Context, uint64) error {
	if !s.open {
		return errNotOpen
	}
	return nil
}

// Write implements stream.Sink.
func (s *Sink) Write(_ context.Context, recs []stream.OutRecord) error {
	if !s.open {
		return errNotOpen
	}
	for i := range recs {
		if err := s.writeMain(&recs[i]); err != nil {
			return fmt.Errorf("file output: %w", err)
		}
	}
	return nil
}

var newline = []byte("\n")

func (s *Sink) writeMain(r *stream.OutRecord) error {
	if !s.opt.Upsert {
		if r.Value == nil {
			return fmt.Errorf("batch %d, record %d is a tombstone, which a changelog cannot hold", r.Batch, r.Index)
		}
		return s.main.write(r.Value, newline)
	}
	key, err := json.Marshal(string(r.Key))
	if err != nil {
		return err
	}
	value := r.Value
	if value == nil {
		value = []byte("null")
	}
	s.line = append(append(s.line[:0], `{"key":`...), key...)
	s.line = append(append(append(s.line, `,"value":`...), value...), "}\n"...)
	return s.main.write(s.line)
}

// End implements stream.Sink.
func (s *Sink) End(_ context.Context, t stream.Tail) (stream.Mark, error) {
	if !s.open {
		return nil, errNotOpen
	}
	for i := range t.DeadLetters {
		if err := s.dead.write(t.DeadLetters[i].Value, newline); err != nil {
			return nil, fmt.Errorf("file output: %w", err)
		}
	}
	if t.BatchRecord != nil {
		if err := s.control.write(t.BatchRecord.Value, newline); err != nil {
			return nil, fmt.Errorf("file output: %w", err)
		}
	}
	var m mark
	for i, at := range []**int64{&m.Output, &m.DeadLetters, &m.Control} {
		o := s.outputs()[i]
		if err := o.flush(); err != nil {
			return nil, fmt.Errorf("file output: %w", err)
		}
		if o.regular {
			length := o.length
			*at = &length
		}
	}
	return json.Marshal(m)
}

// Partitions implements stream.Sink.
func (s *Sink) Partitions() int32 { return 0 }

// Close implements stream.Sink. A batch that was not ended is left to the next Open.
func (s *Sink) Close() error {
	s.open = false
	var errs []error
	for _, o := range s.outputs() {
		errs = append(errs, o.close())
	}
	return errors.Join(errs...)
}
