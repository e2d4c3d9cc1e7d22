package codec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// benchObject is a payment as the example has it.
func benchObject(i int) string {
	return fmt.Sprintf(
		`{"op":"+","from":"acct-%07d","to":"acct-%07d","label":"TRANSFER","from_label":"Account",`+
			`"to_label":"Account","id":"tx-%09d","ts":%d}`,
		i*7919%100000,
		i*104729%100000,
		i,
		1700000000000+i,
	)
}

func benchDecode(b *testing.B, format string, opt DecoderOptions, recs []stream.Record, each int) {
	d, err := NewDecoder(format, opt)
	if err != nil {
		b.Fatal(err)
	}
	var dst []dyngraph.Update
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if dst, err = d.Decode(recs[n%len(recs)], dst[:0]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n*each)/b.Elapsed().Seconds(), "updates/s")
}

func BenchmarkDecodeJSON(b *testing.B) {
	const each = 100
	var arrays, single, props []stream.Record
	for i := range 1000 {
		var parts []string
		for j := range each {
			parts = append(parts, benchObject(i*each+j))
		}
		arrays = append(arrays, stream.Record{Value: []byte("[" + strings.Join(parts, ",") + "]")})
		single = append(single, stream.Record{Value: []byte(parts[0])})
		o := strings.TrimSuffix(parts[0], "}") + `, "props": {"amount": 12.5, "currency": "EUR", "channel": "web"}}`
		props = append(props, stream.Record{Value: []byte(o)})
	}
	b.Run("array", func(b *testing.B) { benchDecode(b, FormatJSON, DecoderOptions{}, arrays, each) })
	b.Run("single", func(b *testing.B) { benchDecode(b, FormatJSON, DecoderOptions{}, single, 1) })
	b.Run("props", func(b *testing.B) { benchDecode(b, FormatJSON, DecoderOptions{}, props, 1) })
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			var u []looseUpdate
			if err := json.Unmarshal(arrays[n%len(arrays)].Value, &u); err != nil {
				b.Fatal(err)
			}
			n++
		}
		b.ReportMetric(float64(n*each)/b.Elapsed().Seconds(), "updates/s")
	})
}

func BenchmarkDecodeCSV(b *testing.B) {
	m, err := ParseMapping("from=src,to=dst,label='TRANSFER',ts=time,id=id")
	if err != nil {
		b.Fatal(err)
	}
	header := []byte("src,dst,amount,time,id")
	var recs []stream.Record
	for i := range 10000 {
		recs = append(
			recs,
			stream.Record{Header: header, Value: fmt.Appendf(nil, "%d,%d,147.8,%d,tx-%d", i*7919%100000,
				i*104729%100000, i, i)},
		)
	}
	benchDecode(b, FormatCSV, DecoderOptions{Mapping: m}, recs, 1)
}

func BenchmarkDecodeText(b *testing.B) {
	var recs []stream.Record
	for i := range 10000 {
		recs = append(recs, stream.Record{Value: fmt.Appendf(nil, "e %d %d 0", i*7919%100000, i*104729%100000)})
	}
	benchDecode(b, FormatText, DecoderOptions{}, recs, 1)
}

func BenchmarkEncode(b *testing.B) {
	const rows = 256
	g, q, row := ringGraph(b, true)
	ev := ringEvent(g, q, row, rows)
	b.Run("ring3", func(b *testing.B) { benchEncode(b, ev, rows) })
	b.Run("declared", func(b *testing.B) {
		g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: payments})
		q := ring3(true)
		var us []dyngraph.Update
		for i := range 3 {
			us = append(us, decodeOne(b, FormatJSON, DecoderOptions{Schema: payments}, fmt.Sprintf(`{"op":"+",`+
				`"from":"acc-000000%d","to":"acc-000000%d","label":"PAY","ts":%d,"props":{"n":%d,"amount":"12.50"}}`,
				i, (i+1)%3, 1700000000000+i, i)))
			q.Edges[i].Label = "PAY"
		}
		apply(b, g, us...)
		g.Commit()
		row := rowOf(b, g.View(dyngraph.New), q, []string{us[0].From, us[1].From, us[2].From})
		benchEncode(b, ringEvent(g, q, row, rows), rows)
	})
	b.Run("match_id", func(b *testing.B) {
		var s scratch
		if err := s.load(q, ev.View, true, row); err != nil {
			b.Fatal(err)
		}
		identity := appendIdentity(nil, q, false)
		for b.Loop() {
			s.matchID(identity, 3, 3)
		}
	})
}

// ringEvent returns an event with one match many times.
func ringEvent(g *dyngraph.Graph, q *matcher.Query, row []uint32, rows int) *matcher.Event {
	ev := &matcher.Event{
		Kind:  matcher.EventMatches,
		Query: q,
		Sign:  dyngraph.Inserted,
		View:  g.View(dyngraph.New),
		Anchor: &dyngraph.Update{
			Op:   dyngraph.InsertEdge,
			Pos:  dyngraph.Position{Offset: 12345},
			Attr: dyngraph.Attr{TS: 1700000000000, HasTS: true},
		},
		Rows: matcher.Rows{Vertices: 3, Edges: 3},
	}
	for range rows {
		ev.Rows.Data = append(ev.Rows.Data, row...)
	}
	return ev
}

func benchEncode(b *testing.B, ev *matcher.Event, rows int) {
	e := NewEncoder(EncoderOptions{StreamID: "0123456789abcdef"})
	var dst []stream.OutRecord
	var err error
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if dst, err = e.Append(dst[:0], ev, 0, rows); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.SetBytes(int64(len(dst[0].Value)) * int64(rows))
	b.ReportMetric(float64(n*rows)/b.Elapsed().Seconds(), "records/s")
}
