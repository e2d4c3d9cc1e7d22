package kafka

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The values are those of the Java client's own test of its hash.
func TestMurmur2MatchesJava(t *testing.T) {
	for key, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		require.Equal(t, want, murmur2([]byte(key)), key)
	}
}

func TestPartitionMatchesKafkaGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "key")
		n := rapid.IntRange(1, 50).Draw(t, "partitions")
		parts := make([]int, n)
		for i := range parts {
			parts[i] = i
		}
		require.EqualValues(
			t,
			kafkago.Murmur2Balancer{}.Balance(kafkago.Message{Key: key}, parts...),
			PartitionOf(key, int32(n)),
		)
	})
}
