package kafka

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
)

// encodeBatch returns a batch as it lies in a log, without the size prefix.
func encodeBatch(t testing.TB, compression kafkago.Compression, values ...[]byte) []byte {
	t.Helper()
	b := &batchBuilder{compression: compression}
	b.reset()
	for _, v := range values {
		b.add([]byte("key"), v, []header{{"h", []byte("x")}})
	}
	raw, err := b.finish(time.UnixMilli(1_700_000_000_000))
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

			b, rest, ok, err := nextBatch(buf.Bytes()[prefix:])
			require.NoError(t, err)
			require.True(t, ok)
			require.Empty(t, rest)
			payload, err := b.payload(newDecompressor(1 << 20))
			require.NoError(t, err)
			i := 0
			require.NoError(t, b.records(payload, func(r *record) error {
				require.EqualValues(t, i, r.offset)
				require.Equal(t, want[i].Time.UnixMilli(), r.time)
				require.Equal(t, keys[i], r.key)
				require.Equal(t, values[i], r.value)
				var hs []kafkago.Header
				require.NoError(t, r.eachHeader(func(k, v []byte) { hs = append(hs, kafkago.Header{Key: string(k), Value: v}) }))
				require.Equal(t, want[i].Headers, hs)
				i++
				return nil
			}))
			require.Equal(t, len(want), i, "seed %d", seed)
		}

		ours := &batchBuilder{compression: compression}
		ours.reset()
		ours.add([]byte("k"), nil, nil)
		ours.add(nil, []byte("v"), []header{{"a", []byte("b")}})
		raw, err := ours.finish(time.UnixMilli(1_700_000_000_123))
		require.NoError(t, err)
		var set protocol.RecordSet
		_, err = set.ReadFrom(bytes.NewReader(raw))
		require.NoError(t, err)
		r, err := set.Records.ReadRecord()
		require.NoError(t, err)
		require.Equal(t, "k", string(readBytes(t, r.Key)))
		require.Nil(t, r.Value)
		require.EqualValues(t, 1_700_000_000_123, r.Time.UnixMilli())
		r, err = set.Records.ReadRecord()
		require.NoError(t, err)
		require.Nil(t, r.Key)
		require.Equal(t, []kafkago.Header{{Key: "a", Value: []byte("b")}}, r.Headers)
	}
}

func TestDamagedBatch(t *testing.T) {
	good := encodeBatch(t, kafkago.Zstd, []byte("one"), []byte("two"))
	b, _, ok, err := nextBatch(good)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = b.payload(newDecompressor(1 << 10))
	require.NoError(t, err)

	for i := offAttributes; i < len(good); i++ { // the checksum covers every byte from here on
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		b, _, ok, err := nextBatch(bad)
		if err == nil && ok {
			_, err = b.payload(newDecompressor(1 << 10))
		}
		require.ErrorIs(t, err, errDamaged, "byte %d", i)
	}
	for n := range good { // cut short
		_, _, ok, err := nextBatch(good[:n])
		require.NoError(t, err)
		require.False(t, ok)
	}
	old := bytes.Clone(good)
	old[offMagic] = 1
	_, _, _, err = nextBatch(old)
	require.ErrorContains(t, err, "not supported")
	require.True(t, fatal(err))
}

func TestExpansionIsBounded(t *testing.T) {
	for compression := kafkago.Gzip; compression <= kafkago.Zstd; compression++ {
		bomb := encodeBatch(t, compression, make([]byte, 8<<20))
		b, _, _, err := nextBatch(bomb)
		require.NoError(t, err)
		_, err = b.payload(newDecompressor(1 << 20))
		require.ErrorIs(t, err, errExpansion, compression.String())
		_, err = b.payload(newDecompressor(9 << 20))
		require.NoError(t, err, compression.String())
	}
}

func TestLogAppendTime(t *testing.T) {
	raw := encodeBatch(t, 0, []byte("x"))
	raw[offAttributes+1] |= attrLogAppendTime
	binary.BigEndian.PutUint64(raw[offMaxTime:], 42)
	setCRC(raw)
	b, _, _, err := nextBatch(raw)
	require.NoError(t, err)
	payload, err := b.payload(newDecompressor(1 << 10))
	require.NoError(t, err)
	require.NoError(t, b.records(payload, func(r *record) error {
		require.EqualValues(t, 42, r.time)
		return nil
	}))
}

// TestSnappyFramings: bare blocks, as librdkafka sends them, and claims of enormous sizes.
func TestSnappyFramings(t *testing.T) {
	d := newDecompressor(1 << 20)
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
		require.True(t, errors.Is(err, errDamaged) || err == nil && len(out) < 3*len(text), "%d bytes", n)
	}
	_, err = d.expand(kafkago.Snappy, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	require.ErrorIs(t, err, errExpansion)
	_, err = d.expand(kafkago.Snappy, append(framed[:xerialHeader:xerialHeader], 0xff, 0xff, 0xff, 0xff))
	require.ErrorIs(t, err, errDamaged)
	_, err = d.expand(7, nil)
	require.ErrorIs(t, err, errDamaged)
}

// FuzzBatch feeds the decoder with batches whose checksum is right, and everything else is not.
func FuzzBatch(f *testing.F) {
	for compression := kafkago.Compression(0); compression <= kafkago.Zstd; compression++ {
		f.Add(encodeBatch(f, compression, []byte("one"), []byte("two"), nil))
	}
	dec := newDecompressor(1 << 16)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= headerSize {
			setCRC(data)
		}
		for {
			b, rest, ok, err := nextBatch(data)
			if err != nil || !ok {
				return
			}
			require.Less(t, len(rest), len(data))
			require.LessOrEqual(t, b.first, b.last)
			payload, err := b.payload(dec)
			require.LessOrEqual(t, len(payload), max(1<<16, len(data)))
			if err == nil {
				prev := b.first - 1
				err = b.records(payload, func(r *record) error {
					require.Greater(t, r.offset, prev)
					require.LessOrEqual(t, r.offset, b.last)
					prev = r.offset
					_, err := nameOf(r)
					return err
				})
			}
			if err != nil {
				require.True(t, errors.Is(err, errDamaged) || errors.Is(err, errExpansion) || errors.Is(err, errShort), "%v", err)
			}
			data = rest
		}
	})
}

// FuzzFetchResponse feeds the parser of fetch responses.
func FuzzFetchResponse(f *testing.F) {
	f.Add(
		[]byte(
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x02ab",
		),
		int16(11),
	)
	f.Fuzz(func(t *testing.T, body []byte, version int16) {
		res, err := parseFetch(body, 4+(version&7), kafkago.ReadCommitted)
		require.Equal(t, err == nil, res != nil)
		if res != nil {
			require.LessOrEqual(t, len(res.batches), len(body))
		}
	})
}
