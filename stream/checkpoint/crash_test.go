package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

// crasher is a file system that keeps an image of what a crash before each write would leave.
type crasher struct {
	mem    *vfs.MemFS
	rng    *rand.Rand
	mu     sync.Mutex
	step   int // steps that were acknowledged
	images []image
}

type image struct {
	step int
	fs   *vfs.MemFS
}

func (c *crasher) String() string { return "crasher" }

// MaybeError takes images: with exactly what was synced, and with some of what was not.
func (c *crasher) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images = append(c.images, image{c.step, c.mem.CrashClone(vfs.CrashCloneCfg{})},
		image{c.step, c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: c.rng})})
	return nil
}

func (c *crasher) acknowledge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step++
}

// TestCrashAtEveryWrite crashes before every write of a scripted life. What is recovered is exactly the state after
// the last acknowledged step, or after the one that was under way.
func TestCrashAtEveryWrite(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := newRand(100 + seed)
			h := newHistory(rng, 6, seed%2 == 0)
			c := &crasher{mem: vfs.NewCrashableMem(), rng: rng}
			opt := testOptions(h, errorfs.Wrap(c.mem, c))
			opt.Retention = Retention{Batches: 3}
			s, err := Open(testDir, opt)
			require.NoError(t, err)
			states := []string{h.start}
			for i, st := range h.steps {
				require.NoError(t, st.do(s), st.name)
				c.acknowledge()
				states = append(states, st.after)
				if i == len(h.steps)/2 { // a restart in the middle writes too
					require.NoError(t, s.Close())
					s, err = Open(testDir, opt)
					require.NoError(t, err)
				}
			}
			require.NoError(t, s.Close())
			require.Greater(t, len(c.images), 4*len(h.steps))
			for i, im := range c.images {
				opt.FS = im.fs
				got := recovered(t, opt)
				if im.step+1 < len(states) && got == states[im.step+1] {
					continue
				}
				requireSame(t, states[im.step], got,
					fmt.Sprintf("image %d of %d, after step %d", i, len(c.images), im.step))
			}
			t.Logf("%d crashes", len(c.images))
		})
	}
}

// TestCrashGoesOn: after a crash the rest of the life can be lived, and the log still leads back to its base.
func TestCrashGoesOn(t *testing.T) {
	rng := newRand(7)
	h := newHistory(rng, 8, true)
	c := &crasher{mem: vfs.NewCrashableMem(), rng: rng}
	opt := testOptions(h, errorfs.Wrap(c.mem, c))
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	for _, st := range h.steps {
		require.NoError(t, st.do(s), st.name)
		c.acknowledge()
	}
	require.NoError(t, s.Close())
	for i := 0; i < len(c.images); i += 11 {
		im := c.images[i]
		opt.FS = im.fs
		step := im.step
		if step < len(h.steps) && recovered(t, opt) == h.steps[step].after {
			step++ // it was under way, and became durable
		}
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		for _, st := range h.steps[step:] {
			require.NoError(t, st.do(s), "image %d: %s", i, st.name)
		}
		require.NoError(t, s.Close())
		requireSame(t, h.steps[len(h.steps)-1].after, recovered(t, opt))
		requireSound(t, opt.FS)
	}
}
