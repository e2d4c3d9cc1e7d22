package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"motifd/dyngraph"
	"motifd/matcher"
)

// NopStore is a Store that keeps nothing: for replays, where the input is there to be read again. Recover always
// returns a fresh State with a new stream id and no graph.
type NopStore struct{}

var _ Store = NopStore{}

// Recover implements Store.
func (NopStore) Recover(context.Context) (*State, error) {
	return &State{StreamID: NewStreamID(), Fresh: true, Positions: Positions{}}, nil
}

// Bootstrap implements Store.
func (NopStore) Bootstrap(context.Context, *dyngraph.Graph) error { return nil }

// Intent implements Store.
func (NopStore) Intent(context.Context, *Batch) error { return nil }

// Decide implements Store.
func (NopStore) Decide(uint64, matcher.Decision) error { return nil }

// Commit implements Store.
func (NopStore) Commit(context.Context, *CommitInfo) error { return nil }

// Close implements Store.
func (NopStore) Close() error { return nil }

// NewStreamID returns a random stream id: 128 bits in hexadecimal.
func NewStreamID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}
