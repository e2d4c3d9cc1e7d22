package pattern

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// TestS11PatternsHave496Edges holds that a complete pattern of 32 vertices is read, in both languages, and printed so
// that it is read again, and that one edge more is refused where it stands.
func TestS11PatternsHave496Edges(t *testing.T) {
	var text, cypher []string
	for v := range matcher.MaxVertices {
		text = append(text, fmt.Sprintf("v %d", v))
	}
	for v := range matcher.MaxVertices {
		for u := range v {
			text = append(text, fmt.Sprintf("e %d %d", u, v))
			cypher = append(cypher, fmt.Sprintf("(v%d)--(v%d)", u, v))
		}
	}
	for language, src := range map[string]string{Text: strings.Join(text, "\n"),
		Cypher: "MATCH " + strings.Join(cypher, ",\n")} {
		q, err := Parse(language, []byte(src), Options{Name: "q"})
		require.NoError(t, err, language)
		require.Len(t, q.Edges, 496)
		again, err := Parse(Cypher, []byte(Format(q)), Options{Name: "q"})
		require.NoError(t, err)
		require.Equal(t, q.Vertices, again.Vertices)
		require.Equal(t, q.Edges, again.Edges)
	}
	_, err := Parse(Text, []byte(strings.Join(append(text, "e 0 1"), "\n")), Options{Name: "q", File: "q"})
	require.EqualError(t, err, "q:529:1: the pattern has more than 496 edges; a pattern has at most 496")
	_, err = Parse(
		Cypher,
		[]byte("MATCH "+strings.Join(append(cypher, "(v0)--(v1)"), ",\n")),
		Options{Name: "q", File: "q"},
	)
	require.EqualError(t, err, "q:497:5: the pattern has more than 496 edges; a pattern has at most 496")
}
