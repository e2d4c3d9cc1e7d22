package checkpoint

import (
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/eventtime"
)

// Contents is the result of Info: what a checkpoint holds.
type Contents struct {
	Format   int      `json:"format"`
	StreamID string   `json:"stream"`
	Settings Settings `json:"settings"`

	Batch        uint64           `json:"batch"` // last committed batch
	Bootstrapped bool             `json:"bootstrapped"`
	Positions    stream.Positions `json:"positions"`
	// Time is event time after Batch, nil where no edge expires.
	Time *eventtime.State `json:"time,omitempty"`
	// InputFiles are the names of the input's files, by partition, when it is a directory.
	InputFiles []string `json:"input_files,omitempty"`

	// LogBatches committed batches are in the log, LogFirst to LogLast (0 when there are none); Open are the batches
	// in hand. LogBytes counts the keys and values of all of them before compression.
	LogBatches int    `json:"log_batches"`
	LogFirst   uint64 `json:"log_first"`
	LogLast    uint64 `json:"log_last"`
	LogBytes   int64  `json:"log_bytes"`
	// LogSince is the time at which the first of them was committed; zero when that is not known.
	LogSince time.Time `json:"log_since,omitzero"`
	Open     []uint64  `json:"open"`
	// DiskBytes is the size of the database's tables and logs on disk.
	DiskBytes uint64 `json:"disk_bytes"`

	Vertices uint64 `json:"vertices"`
	Edges    uint64 `json:"edges"`
	Labels   uint64 `json:"labels"`  // those that have a name
	Pending  int    `json:"pending"` // vertex ids that are freed and not yet free again

	Queries []matcher.QueryState `json:"queries"`
	// Suspend are the queries that the next start suspends, since somebody asked for it.
	Suspend []string `json:"suspend,omitempty"`
}

// Info reads what a checkpoint is about, without reading the graph; fs nil is the operating system's file system. It
// fails as Open does: with stream.ErrLocked while a daemon runs on it.
func Info(dir string, fs vfs.FS) (*Contents, error) {
	db, c, err := openExisting(dir, fs)
	if err != nil {
		return nil, err
	}
	st := &c.state
	out := &Contents{
		Format: int(db.format), StreamID: c.streamID, Settings: c.settings,
		Batch: st.batch, Bootstrapped: st.bootstrapped, Positions: st.positions, InputFiles: c.files,
		Time:       st.time,
		LogBatches: len(c.log.committed), LogBytes: c.log.bytes, Open: []uint64{}, DiskBytes: db.Metrics().
				DiskSpaceUsage(),
		Vertices: st.digests.vertices.count, Edges: st.digests.edges.count, Labels: st.digests.labels.count,
		Pending: len(st.older) + len(st.newer),
		Queries: c.queries, Suspend: c.suspend,
	}
	if n := len(c.log.committed); n > 0 {
		if at := c.log.committed[0].at; at != 0 {
			out.LogSince = time.UnixMilli(at).UTC()
		}
		out.LogFirst, out.LogLast = c.log.committed[0].batch, c.log.committed[n-1].batch
	}
	for _, e := range c.log.open {
		out.Open = append(out.Open, e.batch)
		out.LogBytes += e.bytes
	}
	if err := db.Close(); err != nil {
		return nil, fmt.Errorf("checkpoint %s: close: %w", dir, err)
	}
	return out, nil
}
