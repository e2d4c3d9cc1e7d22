package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/stretchr/testify/require"

	"motifd/stream/kafka/internal/wire"
)

// encodeBatch returns a batch as it lies in a log, without the size prefix.
func encodeBatch(t testing.TB, compression kafkago.Compression, values ...[]byte) []byte {
	t.Helper()
	b := &Builder{Compression: compression}
	b.Reset()
	for _, v := range values {
		b.Add([]byte("key"), v, []Header{{"h", []byte("x")}})
	}
	raw, err := b.Finish(time.UnixMilli(1_700_000_000_000))
	require.NoError(t, err)
	require.EqualValues(t, len(raw)-prefix, binary.BigEndian.Uint32(raw))
	return bytes.Clone(raw[prefix:])
}

func setCRC(raw []byte) {
	binary.BigEndian.PutUint32(raw[offCRC:], crc32.Checksum(raw[offAttributes:], castagnoli))
}

// TestDecodeDifferential reads batches of kafka-go's encoder, and has kafka-go read ours.
func TestDecodeDifferential(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	for compression := kafkago.Compression(0); compression <= kafkago.Zstd; compression++ {
		for range 20 {
			var want []kafkago.Record
			keys, values := map[int][]byte{}, map[int][]byte{}
			for i := range 1 + rng.IntN(50) {
				r := kafkago.Record{Time: time.UnixMilli(1_700_000_000_000 + rng.Int64N(1e6))}
				if rng.IntN(3) > 0 {
					keys[i] = make([]byte, rng.IntN(20))
					r.Key = kafkago.NewBytes(keys[i])
				}
				if rng.IntN(5) > 0 {
					values[i] = bytes.Repeat([]byte{byte(i)}, rng.IntN(200))
					r.Value = kafkago.NewBytes(values[i])
				}
				for range rng.IntN(3) {
					r.Headers = append(r.Headers, kafkago.Header{Key: "name", Value: []byte("value")})
				}
				want = append(want, r)
			}
			var buf bytes.Buffer
			set := protocol.RecordSet{
				Version:    2,
				Attributes: protocol.Attributes(compression),
				Records:    kafkago.NewRecordReader(want...),
			}
			_, err := set.WriteTo(&buf)
			require.NoError(t, err)

			b, rest, ok, err := Next(buf.Bytes()[prefix:])
			require.NoError(t, err)
			require.True(t, ok)
			require.Empty(t, rest)
			payload, err := b.Payload(NewDecompressor(1 << 20))
			require.NoError(t, err)
			i := 0
			require.NoError(t, b.Records(payload, func(r *Record) error {
				require.EqualValues(t, i, r.Offset)
				require.Equal(t, want[i].Time.UnixMilli(), r.Time)
				require.Equal(t, keys[i], r.Key)
				require.Equal(t, values[i], r.Value)
				var hs []kafkago.Header
				require.NoError(t, r.EachHeader(
					func(k, v []byte) { hs = append(hs, kafkago.Header{Key: string(k), Value: v}) }))
				require.Equal(t, want[i].Headers, hs)
				i++
				return nil
			}))
			require.Equal(t, len(want), i, "seed %d", seed)
		}

		ours := &Builder{Compression: compression}
		ours.Reset()
		ours.Add([]byte("k"), nil, nil)
		ours.Add(nil, []byte("v"), []Header{{"a", []byte("b")}})
		raw, err := ours.Finish(time.UnixMilli(1_700_000_000_123))
		require.NoError(t, err)
		var set protocol.RecordSet
		_, err = set.ReadFrom(bytes.NewReader(raw))
		require.NoError(t, err)
		r, err := set.Records.ReadRecord()
		require.NoError(t, err)
		require.Equal(t, "k", key(t, r))
		require.Nil(t, r.Value)
		require.EqualValues(t, 1_700_000_000_123, r.Time.UnixMilli())
		r, err = set.Records.ReadRecord()
		require.NoError(t, err)
		require.Nil(t, r.Key)
		require.Equal(t, []kafkago.Header{{Key: "a", Value: []byte("b")}}, r.Headers)
	}
}

// key is the key of a record that kafka-go has read.
func key(t *testing.T, r *kafkago.Record) string {
	t.Helper()
	b, err := protocol.ReadAll(r.Key)
	require.NoError(t, err)
	return string(b)
}

func TestDamagedBatch(t *testing.T) {
	good := encodeBatch(t, kafkago.Zstd, []byte("one"), []byte("two"))
	b, _, ok, err := Next(good)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = b.Payload(NewDecompressor(1 << 10))
	require.NoError(t, err)

	for i := offAttributes; i < len(good); i++ { // the checksum covers every byte from here on
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		b, _, ok, err := Next(bad)
		if err == nil && ok {
			_, err = b.Payload(NewDecompressor(1 << 10))
		}
		require.ErrorIs(t, err, ErrDamaged, "byte %d", i)
	}
	for n := range good { // cut short
		_, _, ok, err := Next(good[:n])
		require.NoError(t, err)
		require.False(t, ok)
	}
	old := bytes.Clone(good)
	old[offMagic] = 1
	_, _, _, err = Next(old)
	require.ErrorContains(t, err, "not supported")
	var version *VersionError
	require.ErrorAs(t, err, &version)
}

func TestExpansionIsBounded(t *testing.T) {
	for compression := kafkago.Gzip; compression <= kafkago.Zstd; compression++ {
		bomb := encodeBatch(t, compression, make([]byte, 8<<20))
		b, _, _, err := Next(bomb)
		require.NoError(t, err)
		_, err = b.Payload(NewDecompressor(1 << 20))
		require.ErrorIs(t, err, ErrExpansion, compression.String())
		_, err = b.Payload(NewDecompressor(9 << 20))
		require.NoError(t, err, compression.String())
	}
}

func TestLogAppendTime(t *testing.T) {
	raw := encodeBatch(t, 0, []byte("x"))
	raw[offAttributes+1] |= attrLogAppendTime
	binary.BigEndian.PutUint64(raw[offMaxTime:], 42)
	setCRC(raw)
	b, _, _, err := Next(raw)
	require.NoError(t, err)
	payload, err := b.Payload(NewDecompressor(1 << 10))
	require.NoError(t, err)
	require.NoError(t, b.Records(payload, func(r *Record) error {
		require.EqualValues(t, 42, r.Time)
		return nil
	}))
}

// TestSnappyFramings: bare blocks, as librdkafka sends them, and claims of enormous sizes.
func TestSnappyFramings(t *testing.T) {
	d := NewDecompressor(1 << 20)
	text := bytes.Repeat([]byte("ring "), 1000)
	out, err := d.expand(kafkago.Snappy, snappy.Encode(nil, text))
	require.NoError(t, err)
	require.Equal(t, text, out)
	framed := append(bytes.Clone(xerialMagic), 0, 0, 0, 1, 0, 0, 0, 1)
	for range 3 {
		block := snappy.Encode(nil, text)
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(block)))
		framed = append(framed, block...)
	}
	out, err = d.expand(kafkago.Snappy, framed)
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat(text, 3), out)
	for n := range framed[:len(framed)-1] {
		out, err = d.expand(kafkago.Snappy, framed[:n])
		require.True(t, errors.Is(err, ErrDamaged) || err == nil && len(out) < 3*len(text), "%d bytes", n)
	}
	_, err = d.expand(kafkago.Snappy, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	require.ErrorIs(t, err, ErrExpansion)
	_, err = d.expand(kafkago.Snappy, append(framed[:xerialHeader:xerialHeader], 0xff, 0xff, 0xff, 0xff))
	require.ErrorIs(t, err, ErrDamaged)
	_, err = d.expand(7, nil)
	require.ErrorIs(t, err, ErrDamaged)
}

// FuzzBatch feeds the decoder with batches whose checksum is right, and everything else is not.
func FuzzBatch(f *testing.F) {
	for compression := kafkago.Compression(0); compression <= kafkago.Zstd; compression++ {
		f.Add(encodeBatch(f, compression, []byte("one"), []byte("two"), nil))
	}
	dec := NewDecompressor(1 << 16)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= headerSize {
			setCRC(data)
		}
		for {
			b, rest, ok, err := Next(data)
			if err != nil || !ok {
				return
			}
			require.Less(t, len(rest), len(data))
			require.LessOrEqual(t, b.First, b.Last)
			payload, err := b.Payload(dec)
			require.LessOrEqual(t, len(payload), max(1<<16, len(data)))
			if err == nil {
				prev := b.First - 1
				err = b.Records(payload, func(r *Record) error {
					require.Greater(t, r.Offset, prev)
					require.LessOrEqual(t, r.Offset, b.Last)
					prev = r.Offset
					return r.EachHeader(func(_, _ []byte) {})
				})
			}
			if err != nil {
				require.True(
					t,
					errors.Is(err, ErrDamaged) || errors.Is(err, ErrExpansion) || errors.Is(err, wire.ErrShort),
					"%v",
					err,
				)
			}
			data = rest
		}
	})
}
