package kafka

import "encoding/binary"

// murmur2 is the hash by which Java clients choose a record's partition (the 32-bit MurmurHash2 with Kafka's seed).
func murmur2(key []byte) int32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
		r    = 24
	)
	h := uint32(seed) ^ uint32(len(key))
	for len(key) >= 4 {
		k := binary.LittleEndian.Uint32(key) * m
		k ^= k >> r
		h = h*m ^ k*m
		key = key[4:]
	}
	switch len(key) {
	case 3:
		h ^= uint32(key[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(key[0])) * m
	}
	h ^= h >> 13
	h *= m
	return int32(h ^ h>>15)
}

// PartitionOf is the partition of n that a key belongs to, the same as for Java clients.
func PartitionOf(key []byte, n int32) int32 { return murmur2(key) & 0x7fffffff % n }
