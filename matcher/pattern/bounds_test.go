package pattern

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// TestTokensAreBounded holds that a text of many tokens is refused at the first one beyond the bound, without reading
// on: a megabyte of them took seconds.
func TestTokensAreBounded(t *testing.T) {
	const head = "MATCH (a)-->(b)" // ten tokens
	for _, repeated := range []string{",(a)", ",(a:A)", "(", " RETURN a", "-", "'x'"} {
		src := head + strings.Repeat(repeated, (MaxSource-len(head))/len(repeated))
		_, err := Parse(Cypher, []byte(src), Options{Name: "q", Directed: true})
		var at *Error
		require.ErrorAs(t, err, &at, repeated)
		require.Contains(t, at.Msg, fmt.Sprint("more than ", maxTokens), repeated)
		tokens, err := cypherLexer.LexString("", src[:at.Column-1])
		require.NoError(t, err)
		n := 0
		for tok, err := tokens.Next(); !tok.EOF(); tok, err = tokens.Next() {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, maxTokens, n, "tokens before the place that is told")
	}
	exactly := head + strings.Repeat(",(a)", (maxTokens-10)/4)
	_, err := Parse(Cypher, []byte(exactly), Options{Name: "q", Directed: true})
	require.NoError(t, err)
	spaced := head + strings.Repeat(" /**/ // ,,\n", (MaxSource-len(head))/12)
	_, err = Parse(Cypher, []byte(spaced), Options{Name: "q", Directed: true})
	require.NoError(t, err, "space and comments are no tokens")
}

// TestLargestPatternIsWithinTheBound holds that the most verbose way to write the largest pattern has fewer tokens than
// the bound.
func TestLargestPatternIsWithinTheBound(t *testing.T) {
	var paths, names []string
	for a := range matcher.MaxVertices {
		names = append(names, fmt.Sprint("v", a))
		for b := range a {
			e := fmt.Sprintf("e%d_%d", a, b)
			names = append(names, e)
			paths = append(paths, fmt.Sprintf("MATCH (v%d:L%d)-[%s:T]->(v%d:L%d)", a, a, e, b, b))
		}
	}
	src := strings.Join(paths, " ") + " RETURN " + strings.Join(names, ", ") + ";"
	_, ast, err := readCypher(src, newBuilder(Options{}))
	require.NoError(t, err)
	require.Len(t, ast.matches, len(paths))
}
