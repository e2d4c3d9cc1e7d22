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
// A file is locked while the sink is open, and truncated to its committed length before the first batch; so its readers
// see every record once, but may for a moment see records of a batch that a crash takes back. Records behind that
// length can only be of the batch in progress: Open tells by Progress.Begun that there is something, and a progress
// file beside the output names the batch, so that an old copy of a checkpoint is refused (stream.ErrOldCheckpoint) and
// nothing is cut off. Standard output, pipes and devices cannot be taken back: there a batch that was interrupted is
// published again as a whole.
type Sink struct {
	opt                 SinkOptions
	main, dead, control *output
	progress            progress
	stream              string
	check               func(stream.Progress) error // of the pipeline; may be nil
	digest              string                      // of the next batch's intent
	open                bool
	cut                 func() error // goes back to the committed lengths; done by the first batch
	line                []byte
}

var _ stream.DigestingSink = (*Sink)(nil)

// CheckProgress implements stream.DigestingSink.
func (s *Sink) CheckProgress(check func(stream.Progress) error) { s.check = check }

// NextDigest implements stream.DigestingSink.
func (s *Sink) NextDigest(digest string) { s.digest = digest }

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

// Probe opens the outputs and closes them again, so that one that cannot be written is found before Open is reached.
func (s *Sink) Probe() error {
	for _, o := range s.outputs() {
		if err := errors.Join(o.open(s.opt.Out, s.opt.BufferBytes), o.close()); err != nil {
			return fmt.Errorf("file output: %w", err)
		}
	}
	return nil
}

func (s *Sink) outputs() []*output { return []*output{s.main, s.dead, s.control} }

// during has writes to pipes end with the context.
func (s *Sink) during(ctx context.Context) {
	for _, o := range s.outputs() {
		if o.pipe != nil {
			o.pipe.ctx = ctx
		}
	}
}

// Open implements stream.Sink.
func (s *Sink) Open(
	_ context.Context,
	streamID string,
	batch uint64,
	committed stream.Mark,
	fresh bool,
) (stream.Progress, error) {
	s.stream, s.cut = streamID, nil
	known, begun, err := s.openAll(batch, committed, fresh)
	if err != nil {
		return stream.Progress{}, errors.Join(fmt.Errorf("file output: %w", err), s.Close())
	}
	s.open = true
	if !known {
		return stream.Progress{Stream: streamID, Begun: begun}, nil
	}
	return stream.Progress{Stream: streamID, Batch: batch + 1, Known: true, Begun: begun}, nil
}

// ours refuses an output that another stream wrote, or this one beyond the checkpoint.
func (s *Sink) ours(batch uint64) error {
	p := &s.progress
	switch {
	case p.stream == "" || s.opt.ResetProgress:
		return nil
	case p.stream != s.stream:
		return s.main.wrap(
			fmt.Errorf("%w: it was written by stream %s, the checkpoint is of stream %s; restore the checkpoint that "+
				"belongs to the output, or use a new output", stream.ErrMismatch, p.stream, s.stream),
		)
	case p.batch > batch+1:
		return s.main.wrap(
			fmt.Errorf("%w: the output is at batch %d, and the checkpoint ends at batch %d; is it an old copy, or is "+
				"the end of its write-ahead log damaged?", stream.ErrOldCheckpoint, p.batch, batch),
		)
	case s.check != nil && p.digest != "" && p.batch >= batch && p.batch > 0:
		at := stream.Progress{Stream: p.stream, Batch: p.batch + 1, Known: true, Digest: p.digest}
		if p.batch > batch { // begun: the checkpoint must have its intent
			at.Batch, at.Index = p.batch, 1
		}
		if err := s.check(at); err != nil {
			return s.main.wrap(err)
		}
	}
	return nil
}

// ready goes back to the committed lengths, once: the caller of Open has found that the checkpoint belongs to the
// output.
func (s *Sink) ready() error {
	if !s.open {
		return errNotOpen
	}
	if s.cut == nil {
		return nil
	}
	cut := s.cut
	s.cut = nil
	if err := cut(); err != nil {
		s.cut = cut
		return fmt.Errorf("file output: %w", err)
	}
	return nil
}

func (s *Sink) openAll(batch uint64, committed stream.Mark, fresh bool) (known, begun bool, err error) {
	for _, o := range s.outputs() {
		if err := o.open(s.opt.Out, s.opt.BufferBytes); err != nil {
			return false, false, err
		}
	}
	if s.main.regular && !s.opt.NoProgress {
		if err := s.progress.open(s.main.path); err != nil {
			return false, false, err
		}
	}
	known = s.main.regular || s.main.path == None
	if fresh {
		if err := s.begin(); err != nil {
			return false, false, err
		}
		return known, false, s.progress.forget()
	}
	if err := s.ours(batch); err != nil {
		return false, false, err
	}
	if committed == nil && s.opt.AllowExisting {
		// Nothing was committed, and what was there before is not known: only a torn line can go.
		return known && s.main.length == 0, false, s.keep(s.outputs()...)
	}
	var m mark
	if committed != nil {
		if err := json.Unmarshal(committed, &m); err != nil {
			return false, false, fmt.Errorf("the checkpoint's mark %q is none of a file output: %w", committed, err)
		}
	}
	var steps []func() error
	for i, to := range []*int64{m.Output, m.DeadLetters, m.Control} {
		o := s.outputs()[i]
		if to == nil && committed == nil {
			to = new(int64) // it was empty when the checkpoint was fresh
		}
		switch {
		case to == nil: // an output that was configured since
			steps = append(steps, func() error { return s.keep(o) })
			known = known && o != s.main
		default:
			if err := o.atLeast(*to); err != nil {
				return false, false, err
			}
			begun = begun || o.regular && o.length > *to
			steps = append(steps, func() error { return o.rewind(*to) })
		}
	}
	s.cut = func() error {
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		if s.opt.ResetProgress {
			return s.progress.forget()
		}
		return nil
	}
	return known, begun && !s.opt.ResetProgress, nil
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

// keep goes on behind the content of outputs, without a torn last line.
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
func (s *Sink) Begin(_ context.Context, batch uint64) error {
	if err := s.ready(); err != nil {
		return err
	}
	for _, o := range s.outputs() {
		if err := o.inPlace(); err != nil {
			return fmt.Errorf("file output: %w", err)
		}
	}
	if err := s.progress.begin(s.stream, batch, s.digest); err != nil {
		return fmt.Errorf("file output: %w", err)
	}
	return nil
}

// Write implements stream.Sink.
func (s *Sink) Write(ctx context.Context, recs []stream.OutRecord) error {
	if err := s.ready(); err != nil {
		return err
	}
	s.during(ctx)
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
func (s *Sink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	s.during(ctx)
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
	return errors.Join(append(errs, s.progress.close())...)
}
