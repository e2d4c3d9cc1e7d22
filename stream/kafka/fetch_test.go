package kafka

import (
	"motifd/stream/kafka/internal/recordbatch"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
)

// FuzzFetchResponse feeds the parser of fetch responses.
func FuzzFetchResponse(f *testing.F) {
	f.Add(
		[]byte(
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00"+
				"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00"+
				"\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x02ab",
		),
		int16(11),
	)
	f.Fuzz(func(t *testing.T, body []byte, version int16) {
		res, err := parseFetch(body, 4+(version&7), kafkago.ReadCommitted)
		require.Equal(t, err == nil, res != nil)
		if res != nil {
			require.LessOrEqual(t, len(res.Batches), len(body))
		}
	})
}

// TestOldFormatIsFatal: no retry mends record batches of another format.
func TestOldFormatIsFatal(t *testing.T) {
	require.True(t, Fatal(&recordbatch.VersionError{Magic: 1}))
}
