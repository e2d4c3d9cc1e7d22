//go:build cuda || emu

package cuda

import (
	"math"
	"time"
)

// SetStagingSize sets the size of the memory that small copies go through.
func SetStagingSize(bytes int) { stagingSize = bytes }

// Blocks tells what happened to blocks of matches since Load: how often a part of one went to another warp, how often
// one was kept for the next launch, and how many tasks were not for them, and were left when those left before were
// done.
func (b *Backend) Blocks() (given, kept, left uint64) {
	for _, s := range b.sides {
		given, kept, left = given+s.run.given, kept+s.run.kept, left+s.run.leftLater
	}
	return given, kept, left
}

// AgeMemo has the numbers of the memo end soon: after so many more.
func (b *Backend) AgeMemo(more uint32) {
	for _, s := range b.sides {
		s.run.most = max(s.run.most, math.MaxUint32-more)
	}
}

// RowsFound returns how many rows the device has found since Load, to be put in order.
func (b *Backend) RowsFound() (n uint64) {
	for _, s := range b.sides {
		n += s.run.rows
	}
	return n
}

// Steals returns how often work was split since Load: between the warps of a block, and between blocks.
func (b *Backend) Steals() (inBlock, between uint64) {
	for _, s := range b.sides {
		inBlock, between = inBlock+s.run.stolen, between+s.run.mailed
	}
	return inBlock, between
}

// SetDealing sets the part of the remaining tasks that a round deals to the sides, and the time of a chunk for which
// another launch pays.
func SetDealing(share float64, least time.Duration) { roundShare, leastChunk = share, float64(least) }

// Sides returns the number of devices in use.
func (b *Backend) Sides() int { return len(b.sides) }

// Busy returns, by device in use, the time of its searches and sorts since Load in nanoseconds, and the number of
// launches.
func (b *Backend) Busy() (ns []int64, launches []uint64) {
	for _, s := range b.sides {
		ns, launches = append(ns, s.run.busy), append(launches, s.run.launches)
	}
	return ns, launches
}

// InTurn has the devices count one after the other: choose chooses the next among some, given how long each was busy
// since Load, in nanoseconds.
func (b *Backend) InTurn(choose func(busy []int64) int) {
	b.turn = func(of []*side) int {
		busy := make([]int64, len(of))
		for i, s := range of {
			busy[i] = s.run.busy
		}
		return choose(busy)
	}
}
