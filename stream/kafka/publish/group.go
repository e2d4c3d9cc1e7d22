package publish

import (
	"context"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
)

// groupOffsets publishes input positions as the offsets of a consumer group without members, so that lag tools show
// where the daemon stands. They are for show: the checkpoint's positions count. A failure is reported and tried again
// with the next positions.
type groupOffsets struct {
	cl       *kafka.Client
	group    string
	topic    string
	interval time.Duration

	mu   sync.Mutex
	at   stream.Positions // newest, not yet published
	wake chan struct{}

	stop  context.CancelFunc
	ended chan struct{} // closed when run has ended
}

// newGroupOffsets publishes in the background until close.
func newGroupOffsets(opt *SinkOptions) (*groupOffsets, error) {
	to := opt.ClientOptions
	if opt.Input != nil {
		to = *opt.Input
	}
	cl, err := kafka.NewClient(to, opt.InputTopic)
	if err != nil {
		return nil, err
	}
	g := &groupOffsets{
		cl:       cl,
		group:    opt.Group,
		topic:    opt.InputTopic,
		interval: opt.GroupInterval,
		wake:     make(chan struct{}, 1),
		ended:    make(chan struct{}),
	}
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	go func() {
		defer close(g.ended)
		g.run(ctx)
	}()
	return g, nil
}

// close publishes the newest positions, if the brokers take them in time.
func (g *groupOffsets) close() {
	g.stop()
	<-g.ended
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := g.publish(ctx); err != nil {
		g.cl.Options.Events.Retried("group offsets", g.topic, -1, 1, err)
	}
	g.cl.Close()
}

// set hands over the positions to publish next; they are not kept beyond their publication.
func (g *groupOffsets) set(at stream.Positions) {
	if len(at) == 0 {
		return
	}
	copied := make(stream.Positions, len(at))
	for p, off := range at {
		copied[p] = off
	}
	g.mu.Lock()
	g.at = copied
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run publishes until ctx is done.
func (g *groupOffsets) run(ctx context.Context) {
	for attempt := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-g.wake:
		}
		if err := g.publish(ctx); err != nil && ctx.Err() == nil {
			attempt++
			g.cl.Options.Events.Retried("group offsets", g.topic, -1, attempt, err)
		} else {
			attempt = 0
		}
		if g.cl.Sleep(ctx, g.interval) != nil {
			return
		}
	}
}

// publish sends the newest positions if there are some.
func (g *groupOffsets) publish(ctx context.Context) error {
	g.mu.Lock()
	at := g.at
	g.at = nil
	g.mu.Unlock()
	if at == nil {
		return nil
	}
	commits := make([]kafkago.OffsetCommit, 0, len(at))
	for p, off := range at {
		commits = append(commits, kafkago.OffsetCommit{Partition: int(p), Offset: off})
	}
	res, err := g.cl.API.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
		GroupID: g.group, GenerationID: -1, Topics: map[string][]kafkago.OffsetCommit{g.topic: commits}})
	if err == nil {
		for _, p := range res.Topics[g.topic] {
			if p.Error != nil {
				err = p.Error
			}
		}
	}
	if err != nil {
		g.mu.Lock()
		if g.at == nil {
			g.at = at
		}
		g.mu.Unlock()
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
	return err
}
