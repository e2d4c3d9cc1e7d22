package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"motifd/matcher"
	"motifd/stream"
)

// Store is a checkpoint opened for a daemon; it implements stream.Store. Intent, Decide and Commit may be called from
// different goroutines at once.
type Store struct {
	db       *database
	opt      Options
	streamID string
	settings Settings

	intents sync.Mutex   // held by StartIntent and Decide, one at a time
	writing *intentWrite // the last intent, guarded by intents
	commits sync.Mutex   // held by Commit
	copying sync.Mutex   // held while a copy is made
	// Buffers that the values of Intent and of Commit are encoded in, guarded by their mutexes; Pebble copies them.
	intentBuf, doneBuf []byte
	writes             writes // likewise, of Commit

	mu        sync.Mutex // guards what follows
	state     state
	queries   []matcher.QueryState // as of state.batch
	log       logIndex
	digest    string // of the last committed batch's intent, "" when not known
	files     []string
	suspend   []string // queries that are to be suspended
	recovered bool
}

var (
	_ stream.Store         = (*Store)(nil)
	_ stream.IntentStarter = (*Store)(nil)
)

// intentWrite is an intent on its way to the disk.
type intentWrite struct {
	done chan struct{}
	err  error // once done is closed
}

// wait returns when the intent is durable, or has failed.
func (w *intentWrite) wait() error {
	if w == nil {
		return nil
	}
	<-w.done
	return w.err
}

// errReadOnly answers a change of a store that was opened read-only.
var errReadOnly = errors.New("checkpoint: opened read-only")

// Open opens the checkpoint in dir, and creates it when the directory is empty or not there. It fails with
// stream.ErrLocked, ErrSettings, ErrFormat, ErrDamaged, or with ErrNone when opt.ReadOnly and there is none.
func Open(dir string, opt Options) (*Store, error) {
	db, err := openDatabase(dir, opt)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, opt: opt}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *Store) open() error {
	found, err := s.db.checkFormat()
	if err != nil {
		return err
	}
	if !found {
		if s.opt.ReadOnly || s.opt.existing {
			return fmt.Errorf("%s: %w", s.db.dir, ErrNone)
		}
		if err := s.create(); err != nil {
			return err
		}
	}
	c, err := readControl(s.db)
	if err != nil {
		return err
	}
	s.streamID, s.settings, s.state, s.queries, s.log, s.files, s.suspend = c.streamID, c.settings, c.state, c.queries,
		c.log, c.files, c.suspend
	if err := s.readDigests(); err != nil {
		return err
	}
	s.log.fillTimes(s.now())
	if s.opt.ReadOnly {
		return nil
	}
	s.db.removeStaged()
	s.db.removeCopies()
	if s.opt.existing {
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	return s.upgrade(s.settings.format())
}

// upgrade makes a checkpoint of an older format one of a newer. Its values stay as they are: each tells its own
// version.
func (s *Store) upgrade(format uint64) error {
	if s.db.format >= format {
		return nil
	}
	b := s.db.NewBatch()
	defer b.Close()
	if err := b.Set(keyFormat, formatValue(format), nil); err != nil {
		return err
	}
	if err := s.db.apply(b); err != nil {
		return err
	}
	s.db.format = format
	return nil
}

// create writes the first records.
func (s *Store) create() error {
	b := s.db.NewBatch()
	defer b.Close()
	settings, err := appendSettings([]byte{codecVersion}, &s.opt.Settings)
	if err != nil {
		return err
	}
	queries, err := appendQueries([]byte{codecVersion}, []matcher.QueryState{})
	if err != nil {
		return err
	}
	format := s.opt.Settings.format()
	err = errors.Join(
		b.Set(keyFormat, formatValue(format), nil),
		setChecksummed(b, keyStream, append([]byte{codecVersion}, newStreamID()...)),
		setChecksummed(b, keySettings, settings),
		setChecksummed(b, keyState, appendState([]byte{codecVersion}, &state{})),
		setChecksummed(b, keyQueries, queries),
	)
	if err != nil {
		return err
	}
	if err := s.db.apply(b); err != nil {
		return err
	}
	s.db.format = format
	return nil
}

// setChecksummed puts a value of the log or of the control records into a write.
func setChecksummed(b *pebble.Batch, key, value []byte) error {
	return b.Set(key, withChecksum(key, value), nil)
}

// settle compares the settings with those of the options. A checkpoint without a batch takes on new ones: a first start
// that failed, of a mistyped topic say, binds nobody.
func (s *Store) settle() error {
	e := &SettingsError{Dir: s.db.dir, Field: s.settings.differ(&s.opt.Settings)}
	unused := s.state.batch == 0 && !s.state.bootstrapped && len(s.log.open) == 0
	next := s.opt.Settings
	if !unused { // the pipeline changes them
		next.Properties, next.Declaration = s.settings.Properties, s.settings.Declaration
	}
	declared := s.settings.Properties.Differences(next.Properties)
	if len(e.Field) == 0 && s.settings.Shape == next.Shape && len(declared) == 0 {
		return nil
	}
	if len(e.Field) > 0 && !unused {
		return e
	}
	if open := s.log.open; len(open) > 0 {
		e.Field = []FieldDifference{{"shape", fmt.Sprintf("%q", s.settings.Shape),
			fmt.Sprintf("%q", s.opt.Settings.Shape)}}
		e.InHand = open[0].batch
		return e
	}
	v, err := appendSettings([]byte{codecVersion}, &next)
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	defer b.Close()
	if err := setChecksummed(b, keySettings, v); err != nil {
		return err
	}
	if err := s.db.apply(b); err != nil {
		return err
	}
	s.settings = next
	return nil
}

// StreamID returns the random 128-bit name of the stream, in hexadecimal; it was made with the checkpoint.
func (s *Store) StreamID() string { return s.streamID }

// Settings returns the settings as they are stored.
func (s *Store) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Bootstrapped tells whether a graph was stored as batch 0.
func (s *Store) Bootstrapped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.bootstrapped
}

// InHand returns how many batches are begun and not committed.
func (s *Store) InHand() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log.open)
}

// Intent stores a batch before it is stepped. b.Number follows the last intent's, or the last committed batch's.
func (s *Store) Intent(ctx context.Context, b *stream.Batch) error { return s.StartIntent(ctx, b)() }

// StartIntent implements stream.IntentStarter: the intent is encoded, written and synced by a goroutine. There is one
// at a time, so that intents reach the log in order, and a decision after the intent that it belongs to.
func (s *Store) StartIntent(ctx context.Context, b *stream.Batch) (logged func() error) {
	s.intents.Lock()
	defer s.intents.Unlock()
	w := &intentWrite{done: make(chan struct{})}
	failed := func(err error) func() error { return func() error { return err } }
	if s.opt.ReadOnly {
		return failed(errReadOnly)
	}
	before := s.writing.wait()
	s.mu.Lock()
	next := s.log.next(s.state.batch)
	s.mu.Unlock()
	switch {
	case b.Number == next:
	case before != nil: // its batch was begun all the same
		return failed(before)
	default:
		return failed(fmt.Errorf("checkpoint: intent of batch %d, but %d is next", b.Number, next))
	}
	s.writing = w
	in := &intent{batch: *b, shape: s.Settings().Shape} // a copy: what the engine adds to the batch is logged by Decide
	go func() {
		defer close(w.done)
		w.err = s.intent(ctx, in)
	}()
	return w.wait
}

// intent writes an intent. It owns intentBuf.
func (s *Store) intent(ctx context.Context, in *intent) error {
	number := in.batch.Number
	v, err := appendIntent(append(s.intentBuf[:0], versionOfIntent(&in.batch)), in)
	if err == nil {
		err = s.upgrade(formatOf(&in.batch))
	}
	if err != nil {
		return fmt.Errorf("checkpoint: intent of batch %d: %w", number, err)
	}
	s.intentBuf = keepBuffer(v)
	s.mu.Lock()
	digest := intentDigest(s.lastDigest(), v)
	s.mu.Unlock()
	size, err := s.put(logKey(number, partIntent), v, fmt.Sprintf("intent of batch %d", number),
		func(b *pebble.Batch) error { return s.apply(ctx, b) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.log.open = append(s.log.open, logEntry{batch: number, bytes: size, digest: digest})
	s.mu.Unlock()
	return nil
}

// keepBuffer returns b to be used again, unless it is so large that a single batch would hold its memory for good.
func keepBuffer(b []byte) []byte {
	if cap(b) > 16<<20 {
		return nil
	}
	return b
}

// Decide adds a decision to the open intent of the batch.
func (s *Store) Decide(batch uint64, x matcher.Decision) error {
	s.intents.Lock()
	defer s.intents.Unlock()
	if s.opt.ReadOnly {
		return errReadOnly
	}
	if err := s.writing.wait(); err != nil {
		return fmt.Errorf("checkpoint: decision about batch %d: %w", batch, err)
	}
	s.mu.Lock()
	i := s.log.find(batch)
	var n uint32
	if i >= 0 {
		n = s.log.open[i].decisions
	}
	s.mu.Unlock()
	if i < 0 {
		return fmt.Errorf("checkpoint: decision about batch %d, which has no open intent", batch)
	}
	size, err := s.put(decisionKey(batch, n), appendDecision([]byte{codecVersion}, &x),
		// small, and the search waits for it: it needs no room
		fmt.Sprintf("decision about batch %d", batch), s.db.apply)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i = s.log.find(batch); i >= 0 {
		s.log.open[i].decisions++
		s.log.open[i].bytes += size
	}
	return nil
}

// put has one record with a checksum written, and returns its size.
func (s *Store) put(key, value []byte, what string, apply func(*pebble.Batch) error) (int64, error) {
	value = withChecksum(key, value)
	if int64(len(value)) > maxWrite {
		return 0, fmt.Errorf("checkpoint: %s: %w: %d bytes", what, ErrTooLarge, len(value))
	}
	b := s.db.NewBatchWithSize(len(key) + len(value) + 32)
	defer b.Close()
	if err := b.Set(key, value, nil); err != nil {
		return 0, err
	}
	if err := apply(b); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return int64(len(key) + len(value)), nil
}

// now is the time, in milliseconds since 1970.
func (s *Store) now() int64 {
	if s.opt.Now == nil {
		return time.Now().UnixMilli()
	}
	return s.opt.Now().UnixMilli()
}

// Close closes the checkpoint. Open intents stay. A merge that runs is given up.
func (s *Store) Close() error {
	s.intents.Lock()
	defer s.intents.Unlock()
	_ = s.writing.wait() // who started it was told, or did not ask; a failed write shows below
	s.db.fault.closing.Store(true)
	err := s.db.Close()
	if broken := s.db.broken(); broken != nil {
		return broken
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: close: %w", s.db.dir, err)
	}
	return nil
}
