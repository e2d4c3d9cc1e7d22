package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// ErrDamaged is wrapped by every error that tells that stored bytes are not what was written.
var ErrDamaged = errors.New("checkpoint is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// codecVersion is the first byte of every checksummed value that is written, but for those with event time
// (timeVersion), those about a change of the declared properties (declareVersion), and those about what queries with
// once remember (onceVersion) or about matches that changed (changedVersion). Values of version 1 are read.
const codecVersion = 2

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withChecksum closes a value that began with codecVersion: a CRC-32C over the key and the value follows it. Pebble's
// block checksums tell what the disk did to a value; this tells that the value belongs to the key and was written
// whole.
func withChecksum(key, value []byte) []byte {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
	return binary.LittleEndian.AppendUint32(value, sum)
}

// verified checks a checksummed value and returns a decoder of what it holds.
func verified(key, value []byte) (*decoder, error) {
	if len(value) < 5 {
		return nil, damaged("the value of %q is %d bytes long", key, len(value))
	}
	body := value[:len(value)-4]
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
	if sum != binary.LittleEndian.Uint32(value[len(body):]) {
		return nil, damaged("the checksum of %q does not match", key)
	}
	if body[0] < 1 || body[0] > changedVersion {
		return nil, damaged("the value of %q has version %d; versions up to %d are known", key, body[0],
			changedVersion)
	}
	return &decoder{b: body[1:], version: body[0]}, nil
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads a value. After the first failure every read returns zero and bad stays set; finish tells.
type decoder struct {
	b       []byte
	version byte // of the checksummed value
	bad     bool
}

func (d *decoder) fail() {
	d.bad = true
	d.b = nil
}

// finish reports whether the value was read to its end without failure.
func (d *decoder) finish(what string) error {
	if d.bad {
		return damaged("%s cannot be decoded", what)
	}
	if len(d.b) != 0 {
		return damaged("%s has %d bytes too many", what, len(d.b))
	}
	return nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

func (d *decoder) int32() int32 {
	v := d.varint()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail()
		return 0
	}
	return int32(v)
}

func (d *decoder) int() int {
	v := d.uvarint()
	if v > math.MaxInt {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail()
	}
	return v == 1
}

func (d *decoder) uint64() uint64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return v
}

// count reads the number of elements that follow, each of at least min bytes, so that a damaged count cannot ask for
// more memory than the value could fill.
func (d *decoder) count(min int) int {
	v := d.uvarint()
	if v > uint64(len(d.b)/min) {
		d.fail()
		return 0
	}
	return int(v)
}

// raw reads a length-prefixed run of bytes, borrowed from the value.
func (d *decoder) raw() []byte {
	n := d.count(1)
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.raw()) }

// bytes reads a length-prefixed run of bytes into memory of its own; an empty one is nil.
func (d *decoder) bytes() []byte { return append([]byte(nil), d.raw()...) }
