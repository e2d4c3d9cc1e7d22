package publish

// published has the records found in a topic behind the committed mark: those of the batches in hand, by name.
type published struct {
	batches map[uint64]*tailBatch
	count   uint64
}

// tailBatch has the records found of one batch.
type tailBatch struct {
	indexes indexSet
	first   map[int32]int64 // offset of its first record, by partition
}

func newPublished() *published { return &published{batches: map[uint64]*tailBatch{}} }

func (p *published) add(partition int32, offset int64, batch, index uint64) {
	b := p.batches[batch]
	if b == nil {
		b = &tailBatch{indexes: indexSet{}, first: map[int32]int64{}}
		p.batches[batch] = b
	}
	if _, ok := b.first[partition]; !ok {
		b.first[partition] = offset
	}
	if b.indexes.add(index) {
		p.count++
	}
}

func (p *published) has(batch, index uint64) bool {
	b := p.batches[batch]
	return b != nil && b.indexes.has(index)
}

// drop forgets the batches up to one that is done.
func (p *published) drop(batch uint64) {
	for b := range p.batches {
		if b <= batch {
			delete(p.batches, b)
		}
	}
}

// progress is the first record after the committed batch that is missing. A batch is complete when there is a record
// of a later one, because End waits for all of a batch.
func (p *published) progress(committed uint64) (batch, index uint64) {
	batch = committed + 1
	for b := range p.batches {
		batch = max(batch, b)
	}
	if b := p.batches[batch]; b != nil {
		index = b.indexes.gap()
	}
	return batch, index
}

// limit lowers a partition's end of batch n to where a later batch begins, which is the mark to commit n with.
func (p *published) limit(batch uint64, partition int32, end int64) int64 {
	for n, b := range p.batches {
		if first, ok := b.first[partition]; ok && n > batch {
			end = min(end, first)
		}
	}
	return end
}

// indexSet is a set of record indexes: bitmaps of 4,096 indexes each, so that a batch of a million records takes
// 128 KiB.
type indexSet map[uint64]*[64]uint64

func (s indexSet) add(i uint64) bool {
	block := s[i>>12]
	if block == nil {
		block = new([64]uint64)
		s[i>>12] = block
	}
	word, bit := &block[i>>6&63], uint64(1)<<(i&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

func (s indexSet) has(i uint64) bool {
	block := s[i>>12]
	return block != nil && block[i>>6&63]&(1<<(i&63)) != 0
}

// gap is the lowest index that is missing.
func (s indexSet) gap() uint64 {
	i := uint64(0)
	for s.has(i) {
		i++
	}
	return i
}
