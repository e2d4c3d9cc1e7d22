package recordbatch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Header is a record header to write.
type Header struct {
	Key   string
	Value []byte
}

// Builder encodes records into a record batch.
type Builder struct {
	Compression kafkago.Compression
	Buf         []byte // size prefix of the record set, batch header, records
	Count       int32
	body        []byte // scratch for one record
}

// prefix is the length of the record set that the protocol puts ahead of it.
const prefix = 4

// Reset begins another batch in the same buffer.
func (b *Builder) Reset() {
	if cap(b.Buf) < prefix+headerSize {
		b.Buf = make([]byte, 0, 64<<10)
	}
	b.Buf = b.Buf[:prefix+headerSize]
	clear(b.Buf)
	b.Count = 0
}

// Size is the encoded size so far, before compression.
func (b *Builder) Size() int { return len(b.Buf) - prefix }

// Add encodes a record; nothing of it is kept.
func (b *Builder) Add(key, value []byte, headers []Header) {
	s := append(b.body[:0], 0) // attributes
	s = binary.AppendVarint(s, 0)
	s = binary.AppendVarint(s, int64(b.Count))
	s = appendVarbytes(s, key)
	s = appendVarbytes(s, value)
	s = binary.AppendVarint(s, int64(len(headers)))
	for _, h := range headers {
		s = binary.AppendVarint(s, int64(len(h.Key)))
		s = append(s, h.Key...)
		s = appendVarbytes(s, h.Value)
	}
	b.body = s
	b.Buf = binary.AppendVarint(b.Buf, int64(len(s)))
	b.Buf = append(b.Buf, s...)
	b.Count++
}

func appendVarbytes(s, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(s, -1)
	}
	s = binary.AppendVarint(s, int64(len(v)))
	return append(s, v...)
}

// Finish closes the batch and returns it with its size prefix, ready for a produce request. The slice is the builder's
// until Reset. now becomes the timestamp of all its records.
func (b *Builder) Finish(now time.Time) ([]byte, error) {
	if codec := b.Compression.Codec(); codec != nil {
		var out sliceWriter
		out.b = make([]byte, prefix+headerSize, len(b.Buf)/2+prefix+headerSize)
		w := codec.NewWriter(&out)
		if _, err := w.Write(b.Buf[prefix+headerSize:]); err != nil {
			return nil, fmt.Errorf("kafka: %s: %w", codec.Name(), err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("kafka: %s: %w", codec.Name(), err)
		}
		b.Buf = out.b
	}
	binary.BigEndian.PutUint32(b.Buf, uint32(len(b.Buf)-prefix))
	h := b.Buf[prefix:]
	ms := uint64(now.UnixMilli())
	binary.BigEndian.PutUint32(h[offLength:], uint32(len(h)-offLeader))
	binary.BigEndian.PutUint32(h[offLeader:], ^uint32(0))
	h[offMagic] = 2
	binary.BigEndian.PutUint16(h[offAttributes:], uint16(b.Compression))
	binary.BigEndian.PutUint32(h[offLastDelta:], uint32(b.Count-1))
	binary.BigEndian.PutUint64(h[offFirstTime:], ms)
	binary.BigEndian.PutUint64(h[offMaxTime:], ms)
	// No producer: neither idempotent nor transactional.
	binary.BigEndian.PutUint64(h[offProducer:], ^uint64(0))
	binary.BigEndian.PutUint16(h[offEpoch:], ^uint16(0))
	binary.BigEndian.PutUint32(h[offSequence:], ^uint32(0))
	binary.BigEndian.PutUint32(h[offCount:], uint32(b.Count))
	binary.BigEndian.PutUint32(h[offCRC:], crc32.Checksum(h[offAttributes:], castagnoli))
	return b.Buf, nil
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// Stamp writes what makes a record batch transactional, and its checksum.
func Stamp(raw []byte, producer int64, epoch int16, seq int32) {
	h := raw[prefix:]
	attributes := binary.BigEndian.Uint16(h[offAttributes:]) | attrTransactional
	binary.BigEndian.PutUint16(h[offAttributes:], attributes)
	binary.BigEndian.PutUint64(h[offProducer:], uint64(producer))
	binary.BigEndian.PutUint16(h[offEpoch:], uint16(epoch))
	binary.BigEndian.PutUint32(h[offSequence:], uint32(seq))
	binary.BigEndian.PutUint32(h[offCRC:], crc32.Checksum(h[offAttributes:], castagnoli))
}
