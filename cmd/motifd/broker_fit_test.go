//go:build kafka && unix

package main

import (
	"testing"

	"motifd/stream/kafka/brokertest"
)

// TestBrokerFits: a daemon, its configuration and a real broker that do not fit together, or only just.
func TestBrokerFits(t *testing.T) {
	b := brokertest.StartSecured(t, nil)
	t.Run("TopicsCreate", func(t *testing.T) { topicsCreated(t, b.Addr()) })
	t.Run("TopicsCheck", func(t *testing.T) { topicsChecked(t, b.Addr()) })
	t.Run("TopicsNotes", func(t *testing.T) { topicsNotes(t, b.Addr()) })
	t.Run("Fenced", func(t *testing.T) { fenced(t, newFitAt(t, b.Addr(), "fenced-")) })
	t.Run("Output", func(t *testing.T) { outputDoesNotFit(t, newFitAt(t, b.Addr(), "output-")) })
}
