package checkpoint

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/dyngraph"
	"motifd/stream"
)

// Format is the version of the layout that FORMAT.md describes. Checkpoints from oldestFormat on are opened; one that
// is opened to be written becomes of plainFormat at least, of timeFormat where ids identify edges, or with the first
// batch that has event time, of declareFormat with the first one that changes the declared properties, and of
// queryFormat with the first query that has what earlier versions do not know, so that an older motifd, which would not
// understand what is added, refuses it.
const (
	Format        = queryFormat
	queryFormat   = 6 // with queries that older versions would misread
	declareFormat = 5 // with declared properties that have changed
	timeFormat    = 4 // with event time, or with ids that identify edges
	plainFormat   = 3
	oldestFormat  = 1
)

// Options configure a Store.
type Options struct {
	// Settings are stored in a new checkpoint and compared with those of an existing one.
	Settings Settings
	// Graph bounds the graph that Recover builds; Directed, EdgeIDs and Schema are taken from Settings.
	Graph dyngraph.Options
	// Retention bounds the batch log.
	Retention Retention
	// Now is the clock that Retention.Time goes by, nil for the system's.
	Now func() time.Time
	// FS is the file system, nil for the operating system's.
	FS vfs.FS
	// ReadOnly opens an existing checkpoint without changing it; Settings are not compared. The directory is still
	// locked against other processes.
	ReadOnly bool
	// Logger receives what the storage engine reports about failures; nil drops it. It is called from any goroutine.
	Logger func(message string)
	// existing opens a checkpoint that must be there, whatever its Settings and its format are, for a request or a
	// copy.
	existing bool
	// memTable is the size of the storage engine's tables in memory, 0 for memTableSize; tests that fill them make them
	// smaller.
	memTable uint64
}

// Retention bounds the committed batches that the log keeps; open intents are kept in any case. The bound that is met
// first counts. It is looked at with each commit.
type Retention struct {
	Batches uint64        // 0 keeps none
	Bytes   int64         // of keys and values before compression; 0 is no bound
	Time    time.Duration // since the commit; 0 is no bound
}

// Errors that callers decide on.
var (
	// ErrFormat: the directory holds a checkpoint of another format version, or something else.
	ErrFormat = errors.New("not a checkpoint of this version")
	// ErrNone: there is no checkpoint in the directory.
	ErrNone = errors.New("there is no checkpoint")
	// ErrBroken: an earlier write failed, and nothing is written any more. The cause is wrapped beside it.
	ErrBroken = errors.New("the checkpoint cannot be written any more; free the disk or repair it, then start again")
)

// database is an open Pebble database with what every user of it needs.
type database struct {
	*pebble.DB
	dir    string
	fs     *failStop
	fault  *fault
	gets   atomic.Uint64 // look-ups of single records
	format uint64        // of what is there
	room   *room
}

// openDatabase opens the directory; unless read only it is created when it is not there.
func openDatabase(dir string, o Options) (*database, error) {
	fs := o.FS
	if fs == nil {
		fs = vfs.Default
	}
	d := &database{dir: dir, fault: &fault{log: o.Logger}}
	d.fs = &failStop{FS: fs, fault: d.fault, os: o.FS == nil || o.FS == vfs.Default}
	there, err := complete(fs, dir)
	if err != nil {
		return nil, err
	}
	if (o.ReadOnly || o.existing) && !there { // Pebble would say so as well, and leave the file of its lock behind
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	if !o.ReadOnly {
		if there {
			err = d.look(o)
		} else {
			err = onlyOurs(fs, dir)
		}
		if err != nil {
			return nil, err
		}
		d.fs.closeToOthers(dir)
	}
	if err := d.open(o, there); err != nil {
		return nil, err
	}
	return d, nil
}

// look opens a database that is there without changing it, and reports damage that Pebble takes for something else: a
// manifest without its end looks as if a crash had kept it from being written, and what it does not name is removed.
func (d *database) look(o Options) error {
	o.ReadOnly = true
	if err := d.open(o, true); err != nil {
		return err
	}
	_, err := d.checkFormat()
	return errors.Join(err, d.DB.Close())
}

// open opens the database; there tells that a database is there.
func (d *database) open(o Options, there bool) error {
	dir := d.dir
	opt := pebbleOptions(d.fs, d.fault)
	opt.ReadOnly = o.ReadOnly
	opt.ErrorIfNotExists = o.ReadOnly || o.existing
	if o.memTable != 0 {
		opt.MemTableSize = o.memTable
	}
	d.room = newRoom(opt.MemTableSize)
	d.room.listen(opt.EventListener)
	db, err := pebble.Open(dir, opt)
	switch {
	case d.fs.locked:
		return fmt.Errorf("checkpoint %s: %w: another motifd runs on it, or a command reads it; stop that one, "+
			"or wait "+
			"for its end (fuser -v %s names it); deleting the file LOCK does not help", dir, stream.ErrLocked, dir)
	case d.fault.tripped(): // whatever else went wrong follows from it
		if err == nil {
			_ = db.Close()
		}
		err = d.fault.err()
	}
	switch {
	case err != nil && !there: // nothing is there that could be damaged
		return fmt.Errorf("checkpoint %s: %w", dir, err)
	case err != nil:
		return unreadable(dir, err)
	}
	d.DB = db
	return nil
}

// formatMajorVersion is the format of Pebble's own files, the newest of v2.1.7. Opening a database raises its version
// for good, so that following Pebble's newest would make a rollback of motifd fail. It is raised one release after a
// motifd whose Pebble can read the higher one, and named in the CHANGELOG.
const formatMajorVersion = pebble.FormatValueSeparation

// memTableSize is the size of a table in memory, and of its write-ahead log, at which it is written to disk.
const memTableSize = 32 << 20

func pebbleOptions(fs vfs.FS, f *fault) *pebble.Options {
	o := &pebble.Options{
		FS:                 fs,
		Logger:             logger{f},
		FormatMajorVersion: formatMajorVersion,
		MemTableSize:       memTableSize,
		CacheSize:          16 << 20,
		EventListener: &pebble.EventListener{DataCorruption: func(i pebble.DataCorruptionInfo) {
			// It may be in a table that nobody but Pebble's own goroutines read.
			f.trip("read", i.Path, damaged("%s", firstLine(i.Details.Error())))
		}},
	}
	// Edges come in no order of their keys, so that a merge of the topmost level writes nearly all of the next one
	// anew. It waits until eight flushes lie above each other (Pebble counts each twice), not two, and the next level
	// may be as large as a graph of some million edges takes, which then is not merged once more into the one below.
	o.L0CompactionThreshold = 2 * 8
	// Where merges do not keep pace, writes wait for room, before Pebble would have them wait where nothing stops that.
	o.L0StopWritesThreshold = math.MaxInt32
	o.LBaseMaxBytes = 256 << 20
	// Tables of the log lie beside each other, not above: however many there are, they count as one flush above the
	// next, and what retention has dropped stays on disk until they are merged. By their number they are, when there
	// are as many as in eight flushes (about eight tables each): waitingBytes. Pebble's own number is 500, which kept
	// 1 GiB of a log of 64 MiB.
	o.L0CompactionFileThreshold = 8 * 8
	// Deleted edges leave tombstones that nobody reads over before the next start: they go when tables are merged
	// anyway.
	o.Experimental.TombstoneDenseCompactionThreshold = -1
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	for i := range o.Levels {
		o.Levels[i].BlockSize = 32 << 10 // records are read in order, hardly ever one by one
	}
	return o
}

// newStreamID returns 128 random bits in hexadecimal.
func newStreamID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// formatValue is the value of keyFormat. It has no checksum, so that every version can read it.
func formatValue(format uint64) []byte { return binary.AppendUvarint([]byte("motifd"), format) }

// checkFormat tells whether the database holds a checkpoint of this version; found is false when it is empty.
func (d *database) checkFormat() (found bool, err error) {
	v, ok, err := d.get(keyFormat)
	if err != nil {
		return false, err
	}
	if !ok {
		it, err := d.NewIter(nil)
		if err != nil {
			return false, err
		}
		empty := !it.First()
		if err := it.Close(); err != nil {
			return false, err
		}
		tables, err := d.tables()
		if err != nil {
			return false, err
		}
		if empty && len(tables) > 0 {
			return false, damaged("%s: there is a file %s, and the newest MANIFEST does not name it", d.dir, tables[0])
		}
		if !empty {
			return false, fmt.Errorf("%s: %w: the database in it was not written by motifd; choose another directory",
				d.dir, ErrFormat)
		}
		return false, nil
	}
	n, used := uint64(0), 0
	if len(v) > 6 && string(v[:6]) == "motifd" {
		n, used = binary.Uvarint(v[6:])
	}
	if used <= 0 {
		return false, fmt.Errorf("%s: %w: the format record is damaged", d.dir, ErrFormat)
	}
	if n < oldestFormat || n > Format {
		return false, fmt.Errorf("%s: %w: it has format %d, and this motifd reads formats up to %d; run the motifd "+
			"that wrote it, "+
			"or set checkpoint.dir to a new directory", d.dir, ErrFormat, n, Format)
	}
	d.format = n
	return true, nil
}

// get reads one value into memory of its own.
func (d *database) get(key []byte) (value []byte, ok bool, err error) {
	d.gets.Add(1)
	v, closer, err := d.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unreadable(d.dir, err)
	}
	value = append([]byte{}, v...)
	return value, true, closer.Close()
}

// checked reads a checksummed value, which must be there.
func (d *database) checked(key []byte) (*decoder, error) {
	v, ok, err := d.get(key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, damaged("%s: record %q is missing", d.dir, key)
	}
	dec, err := verified(key, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.dir, err)
	}
	return dec, nil
}

// apply writes a batch, synced, and reports the first failure of the store.
func (d *database) apply(b *pebble.Batch) error {
	if err := d.broken(); err != nil {
		return err
	}
	err := d.Apply(b, pebble.Sync)
	if err != nil {
		d.fault.trip("write", d.dir, err)
	}
	return d.broken()
}

// broken returns an error that wraps ErrBroken and the first failure, or nil.
func (d *database) broken() error {
	if cause := d.fault.err(); cause != nil {
		return fmt.Errorf("checkpoint %s: %w: %w", d.dir, ErrBroken, cause)
	}
	return nil
}
