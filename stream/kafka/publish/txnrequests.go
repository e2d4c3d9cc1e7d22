package publish

import (
	"context"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/addoffsetstotxn"
	"github.com/segmentio/kafka-go/protocol/addpartitionstotxn"
	"github.com/segmentio/kafka-go/protocol/endtxn"
	"github.com/segmentio/kafka-go/protocol/txnoffsetcommit"

	"motifd/stream/kafka"
)

// kafka-go asks which broker is the coordinator before each request that is for one, which doubles the round trips of a
// transaction. These are its requests with the coordinator's id beside them: toCoordinator routes them.

type addPartitionsRequest struct {
	_ struct{} `kafka:"min=v3,max=v3,tag"`

	TransactionalID string                            `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`
	ProducerID      int64                             `kafka:"min=v0,max=v3"`
	ProducerEpoch   int16                             `kafka:"min=v0,max=v3"`
	Topics          []addpartitionstotxn.RequestTopic `kafka:"min=v0,max=v3"`

	toCoordinator
}

type addOffsetsRequest struct {
	_ struct{} `kafka:"min=v3,max=v3,tag"`

	TransactionalID string `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`
	ProducerID      int64  `kafka:"min=v0,max=v3"`
	ProducerEpoch   int16  `kafka:"min=v0,max=v3"`
	GroupID         string `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`

	toCoordinator
}

type txnOffsetsRequest struct {
	_ struct{} `kafka:"min=v3,max=v3,tag"`

	TransactionalID string                         `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`
	GroupID         string                         `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`
	ProducerID      int64                          `kafka:"min=v0,max=v3"`
	ProducerEpoch   int16                          `kafka:"min=v0,max=v3"`
	GenerationID    int32                          `kafka:"min=v3,max=v3"`
	MemberID        string                         `kafka:"min=v3,max=v3,compact"`
	GroupInstanceID string                         `kafka:"min=v3,max=v3,compact,nullable"`
	Topics          []txnoffsetcommit.RequestTopic `kafka:"min=v0,max=v3"`

	toCoordinator
}

type endRequest struct {
	_ struct{} `kafka:"min=v3,max=v3,tag"`

	TransactionalID string `kafka:"min=v0,max=v2|min=v3,max=v3,compact"`
	ProducerID      int64  `kafka:"min=v0,max=v3"`
	ProducerEpoch   int16  `kafka:"min=v0,max=v3"`
	Committed       bool   `kafka:"min=v0,max=v3"`

	toCoordinator
}

func (*addPartitionsRequest) ApiKey() protocol.ApiKey { return protocol.AddPartitionsToTxn }

func (*addOffsetsRequest) ApiKey() protocol.ApiKey { return protocol.AddOffsetsToTxn }

func (*txnOffsetsRequest) ApiKey() protocol.ApiKey { return protocol.TxnOffsetCommit }

func (*endRequest) ApiKey() protocol.ApiKey { return protocol.EndTxn }

// toCoordinator routes a request to a broker. Not being exported, it is no part of what is sent.
type toCoordinator struct{ id int32 }

func (c toCoordinator) Broker(protocol.Cluster) (protocol.Broker, error) {
	return protocol.Broker{ID: c.id}, nil
}

// TypeKey makes kafka-go encode these types in place of its own.
func (toCoordinator) TypeKey() protocol.OverrideTypeKey { return coordinatorOverride }

const coordinatorOverride protocol.OverrideTypeKey = 1

func init() {
	protocol.RegisterOverride(&addPartitionsRequest{}, &addpartitionstotxn.Response{}, coordinatorOverride)
	protocol.RegisterOverride(&addOffsetsRequest{}, &addoffsetstotxn.Response{}, coordinatorOverride)
	protocol.RegisterOverride(&txnOffsetsRequest{}, &txnoffsetcommit.Response{}, coordinatorOverride)
	protocol.RegisterOverride(&endRequest{}, &endtxn.Response{}, coordinatorOverride)
}

// coordinators remembers which brokers coordinate what, until forget. It may be used by several goroutines.
type coordinators struct {
	cl *kafka.Client
	mu sync.Mutex
	at map[coordinated]toCoordinator
}

// coordinated is a transactional id or a group.
type coordinated struct {
	kind kafkago.CoordinatorKeyType
	key  string
}

// of returns the coordinator of a transactional id or a group; it asks a broker when it does not know.
func (c *coordinators) of(ctx context.Context, what coordinated) (toCoordinator, error) {
	c.mu.Lock()
	at, ok := c.at[what]
	c.mu.Unlock()
	if ok {
		return at, nil
	}
	res, err := c.cl.API.FindCoordinator(ctx, &kafkago.FindCoordinatorRequest{Key: what.key, KeyType: what.kind})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return at, err
	}
	at = toCoordinator{int32(res.Coordinator.NodeID)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[coordinated]toCoordinator{}
	}
	c.at[what] = at
	return at, nil
}

// forget makes of ask again.
func (c *coordinators) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.at)
}
