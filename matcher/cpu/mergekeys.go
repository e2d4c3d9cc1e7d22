package cpu

import "math/bits"

// merge merges runs of keys, each of which ascends; they begin at starts, which it changes. What it returns is keys, or as much of s.tmp.
func (s *rowSorter) merge(keys []rowKey, starts []int) []rowKey {
	if len(starts) < 2 {
		return keys
	}
	s.tmp = keysFor(len(keys), s.tmp)
	from, to := keys, s.tmp
	for len(starts) > 1 {
		pairs := starts[:0]
		for i := 0; i < len(starts); i += 2 {
			a, mid, end := starts[i], len(keys), len(keys)
			if i+1 < len(starts) {
				mid = starts[i+1]
			}
			if i+2 < len(starts) {
				end = starts[i+2]
			}
			mergeKeys(to[a:end], from[a:end], mid-a)
			pairs = append(pairs, a)
		}
		starts = pairs
		from, to = to, from
	}
	return from
}

// mergeKeys merges two runs that ascend, from[:mid] and from[mid:]. Which one the next key comes from cannot be foreseen, so no branch depends on it.
func mergeKeys(to, from []rowKey, mid int) {
	i, j := 0, mid
	for n := 0; i < mid && j < len(from); n++ {
		_, second := bits.Sub64(from[j].key, from[i].key, 0)
		to[n] = from[i+(j-i)*int(second)]
		i, j = i+1-int(second), j+int(second)
	}
	n := i + j - mid
	n += copy(to[n:], from[i:mid])
	copy(to[n:], from[j:])
}
