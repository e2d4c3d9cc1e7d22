//go:build cuda || emu

package cuda

import "math"

// SetStagingSize sets the size of the memory that small copies go through.
func SetStagingSize(bytes int) { stagingSize = bytes }

// Blocks tells what happened to blocks of matches since Load: how often a part of one went to another warp, how often
// one was kept for the next launch, and how many tasks were not for them, and were left when those left before were
// done.
func (b *Backend) Blocks() (given, kept, left uint64) {
	return b.run.given, b.run.kept, b.run.leftLater
}

// AgeMemo has the numbers of the memo end soon: after so many more.
func (b *Backend) AgeMemo(more uint32) {
	b.run.most = max(b.run.most, math.MaxUint32-more)
}

// RowsFound returns how many rows the device has found since Load, to be put in order.
func (b *Backend) RowsFound() uint64 { return b.run.rows }

// Steals returns how often work was split since Load: between the warps of a block, and between blocks.
func (b *Backend) Steals() (inBlock, between uint64) { return b.run.stolen, b.run.mailed }
