package kafka

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"
)

// topicIDVersion is the version of the metadata protocol from which brokers tell ids of topics (KIP-516, Kafka 2.8).
// kafka-go knows none that does.
const topicIDVersion = 10

// topicIDRequest asks any broker for the id of a topic. It is a protocol.RawExchanger, as fetchRequest is.
type topicIDRequest struct {
	topic, clientID string
}

// topicIDAnswer holds the id of a topic in hexadecimal.
type topicIDAnswer struct {
	metadata.Response
	id string
}

func (*topicIDRequest) ApiKey() protocol.ApiKey { return protocol.Metadata }

// Required reports true: kafka-go cannot send this.
func (*topicIDRequest) Required(map[protocol.ApiKey]int16) bool { return true }

func (r *topicIDRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	const correlation = 1 // a connection has one request in flight
	req := make([]byte, 4, 128)
	req = binary.BigEndian.AppendUint16(req, uint16(protocol.Metadata))
	req = binary.BigEndian.AppendUint16(req, topicIDVersion)
	req = binary.BigEndian.AppendUint32(req, correlation)
	req = binary.BigEndian.AppendUint16(req, uint16(len(r.clientID)))
	req = append(req, r.clientID...)
	req = append(req, 0)                   // tags of the header
	req = append(req, 2)                   // one topic
	req = append(req, make([]byte, 16)...) // by its name, not its id
	req = binary.AppendUvarint(req, uint64(len(r.topic))+1)
	req = append(req, r.topic...)
	req = append(req, 0, 0, 0, 0, 0) // its tags; no creation, no lists of what is allowed; tags
	binary.BigEndian.PutUint32(req, uint32(len(req)-4))
	if _, err := rw.Write(req); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4])) - 4
	if size < 0 || size > maxResponse {
		return nil, fmt.Errorf("metadata response of %d bytes, limit %d", size, maxResponse)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	id, err := parseTopicID(body)
	return &topicIDAnswer{id: id}, err
}

// parseTopicID reads a metadata response, version 10, up to the id of its first topic.
func parseTopicID(body []byte) (string, error) {
	w := wire{b: body}
	w.tags()
	w.int32() // throttle time
	for range w.compact() {
		w.int32() // node
		w.compactBytes()
		w.int32() // port
		w.compactBytes()
		w.tags()
		if w.err != nil {
			return "", w.err
		}
	}
	w.compactBytes() // cluster
	w.int32()        // controller
	if n := w.compact(); n != 1 && w.err == nil {
		return "", fmt.Errorf("metadata response holds %d topics, asked for 1", n)
	}
	code := w.int16()
	w.compactBytes()
	id := w.bytes(16)
	switch {
	case w.err != nil:
		return "", w.err
	case code != 0 && code != int16(kafkago.LeaderNotAvailable):
		return "", kafkago.Error(code)
	}
	for _, b := range id {
		if b != 0 {
			return hex.EncodeToString(id), nil
		}
	}
	return "", nil
}

// compact reads the length of an array or a string as flexible versions write it; a nil one is 0.
func (w *wire) compact() int {
	v := w.uvarint()
	if v > uint64(len(w.b))+1 {
		w.err = errShort
		return 0
	}
	return int(max(v, 1)) - 1
}

func (w *wire) compactBytes() []byte { return w.bytes(w.compact()) }

// tags passes over tagged fields.
func (w *wire) tags() {
	for range w.uvarint() {
		w.uvarint()
		w.bytes(int(min(w.uvarint(), 1<<30)))
		if w.err != nil {
			return
		}
	}
}

func (w *wire) uvarint() uint64 {
	if w.err != nil {
		return 0
	}
	v, n := binary.Uvarint(w.b)
	if n <= 0 {
		w.err = errShort
		return 0
	}
	w.b = w.b[n:]
	return v
}

// topicID asks for the id of a topic, "" when the brokers know none.
func (c *client) topicID(ctx context.Context, topic string) (id string, err error) {
	err = c.retry(ctx, "topic id", topic, -1, func(ctx context.Context) error {
		known, err := c.supports(ctx, protocol.Metadata, topicIDVersion)
		if err != nil {
			return err
		}
		if !known {
			id = ""
			return nil
		}
		answer, err := ask[*topicIDAnswer](ctx, c, &topicIDRequest{topic: topic, clientID: c.opt.ClientID})
		if err == nil {
			id = answer.id
		}
		return err
	})
	return id, err
}

// supports asks a broker once whether it knows a version of a request.
func (c *client) supports(ctx context.Context, key protocol.ApiKey, version int) (bool, error) {
	res, err := c.api.ApiVersions(ctx, &kafkago.ApiVersionsRequest{})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return false, err
	}
	for _, k := range res.ApiKeys {
		if protocol.ApiKey(k.ApiKey) == key {
			return k.MinVersion <= version && version <= k.MaxVersion, nil
		}
	}
	return false, nil
}
