package dyngraph

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestFetchLines asks for memory that is there, for what lies around it, and for none: nothing happens.
func TestFetchLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	memory := make([]byte, 1<<16)
	for i := range memory {
		memory[i] = byte(rnd.Uint32())
	}
	before := bytes.Clone(memory)
	for range 10_000 {
		a, b := addressOf(memory, rnd.IntN(len(memory))), addressOf(memory, rnd.IntN(len(memory)))
		fetchLines(a, b, rnd.IntN(2000)-5)
	}
	for _, lines := range []int{-1 << 63, -1, 0, 1, 5} {
		fetchLines(nil, unsafe.Pointer(&memory[len(memory)-1]), lines)
		fetchLines(unsafe.Pointer(&memory[0]), nil, lines)
	}
	if !bytes.Equal(memory, before) {
		t.Fatal("memory is not what it was")
	}
}

// TestFetchSlot asks for slots beyond the array: they are told by what an earlier, longer one had.
func TestFetchSlot(t *testing.T) {
	g := NewGraph(Options{})
	for _, s := range []int{0, len(g.adj.ent), len(g.adj.ent) + 1, 1 << 40} {
		g.adj.fetchSlot(s)
	}
}
