package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka/internal/wire"
)

// Decompressor expands the records of compressed batches, up to a limit. It allocates no more than about twice the
// limit, whatever a batch claims about itself: producers may be hostile, and brokers need not look inside. It is
// safe for concurrent use.
type Decompressor struct {
	limit int
	zstd  func() (*zstd.Decoder, error) // made with the first use
}

// minWindow is the window that every zstd decoder must support (RFC 8878, section 3.1.1.1.2).
const minWindow = 8 << 20

// NewDecompressor returns a decompressor with a limit in bytes on what one batch expands to.
func NewDecompressor(limit int) *Decompressor {
	return &Decompressor{limit: limit, zstd: sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(max(limit, minWindow))))
	})}
}

// expand returns src decompressed. The error is ErrExpansion or ErrDamaged.
func (d *Decompressor) expand(kind kafkago.Compression, src []byte) (out []byte, err error) {
	switch kind {
	case kafkago.Snappy:
		out, err = d.snappy(src)
	case kafkago.Zstd:
		var dec *zstd.Decoder
		if dec, err = d.zstd(); err != nil {
			return nil, fmt.Errorf("kafka: zstd: %w", err)
		}
		out, err = dec.DecodeAll(src, nil)
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
			err = ErrExpansion
		}
	case kafkago.Gzip, kafkago.Lz4:
		out, err = d.stream(kind, src)
	default:
		return nil, fmt.Errorf("%w: unknown compression %d", ErrDamaged, kind)
	}
	switch {
	case errors.Is(err, ErrExpansion) || err == nil && len(out) > d.limit:
		return nil, fmt.Errorf("%w of %d bytes", ErrExpansion, d.limit)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %v", ErrDamaged, kind, err)
	}
	return out, nil
}

// stream expands formats whose decoders need little memory themselves.
func (d *Decompressor) stream(kind kafkago.Compression, src []byte) ([]byte, error) {
	r := kind.Codec().NewReader(bytes.NewReader(src))
	defer func() { _ = r.Close() }() // nothing is lost with a reader
	var out bytes.Buffer
	out.Grow(min(4*len(src), d.limit) + bytes.MinRead)
	_, err := out.ReadFrom(io.LimitReader(r, int64(d.limit)+1))
	return out.Bytes(), err
}

// xerialMagic begins the framing that Java clients put around snappy blocks; other clients send one bare block.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeader = 16 // magic, version, compatible version

func (d *Decompressor) snappy(src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return d.snappyBlock(nil, src)
	}
	if len(src) < xerialHeader {
		return nil, wire.ErrShort
	}
	var out []byte
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, wire.ErrShort
		}
		n := int64(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > int64(len(src)) {
			return nil, wire.ErrShort
		}
		var err error
		if out, err = d.snappyBlock(out, src[:n]); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return out, nil
}

// snappyBlock appends a block's content to dst.
func (d *Decompressor) snappyBlock(dst, block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if n > d.limit-len(dst) {
		return nil, ErrExpansion
	}
	out, err := snappy.Decode(nil, block)
	if dst == nil {
		return out, err
	}
	return append(dst, out...), err
}
