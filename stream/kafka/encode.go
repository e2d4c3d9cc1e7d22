package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// header is a record header to write.
type header struct {
	key   string
	value []byte
}

// batchBuilder encodes records into a record batch.
type batchBuilder struct {
	compression kafkago.Compression
	buf         []byte // size prefix of the record set, batch header, records
	count       int32
	body        []byte // scratch for one record
}

// prefix is the length of the record set that the protocol puts ahead of it.
const prefix = 4

func (b *batchBuilder) reset() {
	if cap(b.buf) < prefix+headerSize {
		b.buf = make([]byte, 0, 64<<10)
	}
	b.buf = b.buf[:prefix+headerSize]
	clear(b.buf)
	b.count = 0
}

// size is the encoded size so far, before compression.
func (b *batchBuilder) size() int { return len(b.buf) - prefix }

// add encodes a record; nothing of it is kept.
func (b *batchBuilder) add(key, value []byte, headers []header) {
	s := append(b.body[:0], 0) // attributes
	s = binary.AppendVarint(s, 0)
	s = binary.AppendVarint(s, int64(b.count))
	s = appendVarbytes(s, key)
	s = appendVarbytes(s, value)
	s = binary.AppendVarint(s, int64(len(headers)))
	for _, h := range headers {
		s = binary.AppendVarint(s, int64(len(h.key)))
		s = append(s, h.key...)
		s = appendVarbytes(s, h.value)
	}
	b.body = s
	b.buf = binary.AppendVarint(b.buf, int64(len(s)))
	b.buf = append(b.buf, s...)
	b.count++
}

func appendVarbytes(s, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(s, -1)
	}
	s = binary.AppendVarint(s, int64(len(v)))
	return append(s, v...)
}

// finish closes the batch and returns it with its size prefix, ready for RawProduce. The slice is the builder's until
// reset. now becomes the timestamp of all its records.
func (b *batchBuilder) finish(now time.Time) ([]byte, error) {
	if codec := b.compression.Codec(); codec != nil {
		var out sliceWriter
		out.b = make([]byte, prefix+headerSize, len(b.buf)/2+prefix+headerSize)
		w := codec.NewWriter(&out)
		if _, err := w.Write(b.buf[prefix+headerSize:]); err != nil {
			return nil, fmt.Errorf("kafka: %s: %w", codec.Name(), err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("kafka: %s: %w", codec.Name(), err)
		}
		b.buf = out.b
	}
	binary.BigEndian.PutUint32(b.buf, uint32(len(b.buf)-prefix))
	h := b.buf[prefix:]
	ms := uint64(now.UnixMilli())
	binary.BigEndian.PutUint32(h[offLength:], uint32(len(h)-offLeader))
	binary.BigEndian.PutUint32(h[offLeader:], ^uint32(0))
	h[offMagic] = 2
	binary.BigEndian.PutUint16(h[offAttributes:], uint16(b.compression))
	binary.BigEndian.PutUint32(h[offLastDelta:], uint32(b.count-1))
	binary.BigEndian.PutUint64(h[offFirstTime:], ms)
	binary.BigEndian.PutUint64(h[offMaxTime:], ms)
	// No producer: neither idempotent nor transactional.
	binary.BigEndian.PutUint64(h[offProducer:], ^uint64(0))
	binary.BigEndian.PutUint16(h[offEpoch:], ^uint16(0))
	binary.BigEndian.PutUint32(h[offSequence:], ^uint32(0))
	binary.BigEndian.PutUint32(h[offCount:], uint32(b.count))
	binary.BigEndian.PutUint32(h[offCRC:], crc32.Checksum(h[offAttributes:], castagnoli))
	return b.buf, nil
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
