package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"motifd/stream"
)

// DeadLetter implements stream.Encoder: position, reason, error, and the record itself, as a string when it is valid
// UTF-8 and in base64 otherwise. The record's key is the input record's.
func (e *Encoder) DeadLetter(d stream.DeadLetter) (stream.OutRecord, error) {
	b := make([]byte, 0, 192+len(d.Error)+len(d.Key)+len(d.Value)*3/2)
	b = appendString(append(b, `{"stream":`...), e.opt.StreamID)
	b = strconv.AppendInt(append(b, `,"partition":`...), int64(d.Partition), 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), d.Offset, 10)
	if d.Element >= 0 {
		b = strconv.AppendInt(append(b, `,"element":`...), int64(d.Element), 10)
	}
	b = appendString(append(b, `,"reason":`...), d.Reason)
	b = appendString(append(b, `,"error":`...), d.Error)
	b = strconv.AppendInt(append(b, `,"size":`...), int64(d.Size), 10)
	if d.Key != nil {
		b = appendBytes(b, "key", d.Key)
	}
	value := d.Value
	if d.Size > len(value) {
		value = wholeRunes(value)
	}
	b = appendBytes(b, "value", value)
	b = append(b, '}')
	return stream.OutRecord{Key: d.Key, Value: b}, nil
}

// wholeRunes drops the character that cutting left incomplete at the end, so that text stays text.
func wholeRunes(b []byte) []byte {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// appendBytes appends a member that holds bytes: NAME as a string, or NAME_base64.
func appendBytes(b []byte, name string, value []byte) []byte {
	b = append(append(b, `,"`...), name...)
	if utf8.Valid(value) {
		return appendString(append(b, `":`...), string(value))
	}
	b = append(b, `_base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, value)
	return append(b, '"')
}

// BatchRecord implements stream.Encoder. The record's key is the stream id, so that a stream's batches stay in order.
func (e *Encoder) BatchRecord(r *stream.BatchReport) (stream.OutRecord, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return stream.OutRecord{}, fmt.Errorf("encode the record of batch %d: %w", r.Batch, err)
	}
	return stream.OutRecord{Key: []byte(r.Stream), Value: b, Batch: r.Batch}, nil
}
