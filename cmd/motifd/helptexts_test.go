package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHelpTextsInOrder: the file lists the texts by name, so that one is found, and put in, at one place.
func TestHelpTextsInOrder(t *testing.T) {
	var names []string
	name := regexp.MustCompile(`(?m)^\t"(\w+_help)":`)
	for _, m := range name.FindAllStringSubmatch(readFile(t, "helptexts.go"), -1) {
		names = append(names, m[1])
	}
	require.Greater(t, len(names), 40)
	require.True(t, slices.IsSorted(names), "%q", names)
}
