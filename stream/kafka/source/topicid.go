package source

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/wire"
)

// topicIDVersion is the first version of the metadata protocol with the ids of topics (KIP-516, Kafka 2.8). kafka-go
// has only older versions.
const topicIDVersion = 10

// topicIDRequest asks any broker for the id of a topic. It is a protocol.RawExchanger, like fetchRequest.
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
	req = append(req, 0, 0, 0, 0, 0) // the topic's tags; no creation; no lists of permissions (two); tags
	binary.BigEndian.PutUint32(req, uint32(len(req)-4))
	if _, err := rw.Write(req); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4])) - 4
	if size < 0 || size > kafka.MaxResponse {
		return nil, fmt.Errorf("metadata response of %d bytes, limit %d", size, kafka.MaxResponse)
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
	w := wire.Reader{B: body}
	w.Tags()
	w.Int32() // throttle time
	for range w.Compact() {
		w.Int32() // node
		w.CompactBytes()
		w.Int32() // port
		w.CompactBytes()
		w.Tags()
		if w.Err != nil {
			return "", w.Err
		}
	}
	w.CompactBytes() // cluster
	w.Int32()        // controller
	if n := w.Compact(); n != 1 && w.Err == nil {
		return "", fmt.Errorf("metadata response holds %d topics, asked for 1", n)
	}
	code := w.Int16()
	w.CompactBytes()
	id := w.Bytes(16)
	switch {
	case w.Err != nil:
		return "", w.Err
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

// topicID asks for the id of a topic; "" if the brokers have none.
func topicID(ctx context.Context, c *kafka.Client, topic string) (id string, err error) {
	err = c.Retry(ctx, "topic id", topic, -1, func(ctx context.Context) error {
		known, err := c.Supports(ctx, protocol.Metadata, topicIDVersion)
		if err != nil {
			return err
		}
		if !known {
			id = ""
			return nil
		}
		answer, err := kafka.Ask[*topicIDAnswer](ctx, c, &topicIDRequest{topic: topic, clientID: c.Options.ClientID})
		if err == nil {
			id = answer.id
		}
		return err
	})
	return id, err
}
