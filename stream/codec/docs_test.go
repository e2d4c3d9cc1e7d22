package codec

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// The examples in docs/formats.md are what this package reads and writes.
func TestDocsExamples(t *testing.T) {
	docs, err := os.ReadFile("../../docs/formats.md")
	require.NoError(t, err)
	blocks := make(map[string][]string)
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(docs), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	for _, b := range blocks["json"] {
		require.True(t, json.Valid([]byte(b)), b)
	}
	u := decodeOne(t, FormatJSON, DecoderOptions{}, blocks["json"][0])
	require.Equal(t, "tx-1", u.Attr.ID)
	schema := &property.Schema{Vertices: property.Declarations{"Account": {"risk": {Kind: property.Int64},
		"country": {Kind: property.String}}, property.Any: {"blocked": {Kind: property.Bool}}}}
	vs := decodeAll(t, FormatJSON, DecoderOptions{Schema: schema}, blocks["json"][1])
	require.Len(t, vs, 2)
	require.Len(t, vs[1].Named, 2)
	several := &property.Schema{SeveralLabels: true}
	vs = decodeAll(t, FormatJSON, DecoderOptions{Schema: several}, blocks["json"][2])
	require.Len(t, vs, 3)
	apply(t, dyngraph.NewGraph(dyngraph.Options{Schema: several}), vs...)
	require.Len(t, decodeAll(t, FormatText, DecoderOptions{}, blocks["text"][0]), 5)

	mappings := regexp.MustCompile("`(from=[^`]*|op=[^`]*)`").FindAllStringSubmatch(string(docs), -1)
	require.Len(t, mappings, 3)
	for _, m := range mappings {
		mapping(t, m[1])
	}
	columns := regexp.MustCompile(`columns: (.*)`).FindStringSubmatch(strings.Join(blocks["yaml"], "\n"))
	require.NotNil(t, columns)
	mapping(t, columns[1])

	for _, reason := range []string{
		ReasonRecord, ReasonSize, ReasonUTF8, ReasonSyntax, ReasonDepth, ReasonDuplicate, ReasonField, ReasonType,
		ReasonValue, ReasonHeader, ReasonProperty,
	} {
		require.Contains(t, string(docs), "`"+reason+"`")
	}
}
