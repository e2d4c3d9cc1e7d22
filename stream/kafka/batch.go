package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	kafkago "github.com/segmentio/kafka-go"
)

// Layout of a record batch, format version 2 (Kafka 0.11 and later): a header of 61 bytes, then the records, which are
// compressed together when the attributes say so. The CRC covers everything from the attributes on.
const (
	offLength     = 8  // bytes after this field
	offLeader     = 12 // leader epoch
	offMagic      = 16
	offCRC        = 17
	offAttributes = 21
	offLastDelta  = 23 // last offset, relative to the first
	offFirstTime  = 27
	offMaxTime    = 35
	offProducer   = 43
	offEpoch      = 51
	offSequence   = 53
	offCount      = 57
	headerSize    = 61

	attrCompression   = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errExpansion: a compressed batch expands beyond the limit.
var errExpansion = errors.New("compressed record batch expands beyond the limit")

// errDamaged: the content of a batch contradicts its checksum or itself. Its extent may still be known.
var errDamaged = errors.New("damaged record batch")

// recordBatch is a record batch with its header read.
type recordBatch struct {
	raw         []byte
	first, last int64 // offsets
	leader      int32 // epoch; -1 is not known
	attributes  int16
	firstTime   int64
	maxTime     int64
	producer    int64
	count       int32
}

func (b *recordBatch) control() bool       { return b.attributes&attrControl != 0 }
func (b *recordBatch) transactional() bool { return b.attributes&attrTransactional != 0 }

// nextBatch splits the first record batch off data. ok is false when data holds no whole batch.
func nextBatch(data []byte) (b recordBatch, rest []byte, ok bool, err error) {
	if len(data) < offMagic+1 {
		return b, nil, false, nil
	}
	size := int64(binary.BigEndian.Uint32(data[offLength:])) + offLeader
	if magic := data[offMagic]; magic != 2 {
		return b, nil, false, permanent{
			fmt.Errorf("message format version %d (written before Kafka 0.11) is not supported", magic),
		}
	}
	if size > int64(len(data)) {
		return b, nil, false, nil
	}
	if size < headerSize {
		return b, nil, false, fmt.Errorf("%w: length %d", errDamaged, size)
	}
	raw := data[:size:size]
	b = recordBatch{
		raw:        raw,
		first:      int64(binary.BigEndian.Uint64(raw)),
		leader:     int32(binary.BigEndian.Uint32(raw[offLeader:])),
		attributes: int16(binary.BigEndian.Uint16(raw[offAttributes:])),
		firstTime:  int64(binary.BigEndian.Uint64(raw[offFirstTime:])),
		maxTime:    int64(binary.BigEndian.Uint64(raw[offMaxTime:])),
		producer:   int64(binary.BigEndian.Uint64(raw[offProducer:])),
		count:      int32(binary.BigEndian.Uint32(raw[offCount:])),
	}
	delta := int32(binary.BigEndian.Uint32(raw[offLastDelta:]))
	b.last = b.first + int64(delta)
	if b.first < 0 || delta < 0 {
		return b, nil, false, fmt.Errorf("%w: offsets %d to %d", errDamaged, b.first, b.last)
	}
	return b, data[size:], true, nil
}

// payload verifies the checksum and returns the records' bytes, decompressed.
func (b *recordBatch) payload(d *decompressor) ([]byte, error) {
	if want, got := binary.BigEndian.Uint32(
		b.raw[offCRC:],
	), crc32.Checksum(
		b.raw[offAttributes:],
		castagnoli,
	); want != got {
		return nil, fmt.Errorf("%w: checksum is %08x, header says %08x", errDamaged, got, want)
	}
	kind := kafkago.Compression(b.attributes & attrCompression)
	if kind == 0 {
		return b.raw[headerSize:], nil
	}
	return d.expand(kind, b.raw[headerSize:])
}

// record is one record of a batch; its slices point into the batch's payload.
type record struct {
	offset     int64
	time       int64 // milliseconds since the epoch
	key, value []byte
	headers    []byte // encoded, with their count ahead
}

// records calls f with each record of the batch's payload, in order.
func (b *recordBatch) records(payload []byte, f func(r *record) error) error {
	w := wire{b: payload}
	prev := b.first - 1
	for i := range b.count {
		body := wire{b: w.varbytes()}
		body.bytes(1) // attributes, unused
		r := record{time: b.firstTime + body.varint(), offset: b.first + body.varint()}
		r.key, r.value = body.varbytes(), body.varbytes()
		r.headers = body.b
		if w.err != nil || body.err != nil {
			return fmt.Errorf("%w: record %d of %d is cut short", errDamaged, i, b.count)
		}
		if r.offset <= prev || r.offset > b.last {
			return fmt.Errorf("%w: record %d has offset %d after %d in a batch up to %d", errDamaged, i, r.offset, prev, b.last)
		}
		prev = r.offset
		if b.attributes&attrLogAppendTime != 0 {
			r.time = b.maxTime
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	return nil
}

// eachHeader calls f with each header of a record.
func (r *record) eachHeader(f func(key, value []byte)) error {
	w := wire{b: r.headers}
	for range w.varint() {
		k, v := w.varbytes(), w.varbytes()
		if w.err != nil {
			return fmt.Errorf("%w: headers of offset %d", errDamaged, r.offset)
		}
		f(k, v)
	}
	return w.err
}

// abortMarker tells whether a control batch ends its producer's transaction by an abort.
func (b *recordBatch) abortMarker(payload []byte) (bool, error) {
	abort := false
	err := b.records(payload, func(r *record) error {
		// key: version int16, type int16; type 0 is abort, 1 commit
		abort = len(r.key) >= 4 && binary.BigEndian.Uint16(r.key[2:]) == 0
		return nil
	})
	return abort, err
}
