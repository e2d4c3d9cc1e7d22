//go:build unix

package neighbors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"motifd/dyngraph"
)

// mergeAsking is the merge that asks at each step which of both members is less.
func mergeAsking(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			inA[n], inB[n] = uint32(i), uint32(j)
			i, j, n = i+1, j+1, n+1
		}
	}
	return n
}

// mergeAdding is the merge that asks nothing, and moves on in either list by what the comparison gives.
func mergeAdding(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		inA[n], inB[n] = uint32(i), uint32(j)
		less, more := isLess(x, y), isLess(y, x)
		n += 1 - less - more
		i += 1 - more
		j += 1 - less
	}
	return n
}

// marking finds members by bits of the longer list, which are made anew for each.
type marking struct{ bits []uint64 }

// mark sets the bit of each member, among 16 times as many bits at least.
func (k *marking) mark(b []dyngraph.VertexID) {
	words := 16
	for words*4 < len(b) {
		words *= 2
	}
	if words > cap(k.bits) {
		k.bits = make([]uint64, words)
	}
	k.bits = k.bits[:words]
	clear(k.bits)
	for _, w := range b {
		k.bits[w/64&dyngraph.VertexID(words-1)] |= 1 << (w % 64)
	}
}

// intersect looks for those that have a bit.
func (k *marking) intersect(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	bits, mask := k.bits, dyngraph.VertexID(len(k.bits)-1)
	for i, w := range a {
		inA[n] = uint32(i)
		n += int(bits[w/64&mask] >> (w % 64) & 1)
	}
	some, j := inA[:n], 0
	n = 0
	for _, i := range some {
		w := a[i]
		if j = Seek(b, j, w); j == len(b) {
			break
		}
		if b[j] == w {
			inA[n], inB[n] = i, uint32(j)
			n++
		}
	}
	return n
}

// BenchmarkIntersect measures the ways to find what two lists have in common, in CPU time for each member of the
// shorter one, by their lengths, the ratio of these, and the share of the shorter one that is in both. Lists are random
// and so many that no branch is foreseen because it was seen before; many pairs have their longer list in common.
// "marked" has the bits of a long list made once for all shorter ones, "marked-once" for each.
func BenchmarkIntersect(b *testing.B) {
	const universe = 1 << 20
	for _, short := range []int{2, 8, 32, 128, 1024, 4096} {
		for _, ratio := range []int{1, 2, 4, 8, 16, 64, 256, 1024} {
			long := short * ratio
			if long > 1<<17 {
				continue
			}
			for _, percent := range []int{2, 50} {
				rng := rand.New(rand.NewPCG(1, uint64(long)))
				n := 1 << 16 / short
				longer := make([][]dyngraph.VertexID, max(2, min(n, 1<<18/long)))
				for i := range longer {
					longer[i] = randomIDs(rng, long, universe)
				}
				var pairs [][2][]dyngraph.VertexID
				for i := range n {
					of := longer[i*len(longer)/n] // one after the other
					shorter := randomIDs(rng, short, universe)
					for k := range shorter {
						if rng.IntN(100) < percent {
							shorter[k] = of[rng.IntN(long)]
						}
					}
					slices.Sort(shorter)
					pairs = append(pairs, [2][]dyngraph.VertexID{slices.Compact(shorter), of})
				}
				name := fmt.Sprintf("short=%d/ratio=%d/common=%d%%", short, ratio, percent)
				b.Run(name, func(b *testing.B) { benchWays(b, pairs, short) })
			}
		}
	}
}

// randomIDs is randomList for few of many.
func randomIDs(rng *rand.Rand, n, bound int) (l []dyngraph.VertexID) {
	for len(l) < n {
		for range n - len(l) {
			l = append(l, dyngraph.VertexID(rng.IntN(bound)))
		}
		slices.Sort(l)
		l = slices.Compact(l)
	}
	return l
}

func benchWays(b *testing.B, pairs [][2][]dyngraph.VertexID, short int) {
	inA, inB := make([]uint32, short), make([]uint32, short)
	var k marking
	var last *dyngraph.VertexID
	ways := []struct {
		name      string
		intersect func(a, b []dyngraph.VertexID, inA, inB []uint32) int
	}{
		{"gallop", gallop},
		{"blocks", func(a, b []dyngraph.VertexID, inA, inB []uint32) int {
			if len(b) < readBlock {
				return gallop(a, b, inA, inB)
			}
			return mergeBlocks(a, b, inA, inB)
		}},
		{"asking", mergeAsking},
		{"adding", mergeAdding},
		{"marked-once", func(a, b []dyngraph.VertexID, inA, inB []uint32) int {
			k.mark(b)
			return k.intersect(a, b, inA, inB)
		}},
		{"marked", func(a, b []dyngraph.VertexID, inA, inB []uint32) int {
			if last != &b[0] {
				last = &b[0]
				k.mark(b)
			}
			return k.intersect(a, b, inA, inB)
		}},
	}
	const turns = 5
	least, found := make([]time.Duration, len(ways)), make([]int, len(ways))
	for b.Loop() {
		for range turns {
			for w := range ways {
				last, found[w] = nil, 0
				spent := timedWays(func() {
					for i := range pairs {
						found[w] += ways[w].intersect(pairs[i][0], pairs[i][1], inA, inB)
					}
				})
				if least[w] == 0 || spent < least[w] {
					least[w] = spent
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for w := range ways {
		if found[w] != found[0] {
			b.Fatalf("%s found %d, %s %d", ways[w].name, found[w], ways[0].name, found[0])
		}
		b.ReportMetric(float64(least[w].Nanoseconds())/float64(short*len(pairs)), "ns-"+ways[w].name)
	}
}

// timedWays returns the CPU time that a function takes.
func timedWays(f func()) time.Duration {
	began := cpuClock()
	f()
	return cpuClock() - began
}

// cpuClock returns the CPU time that the process has taken.
func cpuClock() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
