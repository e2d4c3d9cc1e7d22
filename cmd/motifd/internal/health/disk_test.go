package health

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/stream/checkpoint"
)

// TestWaitingForTheDiskIsLogged: one line for each 10 seconds of a wait, one at its end, none for waits that are short.
func TestWaitingForTheDiskIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		begin := time.Now()
		use := func() checkpoint.DiskUse {
			u := checkpoint.DiskUse{Bytes: 7, Limit: 8}
			switch at := time.Since(begin); {
			case at < 9*time.Second:
				u.Waiting = at
			case at > 20*time.Second && at < 45*time.Second:
				u.Waiting = at - 20*time.Second
			}
			return u
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		WatchDisk(ctx, use, zerolog.New(&out))
		require.Equal(t, 3, strings.Count(out.String(), "\n"), out.String())
		require.Equal(t, 2, strings.Count(out.String(), `"level":"warn","bytes":7,"limit":8`), out.String())
		require.Equal(t, 1, strings.Count(out.String(), "input is taken again"), out.String())
	})
}
