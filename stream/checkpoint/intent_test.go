package checkpoint

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestP3StartedIntents crashes at every write while intents and suspensions are written in the background: what is
// there is the intents up to one, and a suspension never without its intent; and what was waited for is there.
func TestP3StartedIntents(t *testing.T) {
	rng := newRand(31)
	h := newHistory(rng, 4, true)
	c := &crasher{mem: vfs.NewCrashableMem(), rng: rng}
	opt := testOptions(h, errorfs.Wrap(c.mem, c))
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	var logged []func() error
	for i := range h.batches {
		b := h.batches[i]
		b.Decisions = nil
		logged = append(logged, s.StartIntent(t.Context(), &b))
		require.NoError(t, s.Decide(b.Number, matcher.Decision{Query: "q", Version: 1, Sign: dyngraph.Inserted}))
		c.acknowledge() // a suspension that is logged has its intent before it
	}
	for _, wait := range logged {
		require.NoError(t, wait())
		require.NoError(t, wait(), "it may be asked again")
	}
	require.NoError(t, s.Close())
	for i, im := range c.images {
		opt.FS = im.fs
		s, err := Open(testDir, opt)
		require.NoError(t, err, "image %d", i)
		st, err := s.Recover(t.Context())
		require.NoError(t, err, "image %d", i)
		require.GreaterOrEqual(t, len(st.Open), im.step)
		require.LessOrEqual(t, len(st.Open), im.step+1)
		for k := range st.Open {
			require.Equal(t, h.batches[k].Updates, st.Open[k].Updates)
			if k < im.step {
				require.Len(t, st.Open[k].Decisions, 1)
			}
		}
		require.NoError(t, s.Close())
	}
}

// TestStartedIntentThatFails: who waits is told, and so is who begins the next batch all the same; Close waits for
// what is on its way.
func TestStartedIntentThatFails(t *testing.T) {
	h := newHistory(newRand(5), 3, true)
	var on errorfs.Toggle
	on.Injector = errorfs.ErrInjected.If(errorfs.Writes)
	opt := testOptions(h, errorfs.Wrap(vfs.NewMem(), &on))
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.ErrorContains(t, s.StartIntent(t.Context(), &h.batches[1])(), "1 is next")
	first := s.StartIntent(t.Context(), &h.batches[0])
	require.NoError(t, s.Close())
	require.NoError(t, first())
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	on.On()
	second := s.StartIntent(t.Context(), &h.batches[1])
	third := s.StartIntent(t.Context(), &h.batches[2])
	require.ErrorIs(t, second(), ErrBroken)
	require.ErrorIs(t, third(), ErrBroken)
	require.ErrorIs(t, s.Decide(2, matcher.Decision{}), ErrBroken)
	require.ErrorIs(t, s.Close(), ErrBroken)
}
