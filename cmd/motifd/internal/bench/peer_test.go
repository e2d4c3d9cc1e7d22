package bench

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
)

// peerOutput is RapidFlow's output, from its summary on.
const peerOutput = `--------------------------------------------------------------------
Execution Summary:
Preprocessing time (seconds): 0.020619
Query time (seconds): 0.017342
Global view update time (seconds): 0.000000
Search time (seconds): 0.017342
Result count: 5385
Partial result count (exclude results): 6066
--------------------------------------------------------------------
Done.
`

func TestParsePeer(t *testing.T) {
	r, err := parsePeer([]byte(peerOutput))
	require.NoError(t, err)
	require.Equal(t, peerResult{seconds: 0.017342, matches: big.NewInt(5385)}, r)
	r, err = parsePeer([]byte(strings.Replace(strings.Replace(peerOutput, "Done", "Time out...\nDone", 1), "5385",
		"18446744073709551615", 1)))
	require.NoError(t, err)
	require.True(t, r.timedOut)
	require.Equal(t, "18446744073709551615", r.matches.String())
	for _, bad := range []string{
		"", "Done.\n", peerOutput + peerOutput,
		strings.Replace(peerOutput, "Result count: 5385", "Result count: many", 1),
		strings.Replace(peerOutput, "0.017342", "-1", 1),
		strings.Replace(peerOutput, "0.017342", "1.2.3", 1),
		"x" + strings.ReplaceAll(peerOutput, "\n", " "),
	} {
		_, err := parsePeer([]byte(bad))
		require.Error(t, err, bad)
	}
}

func FuzzParsePeer(f *testing.F) {
	f.Add([]byte(peerOutput))
	f.Add([]byte("Query time (seconds): 1e9\nResult count: 1\nTime out...\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := parsePeer(out)
		if err == nil && (r.seconds < 0 || r.matches.Sign() < 0) {
			t.Fatalf("%+v", r)
		}
	})
}

// TestMeans holds the geometric means and the minimum.
func TestMeans(t *testing.T) {
	require.Nil(t, meansOf([]PeerRow{{Query: "a", Ratio: 2, TimedOut: true}}))
	m := meansOf([]PeerRow{
		{Query: "a", Class: benchcase.Tree, Ratio: 2, PeerS: 2, MotifdS: 1, ApplyS: 1},
		{Query: "b", Class: benchcase.Tree, Ratio: 8, PeerS: 8, MotifdS: 1, ApplyS: 1},
		{Query: "c", Class: benchcase.Dense, Ratio: 0.5, PeerS: 0.5, MotifdS: 1, ApplyS: 1},
		{Query: "d", Class: benchcase.Dense, Ratio: 0.1, Differs: "7"},
		{Query: "e", Class: benchcase.Dense, Ratio: 0.1, Failed: "so"},
	})
	require.Equal(t, 3, m.Queries)
	require.InDelta(t, 2, m.All, 1e-9)
	require.InDelta(t, 1, m.WithApply, 1e-9)
	require.InDelta(t, 4, m.Classes[benchcase.Tree], 1e-9)
	require.InDelta(t, 0.5, m.Least, 0)
	require.Equal(t, "c", m.LeastOf)
}

func TestGroupedNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,000", 99999: "100,000",
		1.5e12: "1,500,000,000,000"} {
		require.Equal(t, want, grouped(x))
	}
	require.Equal(t, "-123,456", command.GroupDigits("-123456"))
	require.Equal(t, "12", command.GroupDigits("12"))
}
