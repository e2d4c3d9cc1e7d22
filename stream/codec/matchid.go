package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"motifd/dyngraph"
	"motifd/matcher"
)

// The first field of every preimage: each layout has a domain of its own. In the second one edges have ids.
const (
	matchIDDomain     = "motifd-match-1"
	matchIDDomainByID = "motifd-match-2"
)

// MatchID returns the id of a match (DESIGN S6): the first 16 bytes of the SHA-256 of these fields, each behind its
// length in 4 bytes, big endian:
//
//	the domain, "motifd-match-1"
//	the query's name, and its version in decimal
//	if the query has paths: their lengths in decimal, in pattern order, with a comma between two
//	for each pattern vertex, in pattern order: the data vertex's key, its label
//	for each pattern edge, in pattern order: the data edge's from key, to key, label; in an undirected graph the
//	keys stand in byte order
//
// Where ids identify edges (dyngraph.Options.EdgeIDs), the domain is "motifd-match-2", and behind its label each data
// edge has a field more: "#" and its id, or nothing for the edge without id.
//
// A label that there is not is an empty field, and so is that of every vertex where vertices may have several labels.
// Of a query with paths q is the variant (matcher.Rows.Of): vertices of paths come behind all others, path by path, and
// the edges of a path in its place. row holds the vertex ids, then the edge indexes, as in matcher.Rows; v must be a
// view that shows the match.
func MatchID(q *matcher.Query, v dyngraph.View, row []uint32) ([16]byte, error) {
	var s scratch
	if err := s.load(q, v, v.Graph().Directed(), row); err != nil {
		return [16]byte{}, err
	}
	return s.matchID(appendIdentity(nil, q, s.byID), len(q.Vertices), len(q.Edges)), nil
}

// Sampled tells whether a match is in its query's sample: the first 8 bytes of its id, as a big-endian number, are a
// multiple of Query.Sample. It is matcher.EngineOptions.Sampled.
func Sampled(q *matcher.Query, v dyngraph.View, row []uint32) (bool, error) {
	id, err := MatchID(q, v, row)
	return q.Sample <= 1 || binary.BigEndian.Uint64(id[:])%q.Sample == 0, err
}

// appendIdentity appends the fields that all matches of a query share.
func appendIdentity(b []byte, q *matcher.Query, byID bool) []byte {
	domain := matchIDDomain
	if byID {
		domain = matchIDDomainByID
	}
	b = appendField(b, domain)
	b = appendField(b, q.Name)
	return appendLengths(appendField(b, strconv.FormatUint(q.Version, 10)), q)
}

func (s *scratch) matchID(identity []byte, vertices, edges int) (id [16]byte) {
	b := append(s.preimage[:0], identity...)
	for i := range s.vertices[:vertices] {
		b = s.appendVertexIdentity(b, i)
	}
	for i := range s.edges[:edges] {
		b = s.appendEdgeIdentity(b, i)
	}
	s.preimage = b
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}

// appendVertexIdentity appends the fields of a vertex of the loaded row.
func (s *scratch) appendVertexIdentity(b []byte, i int) []byte {
	v := &s.vertices[i]
	return appendField(appendField(b, v.key), v.label)
}

// appendEdgeIdentity appends the fields of an edge of the loaded row.
func (s *scratch) appendEdgeIdentity(b []byte, i int) []byte {
	e := &s.edges[i]
	b = appendField(appendField(b, s.end(e.from).key), s.end(e.to).key)
	b = appendField(b, e.label)
	if s.byID {
		b = appendEdgeID(b, e.id)
	}
	return b
}

// appendEdgeID appends the field of an id that identifies an edge, "" for the edge without id.
func appendEdgeID(b []byte, id string) []byte {
	if id == "" {
		return appendField(b, "")
	}
	b = binary.BigEndian.AppendUint32(b, uint32(1+len(id)))
	return append(append(b, '#'), id...)
}

// appendField appends a field behind its length; no field reaches 4 GiB (DESIGN S1).
func appendField(b []byte, field string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}
