package codec

import (
	"hash/maphash"
	"strings"
)

// interner returns strings for bytes and re-uses those of the recent past: keys and labels come again and again. It
// is a direct-mapped cache, so that its memory is bounded and a hostile stream merely misses. A string that it
// returns shares no memory with any other.
type interner struct {
	seed  maphash.Seed
	table [internSize]string
}

const (
	internSize   = 1 << 13
	internMaxLen = 128 // longer ones are rare and would make the cache large
)

func newInterner() *interner { return &interner{seed: maphash.MakeSeed()} }

func (t *interner) get(b []byte) string {
	if len(b) == 0 || len(b) > internMaxLen {
		return string(b)
	}
	slot := &t.table[maphash.Bytes(t.seed, b)%internSize]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// getString is get for a string that may be part of a larger one.
func (t *interner) getString(s string) string {
	if len(s) == 0 || len(s) > internMaxLen {
		return strings.Clone(s)
	}
	slot := &t.table[maphash.String(t.seed, s)%internSize]
	if *slot != s {
		*slot = strings.Clone(s)
	}
	return *slot
}
