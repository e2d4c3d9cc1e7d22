package codec

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// appendNotice encodes what a limit has left out of the output (DESIGN S11): a record with "op":"!" in the place of
// what is not there.
func (e *Encoder) appendNotice(dst []stream.OutRecord, ev *matcher.Event) ([]stream.OutRecord, error) {
	f, n := e.form(ev.Query), &ev.Notice
	b := make([]byte, 0, len(e.head)+len(f.query)+256)
	b = strconv.AppendUint(append(b, e.head...), ev.Batch, 10)
	b = strconv.AppendUint(append(b, `,"index":`...), ev.FirstIndex, 10)
	b = append(b, f.query...)
	b = append(b, `!","reason":"`...)
	b = append(append(b, n.Reason...), `","sign":"`...)
	b = append(b, signByte(ev.Sign), '"')
	if n.Cause != matcher.NoCause {
		b = append(append(append(b, `,"limit":"`...), n.Cause.String()...), '"')
	}
	if n.Rest {
		b = append(b, `,"rest":true`...)
	}
	if ev.Snapshot {
		b = append(b, `,"snapshot":true`...)
	}
	key := ev.Query.Name
	if e.opt.Upsert {
		key = "!" + key + "/" + strconv.FormatUint(ev.Query.Version, 10)
	}
	if ev.AnchorEdge != nil {
		at := len(b)
		b = appendEdge(append(b, `,"edge":`...), ev)
		// each holds until the matches of its edge are announced anew
		if e.opt.Upsert && n.Reason == matcher.ReasonEnded {
			key += "/" + string(b[at+len(`,"edge":`):])
		}
	}
	b = append(appendAnchor(b, ev.Anchor), '}')
	return append(dst, stream.OutRecord{Key: []byte(key), Value: b, Batch: ev.Batch, Index: ev.FirstIndex,
		Query: ev.Query.Name, Sign: ev.Sign, Snapshot: ev.Snapshot, Notice: true}), nil
}

// appendEdge appends the anchor's edge, as a match shows its edges.
func appendEdge(b []byte, ev *matcher.Event) []byte {
	v := ev.View
	from, to := ev.AnchorEdge.From, ev.AnchorEdge.To
	if !v.Graph().Directed() && v.Key(from) > v.Key(to) {
		from, to = to, from
	}
	b = appendString(append(b, `{"from":`...), v.Key(from))
	b = appendString(append(b, `,"to":`...), v.Key(to))
	if label := ev.AnchorEdge.Label; label != dyngraph.NoLabel {
		b = appendString(append(b, `,"label":`...), v.LabelName(label))
	}
	return append(b, '}')
}
