//go:build cuda || emu

package kernels

// Constants of sort.cuh.
const (
	sortThreads = 256
	sortTile    = sortThreads * 16
	digits      = 256
)

// Sort has the parameters of RunSort: N pairs of a 64-bit key and a 32-bit value, sorted by the low Bits bits of the
// keys (0 to 64). Equal keys keep their order. The pairs are in Keys[0] and Values[0]; Keys[1] and Values[1] have the
// same size. All are overwritten. Work has SortWork(q.Info()) bytes.
type Sort struct {
	Keys, Values [2]Ptr
	Work         Ptr
	N, Bits      int
}

// sortParams is Sort of sort.cuh.
type sortParams struct {
	Keys, Values, KeysOut, ValuesOut, Counts Ptr
	N, Shift, Bits, Tiles                    uint32
}

// sortBlocks returns the maximum number of blocks of a pass.
func sortBlocks(i Info) int { return 4 * i.Multiprocessors }

// SortWork returns the bytes of working memory that a sort of any size needs.
func SortWork(i Info) int { return 4 * digits * (sortBlocks(i) + 1) }

// RunSort sorts pairs, in one launch if they are few, and returns the index (0 or 1) of the result in Keys and Values.
// It does not wait.
func RunSort(q Queue, s Sort) (at int, err error) {
	if s.N < 2 || s.Bits == 0 {
		return 0, nil
	}
	p := sortParams{
		Keys:      s.Keys[0],
		Values:    s.Values[0],
		KeysOut:   s.Keys[1],
		ValuesOut: s.Values[1],
		Counts:    s.Work,
		N:         uint32(s.N),
	}
	if s.N <= sortTile {
		p.Bits = uint32(s.Bits)
		return 1, q.Launch("sorttile", 1, sortThreads, BytesOf(&p))
	}
	tiles := (s.N + sortTile - 1) / sortTile
	each := (tiles + sortBlocks(q.Info()) - 1) / sortBlocks(q.Info())
	blocks := (tiles + each - 1) / each
	for shift := 0; shift < s.Bits; shift += 8 {
		p.Shift, p.Bits, p.Tiles = uint32(shift), uint32(min(8, s.Bits-shift)), uint32(each)
		if err := q.Launch("sortcount", blocks, sortThreads, BytesOf(&p)); err != nil {
			return at, err
		}
		p.Tiles = uint32(blocks)
		if err := q.Launch("sortscan", digits*warp/sortThreads, sortThreads, BytesOf(&p)); err != nil {
			return at, err
		}
		p.Tiles = uint32(each)
		if err := q.Launch("sortscatter", blocks, sortThreads, BytesOf(&p)); err != nil {
			return at, err
		}
		at = 1 - at
		p.Keys, p.Values, p.KeysOut, p.ValuesOut = s.Keys[at], s.Values[at], s.Keys[1-at], s.Values[1-at]
	}
	return at, nil
}
