package codec

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// appendNotice encodes a notice of records that a limit has left out of the output (DESIGN S11): a record with "op":"!"
// in their place.
func (e *Encoder) appendNotice(dst []stream.OutRecord, ev *matcher.Event) ([]stream.OutRecord, error) {
	f, n := e.form(ev.Query), &ev.Notice
	b := make([]byte, 0, len(e.head)+len(f.query)+256)
	b = strconv.AppendUint(append(b, e.head...), ev.Batch, 10)
	b = strconv.AppendUint(append(b, `,"index":`...), ev.FirstIndex, 10)
	b = append(b, f.query...)
	b = append(b, `!","reason":"`...)
	b = append(append(b, n.Reason...), `","sign":"`...)
	b = append(append(b, ev.Sign.String()...), '"')
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
		if ev.AnchorEdge.Vertex {
			b = append(b, `,"vertex":`...)
		} else {
			b = append(b, `,"edge":`...)
		}
		element := len(b)
		b = appendElement(b, ev)
		// each holds until the matches of its element are announced anew
		if e.opt.Upsert && n.Reason == matcher.ReasonEnded {
			key += "/" + string(b[element:])
		}
	}
	b = append(appendAnchor(b, ev.Anchor), '}')
	return append(dst, stream.OutRecord{Key: []byte(key), Value: b, Batch: ev.Batch, Index: ev.FirstIndex,
		Query: ev.Query.Name, Sign: ev.Sign, Snapshot: ev.Snapshot, Notice: true}), nil
}

// appendElement appends the anchor's edge, or its revised vertex, as a match shows it, properties left out.
func appendElement(b []byte, ev *matcher.Event) []byte {
	v := ev.View
	if ev.AnchorEdge.Vertex {
		id := ev.AnchorEdge.From
		b = appendString(append(b, `{"key":`...), v.Key(id))
		return append(appendLabel(b, v.LabelName(v.Label(id))), '}')
	}
	from, to := ev.AnchorEdge.From, ev.AnchorEdge.To
	if !v.Graph().Directed() && v.Key(from) > v.Key(to) {
		from, to = to, from
	}
	b = appendString(append(b, `{"from":`...), v.Key(from))
	b = appendString(append(b, `,"to":`...), v.Key(to))
	if label := ev.AnchorEdge.Label; label != dyngraph.NoLabel {
		b = appendString(append(b, `,"label":`...), v.LabelName(label))
	}
	if id := v.ID(ev.AnchorEdge.Edge); id != "" {
		b = appendString(append(b, `,"id":`...), id)
	}
	return append(b, '}')
}
