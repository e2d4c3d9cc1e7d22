package wire

import (
	"encoding/binary"
	"errors"
)

// ErrShort: a message ends before its content does.
var ErrShort = errors.New("message is cut short")

// Reader reads big-endian fields; after the first error it returns zeros.
type Reader struct {
	B   []byte
	Err error
}

// Bytes takes the next n bytes, without a copy.
func (w *Reader) Bytes(n int) []byte {
	if w.Err != nil || n < 0 || n > len(w.B) {
		if w.Err == nil {
			w.Err = ErrShort
		}
		return nil
	}
	out := w.B[:n:n]
	w.B = w.B[n:]
	return out
}

// Int16 reads 16 bits.
func (w *Reader) Int16() int16 {
	if b := w.Bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int32 reads 32 bits.
func (w *Reader) Int32() int32 {
	if b := w.Bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads 64 bits.
func (w *Reader) Int64() int64 {
	if b := w.Bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Varint reads a zigzag-encoded integer as records hold them.
func (w *Reader) Varint() int64 {
	if w.Err != nil {
		return 0
	}
	v, n := binary.Varint(w.B)
	if n <= 0 {
		w.Err = ErrShort
		return 0
	}
	w.B = w.B[n:]
	return v
}

// Varbytes reads a length and as many bytes; nil when the length is -1.
func (w *Reader) Varbytes() []byte {
	n := w.Varint()
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(w.B)) {
		if w.Err == nil {
			w.Err = ErrShort
		}
		return nil
	}
	b := w.Bytes(int(n))
	if b == nil {
		b = []byte{}
	}
	return b
}

// Compact reads the length of an array or a string as flexible versions write it; a nil one is 0.
func (w *Reader) Compact() int {
	v := w.uvarint()
	if v > uint64(len(w.B))+1 {
		w.Err = ErrShort
		return 0
	}
	return int(max(v, 1)) - 1
}

// CompactBytes reads a string of a flexible version.
func (w *Reader) CompactBytes() []byte { return w.Bytes(w.Compact()) }

// Tags passes over tagged fields.
func (w *Reader) Tags() {
	for range w.uvarint() {
		w.uvarint()
		w.Bytes(int(min(w.uvarint(), 1<<30)))
		if w.Err != nil {
			return
		}
	}
}

func (w *Reader) uvarint() uint64 {
	if w.Err != nil {
		return 0
	}
	v, n := binary.Uvarint(w.B)
	if n <= 0 {
		w.Err = ErrShort
		return 0
	}
	w.B = w.B[n:]
	return v
}
