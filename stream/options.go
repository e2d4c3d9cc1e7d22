package stream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// Engine is the part of matcher.Engine that the Pipeline uses. All calls come from one goroutine.
type Engine interface {
	Accept(msgs []dyngraph.Message) ([]dyngraph.Update, []dyngraph.Reject)
	PrepareChange(ch *matcher.QueryChange) (*matcher.QueryChange, error)
	Step(
		ctx context.Context,
		b *matcher.Batch,
		emit func(*matcher.Event) error,
		settle func(error) error,
	) (*matcher.Summary, error)
	// CheckDeclared refuses declarations without what the queries read that changes leave; see matcher.Engine.
	CheckDeclared(s *property.Schema, changes ...*matcher.QueryChange) error
	Queries() []matcher.QueryState
	// ToSuspend returns the queries that the next step suspends; see matcher.Engine.
	ToSuspend() []string
	// Anchors tells how far a step has come, to any goroutine; see matcher.Engine.
	Anchors() (done, all uint64)
	// Found tells how many matches it has found, likewise.
	Found() (matches uint64)
	Graph() *dyngraph.Graph
}

// PipelineOptions configure a Pipeline. The parts (Source to State) are handed over by the caller; the rest has
// defaults.
type PipelineOptions struct {
	// Source and Decoder are the input. Without a Source the pipeline ends after Startup and Log.
	Source  Source
	Decoder Decoder
	// Engine stepped over State.Batch batches: it holds State.Graph and State.Queries.
	Engine  Engine
	Encoder Encoder
	Sink    Sink
	// Store makes batches durable. Default NopStore.
	Store Store
	// State is the result of Store.Recover. Default: that of NopStore.
	State *State
	// Observer is told what happens. Default: nobody.
	Observer Observer

	// Startup returns the query changes to make after recovery and before reading, given the queries as recovery left
	// them; each becomes a batch, and one that changes nothing is skipped. Default: none.
	Startup func(queries []matcher.QueryState) ([]*matcher.QueryChange, error)
	// Schema declares the properties of the configuration. Where others are stored, they are changed in batches of
	// their own (DESIGN S23): new ones are declared before Startup, and others go after it. The Decoder has the columns
	// of Declared. nil: they stay.
	Schema *property.Schema
	// DeclareStep is about how many edges and vertices one of these batches changes. Default 100,000.
	DeclareStep int
	// Admit may refuse a change that Pipeline.Change asks for, after the engine found it sound and before it is
	// logged. It is called on the goroutine that calls the Engine, and may use it; err ends the pipeline. Default:
	// all are admitted.
	Admit func(ctx context.Context, ch *matcher.QueryChange) (refused, err error)
	// Ready is called between Startup and the first batch of Log or the input, on the goroutine that calls the
	// Engine. ctx is done when the pipeline is to stop. Default: nothing.
	Ready func(ctx context.Context) error
	// Paused is called when MaxEdges pauses the input, with the reason; it must not block, nor call the Pipeline.
	// Default: nothing.
	Paused func(reason string)
	// Log is stepped instead of input, batch by batch with the numbers it carries (DESIGN P2). Default: none.
	Log iter.Seq2[*Batch, error]

	// Batch says where batches are cut.
	Batch BatcherOptions

	// QueueRecords and QueueBytes bound what was decoded and not yet taken into a batch; the bytes are an estimate of
	// the memory it takes. Reading waits when either is reached, until half of it is taken. Defaults 65,536 and 64 MiB.
	QueueRecords int
	QueueBytes   int64
	// PublishBytes bounds the encoded records that wait for the sink. The search waits when it is reached.
	// Default 64 MiB.
	PublishBytes int64
	// MaxInFlight bounds the batches that were begun and are not committed. Default 2: one is published while the
	// next is searched (DESIGN A12).
	MaxInFlight int
	// EncodeThreads is the number of goroutines that encode the matches of a batch, beside its search; with one,
	// matches are encoded where they are handed out, and the search waits. With n, 2n pieces of ChunkRecords matches at
	// most are under way, each with at most 512 KiB and 16 records encoded, and its matches' ids. Default: GOMAXPROCS.
	EncodeThreads int
	// ChunkRecords is the number of records that go to the sink in one Write. Default 512.
	ChunkRecords int
	// DeadLetterBytes cuts the record that a dead letter carries. Negative: to nothing. Default 64 KiB.
	DeadLetterBytes int
	// MaxEdges pauses the input when the graph has as many edges; the message that reaches it may go past it. 0 is no
	// bound.
	MaxEdges int
	// RejectEdges has MaxEdges refuse new edges, as dead letters, instead of pausing the input. The graph does not go
	// past it then.
	RejectEdges bool
	// MaxVertexLabels bounds the labels of a vertex that may have several: an update that would give it more is a dead
	// letter. 0 is no bound.
	MaxVertexLabels int
	// Time says which edges expire.
	Time TimeOptions
	// Control tells that batch records are published.
	Control bool
	// StopTimeout bounds a graceful stop: after it the batch in progress is abandoned, and done again by the next
	// start. Negative: no bound. Default 30 s.
	StopTimeout time.Duration
}

// EnsureDefaults replaces zero values by the defaults.
func (o *PipelineOptions) EnsureDefaults() {
	o.Batch.EnsureDefaults()
	o.Time.EnsureDefaults()
	if o.Store == nil {
		o.Store = NopStore{}
	}
	if o.State == nil {
		o.State = &State{StreamID: NewStreamID(), Fresh: true}
	}
	if o.Observer == nil {
		o.Observer = nopObserver{}
	}
	if o.QueueRecords == 0 {
		o.QueueRecords = 65_536
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = 64 << 20
	}
	if o.PublishBytes == 0 {
		o.PublishBytes = 64 << 20
	}
	if o.DeclareStep == 0 {
		o.DeclareStep = 100_000
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 2
	}
	if o.EncodeThreads == 0 {
		o.EncodeThreads = runtime.GOMAXPROCS(0)
	}
	if o.ChunkRecords == 0 {
		o.ChunkRecords = 512
	}
	if o.DeadLetterBytes == 0 {
		o.DeadLetterBytes = 64 << 10
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 30 * time.Second
	}
}

// Validate checks the options after EnsureDefaults.
func (o *PipelineOptions) Validate() error {
	if err := o.Batch.Validate(); err != nil {
		return err
	}
	if err := o.Time.Validate(); err != nil {
		return err
	}
	switch {
	case o.Engine == nil || o.Encoder == nil || o.Sink == nil:
		return errors.New("a pipeline needs an engine, an encoder and a sink")
	case o.Source != nil && o.Decoder == nil:
		return errors.New("a pipeline with a source needs a decoder")
	case o.Source != nil && o.Log != nil:
		return errors.New("a pipeline reads a source or a batch log, not both")
	}
	for _, b := range []struct {
		name  string
		value int64
	}{
		{"records in the queue", int64(o.QueueRecords)}, {"bytes in the queue", o.QueueBytes},
		{"bytes to publish", o.PublishBytes}, {"batches in flight", int64(o.MaxInFlight)},
		{"encoding threads", int64(o.EncodeThreads)}, {"elements that a batch declares", int64(o.DeclareStep)},
		{"records in a chunk", int64(o.ChunkRecords)},
	} {
		if b.value < 1 {
			return fmt.Errorf("the limit on %s is %d; it must be at least 1", b.name, b.value)
		}
	}
	if o.MaxEdges < 0 {
		return fmt.Errorf("the limit on edges is %d; it must not be negative", o.MaxEdges)
	}
	return nil
}
