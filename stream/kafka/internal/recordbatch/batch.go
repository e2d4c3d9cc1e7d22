package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka/internal/wire"
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

	AttrCompression   = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrExpansion: a compressed batch expands beyond the limit.
var ErrExpansion = errors.New("compressed record batch expands beyond the limit")

// ErrDamaged: the content of a batch contradicts its checksum or itself. Its extent may still be known.
var ErrDamaged = errors.New("damaged record batch")

// VersionError: a record batch has another format than version 2.
type VersionError struct{ Magic byte }

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("message format version %d (written before Kafka 0.11) is not supported", e.Magic)
}

// Batch is a record batch with its header read.
type Batch struct {
	Raw         []byte
	First, Last int64 // offsets
	Leader      int32 // epoch; -1 is not known
	Attributes  int16
	firstTime   int64
	MaxTime     int64
	Producer    int64
	count       int32
}

// Control tells whether the batch holds a marker that ends a transaction.
func (b *Batch) Control() bool { return b.Attributes&attrControl != 0 }

// Transactional tells whether the batch is part of a transaction.
func (b *Batch) Transactional() bool { return b.Attributes&attrTransactional != 0 }

// ProducerEpoch is the epoch of the batch's producer.
func (b *Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b.Raw[offEpoch:])) }

// Next splits the first record batch off data. ok is false when data holds no whole batch.
func Next(data []byte) (b Batch, rest []byte, ok bool, err error) {
	if len(data) < offMagic+1 {
		return b, nil, false, nil
	}
	size := int64(binary.BigEndian.Uint32(data[offLength:])) + offLeader
	if magic := data[offMagic]; magic != 2 {
		return b, nil, false, &VersionError{magic}
	}
	if size > int64(len(data)) {
		return b, nil, false, nil
	}
	if size < headerSize {
		return b, nil, false, fmt.Errorf("%w: length %d", ErrDamaged, size)
	}
	raw := data[:size:size]
	b = Batch{
		Raw:        raw,
		First:      int64(binary.BigEndian.Uint64(raw)),
		Leader:     int32(binary.BigEndian.Uint32(raw[offLeader:])),
		Attributes: int16(binary.BigEndian.Uint16(raw[offAttributes:])),
		firstTime:  int64(binary.BigEndian.Uint64(raw[offFirstTime:])),
		MaxTime:    int64(binary.BigEndian.Uint64(raw[offMaxTime:])),
		Producer:   int64(binary.BigEndian.Uint64(raw[offProducer:])),
		count:      int32(binary.BigEndian.Uint32(raw[offCount:])),
	}
	delta := int32(binary.BigEndian.Uint32(raw[offLastDelta:]))
	b.Last = b.First + int64(delta)
	if b.First < 0 || delta < 0 {
		return b, nil, false, fmt.Errorf("%w: offsets %d to %d", ErrDamaged, b.First, b.Last)
	}
	return b, data[size:], true, nil
}

// Payload verifies the checksum and returns the records' bytes, decompressed.
func (b *Batch) Payload(d *Decompressor) ([]byte, error) {
	if want, got := binary.BigEndian.Uint32(
		b.Raw[offCRC:],
	), crc32.Checksum(
		b.Raw[offAttributes:],
		castagnoli,
	); want != got {
		return nil, fmt.Errorf("%w: checksum is %08x, header says %08x", ErrDamaged, got, want)
	}
	kind := kafkago.Compression(b.Attributes & AttrCompression)
	if kind == 0 {
		return b.Raw[headerSize:], nil
	}
	return d.expand(kind, b.Raw[headerSize:])
}

// Record is one record of a batch; its slices point into the batch's payload.
type Record struct {
	Offset     int64
	Time       int64 // milliseconds since the epoch
	Key, Value []byte
	headers    []byte // encoded, with their count ahead
}

// Records calls f with each record of the batch's payload, in order.
func (b *Batch) Records(payload []byte, f func(r *Record) error) error {
	w := wire.Reader{B: payload}
	prev := b.First - 1
	for i := range b.count {
		body := wire.Reader{B: w.Varbytes()}
		body.Bytes(1) // attributes, unused
		r := Record{Time: b.firstTime + body.Varint(), Offset: b.First + body.Varint()}
		r.Key, r.Value = body.Varbytes(), body.Varbytes()
		r.headers = body.B
		if w.Err != nil || body.Err != nil {
			return fmt.Errorf("%w: record %d of %d is cut short", ErrDamaged, i, b.count)
		}
		if r.Offset <= prev || r.Offset > b.Last {
			return fmt.Errorf("%w: record %d has offset %d after %d in a batch up to %d", ErrDamaged, i, r.Offset, prev,
				b.Last)
		}
		prev = r.Offset
		if b.Attributes&attrLogAppendTime != 0 {
			r.Time = b.MaxTime
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	return nil
}

// EachHeader calls f with each header of a record.
func (r *Record) EachHeader(f func(key, value []byte)) error {
	w := wire.Reader{B: r.headers}
	for range w.Varint() {
		k, v := w.Varbytes(), w.Varbytes()
		if w.Err != nil {
			return fmt.Errorf("%w: headers of offset %d", ErrDamaged, r.Offset)
		}
		f(k, v)
	}
	return w.Err
}

// AbortMarker tells whether a control batch ends its producer's transaction by an abort.
func (b *Batch) AbortMarker(payload []byte) (bool, error) {
	abort := false
	err := b.Records(payload, func(r *Record) error {
		// key: version int16, type int16; type 0 is abort, 1 commit
		abort = len(r.Key) >= 4 && binary.BigEndian.Uint16(r.Key[2:]) == 0
		return nil
	})
	return abort, err
}
