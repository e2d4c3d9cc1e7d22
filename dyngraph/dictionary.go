package dyngraph

import "hash/maphash"

// dictionary finds vertices by their keys. It is extendible hashing: the first bits of a key's hash choose one of many
// small tables, which is split when it is full, so that no batch waits until a large table is written anew. Keys are
// not in it: a slot has the vertex, whose key is in the graph's column, and 32 bits of the hash, which suffice for
// growing. Slots hold no pointers, so that the garbage collector does not read them.
type dictionary struct {
	seed    maphash.Seed
	tables  []*keyTable // by the hash's first depth bits; several may be one
	depth   uint8
	n       int
	slots   int   // a table with as many is split, not doubled,
	deepest uint8 // unless it lies that many bits deep
	warmth  uint64
}

// keyTable is a hash table with open addressing and linear probing. A slot is the hash and, in the lower bits, the
// vertex id plus 1; 0 is an empty slot.
type keyTable struct {
	slots []uint64
	n     int
	depth uint8 // bits of the hash that all keys in it share
	bits  uint8 // of the position of a slot
}

func newDictionary() dictionary {
	return dictionary{seed: maphash.MakeSeed(), tables: []*keyTable{newKeyTable(0, 3)}, slots: 1 << 12, deepest: 20}
}

func newKeyTable(depth, bits uint8) *keyTable {
	return &keyTable{slots: make([]uint64, 1<<bits), depth: depth, bits: bits}
}

func (d *dictionary) hash(key string) uint32 { return uint32(maphash.String(d.seed, key) >> 32) }

func (d *dictionary) table(hash uint32) *keyTable { return d.tables[hash>>(32-d.depth)] }

// home is the slot at which the search for a hash begins: by the bits behind those that led to the table.
func (t *keyTable) home(hash uint32) int { return int(hash << t.depth >> (32 - t.bits)) }

// find returns the vertex that bears the key, or NoVertex.
func (d *dictionary) find(hash uint32, key string, keys []string) VertexID {
	t := d.table(hash)
	for i := t.home(hash); ; i = (i + 1) & (len(t.slots) - 1) {
		s := t.slots[i]
		if s == 0 {
			return NoVertex
		}
		if id := VertexID(uint32(s) - 1); uint32(s>>32) == hash && keys[id] == key {
			return id
		}
	}
}

// likely returns the first vertex with the hash, most often the only one, or NoVertex.
func (d *dictionary) likely(hash uint32) VertexID {
	t := d.table(hash)
	for i := t.home(hash); ; i = (i + 1) & (len(t.slots) - 1) {
		if s := t.slots[i]; s == 0 || uint32(s>>32) == hash {
			return VertexID(uint32(s) - 1) // NoVertex for an empty slot
		}
	}
}

// insert enters a vertex whose key is not there.
func (d *dictionary) insert(hash uint32, id VertexID) {
	t := d.table(hash)
	for 4*(t.n+1) > 3*len(t.slots) {
		d.grow(t, hash)
		t = d.table(hash)
	}
	t.put(uint64(hash)<<32 | uint64(id+1))
	d.n++
}

func (t *keyTable) put(s uint64) {
	i := t.home(uint32(s >> 32))
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
	t.n++
}

// grow makes room in the table of a hash.
func (d *dictionary) grow(t *keyTable, hash uint32) {
	if len(t.slots) < d.slots || t.depth >= d.deepest {
		bigger := newKeyTable(t.depth, t.bits+1)
		for _, s := range t.slots {
			if s != 0 {
				bigger.put(s)
			}
		}
		*t = *bigger
		return
	}
	halves := [2]*keyTable{newKeyTable(t.depth+1, t.bits), newKeyTable(t.depth+1, t.bits)}
	for _, s := range t.slots {
		if s != 0 {
			halves[s>>(63-t.depth)&1].put(s)
		}
	}
	if t.depth == d.depth {
		tables := make([]*keyTable, 2*len(d.tables))
		for i := range tables {
			tables[i] = d.tables[i/2]
		}
		d.tables = tables
		d.depth++
	}
	share := 1 << (d.depth - t.depth) // entries that lead to t
	first := int(hash>>(32-d.depth)) &^ (share - 1)
	for i := range share {
		d.tables[first+i] = halves[2*i/share]
	}
}

// remove takes out a vertex that is there with the hash. Slots behind it move up, so that no search ends too early.
func (d *dictionary) remove(hash uint32, id VertexID) {
	t := d.table(hash)
	mask := len(t.slots) - 1
	i := t.home(hash)
	for t.slots[i] != uint64(hash)<<32|uint64(id+1) {
		if t.slots[i] == 0 {
			return
		}
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; t.slots[j] != 0; j = (j + 1) & mask {
		if home := t.home(uint32(t.slots[j] >> 32)); (j-home)&mask >= (j-i)&mask {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = 0
	t.n--
	d.n--
}
