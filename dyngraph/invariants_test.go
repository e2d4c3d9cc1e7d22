package dyngraph

import "testing"

func checkArray(t *testing.T, g *Graph) {}
