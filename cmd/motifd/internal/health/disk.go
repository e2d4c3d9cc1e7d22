package health

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"motifd/stream/checkpoint"
)

// slowDisk is the time of one wait for room on the checkpoint's disk that makes a line in the log, again and again.
const slowDisk = 10 * time.Second

// WatchDisk logs that the checkpoint waits for merges for each slowDisk that it does, and when it goes on, until ctx is
// done.
func WatchDisk(ctx context.Context, use func() checkpoint.DiskUse, log zerolog.Logger) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	told := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		u := use()
		switch n := int(u.Waiting / slowDisk); {
		case n > told:
			told = n
			log.Warn().Int64("bytes", u.Bytes).Int64("limit", u.Limit).
				Stringer("waiting", u.Waiting.Round(time.Second)).
				Msg("the checkpoint has its maximum size: input waits until its tables are merged; put " +
					"checkpoint.dir " +
					"on a faster disk if that is often so")
		case n < told:
			told = 0
			log.Info().Int64("bytes", u.Bytes).Int64("limit", u.Limit).
				Msg("the checkpoint's tables are merged: input is taken again")
		}
	}
}
