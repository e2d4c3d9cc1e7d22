package codec

import (
	"crypto/sha256"

	"motifd/dyngraph"
	"motifd/matcher"
)

// onceDomain is the first field of the preimage of a key of matcher.Query.Once.
const onceDomain = "motifd-once-1"

// OnceKey returns the key of a match of a query with matcher.Query.Once: the first 16 bytes of the SHA-256 of the
// domain and, for each element that makes the key, its fields as they are in the preimage of a match id (DESIGN S6). q
// is the variant of a query with paths. It is matcher.EngineOptions.OnceKey.
func OnceKey(q *matcher.Query, v dyngraph.View, row []uint32) (key matcher.OnceKey, err error) {
	var s scratch
	if err := s.load(q, v, v.Graph().Directed(), row); err != nil {
		return key, err
	}
	b := appendField(nil, onceDomain)
	for _, r := range q.Once.Per {
		if r.Edge {
			b = s.appendEdgeIdentity(b, r.Index)
		} else {
			b = s.appendVertexIdentity(b, r.Index)
		}
	}
	sum := sha256.Sum256(b)
	copy(key[:], sum[:])
	return key, nil
}
