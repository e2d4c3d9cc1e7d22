package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/kafka"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// GraphOptions returns the options of an empty graph.
func (c *Config) GraphOptions() dyngraph.Options {
	return dyngraph.Options{
		Directed: c.Graph.Directed, EdgeIDs: c.Graph.EdgeIDs(), MaxVertices: uint32(c.Graph.MaxVertices),
		Schema: c.Graph.Schema(),
	}
}

// DecoderOptions returns the options of the input's decoder. The configuration was validated.
func (c *Config) DecoderOptions() (codec.DecoderOptions, error) {
	o := c.decoderOptions()
	if c.Input.Format == codec.FormatCSV {
		m, err := codec.ParseMapping(c.Input.CSV.Columns)
		if err != nil {
			return o, fmt.Errorf("input.csv.columns: %w", err)
		}
		o.Mapping = m
	}
	return o, nil
}

func (c *Config) decoderOptions() codec.DecoderOptions {
	l := &c.Input.Limits
	o := codec.DecoderOptions{
		MaxBytes:           int(l.MaxMessageBytes),
		MaxElements:        l.MaxUpdates,
		MaxDepth:           l.MaxDepth,
		MaxPropsBytes:      int(l.MaxPropsBytes),
		AllowUnknownFields: c.Input.UnknownFields == "ignore",
		CSVHeader:          c.Input.CSV.Header,
		EdgeIDs:            c.Graph.EdgeIDs(),
		Schema:             c.Graph.Schema(),
	}
	if c.Input.CSV.Comma != "" {
		o.CSVComma, _ = utf8.DecodeRuneInString(c.Input.CSV.Comma)
	}
	return o
}

// client maps a connection, whose section is at path. A new connection has the certificates and the password that the
// files hold when it is made.
func (c *Connection) client(src *sources, path string) (kafka.ClientOptions, error) {
	out := kafka.ClientOptions{Brokers: c.Brokers, RequestTimeout: c.RequestTimeout.Std()}
	if t := c.TLS; t != nil {
		fresh, err := t.config(src, path+".tls")
		if err != nil {
			return out, fmt.Errorf("%s.tls: %w", path, err)
		}
		out.TLS = fresh.get
	}
	if s := c.SASL; s != nil {
		out.SASL = kafka.SASL{Mechanism: s.Mechanism, User: s.Username, Password: s.Password.Reveal}
	}
	return out, nil
}

// SourceOptions returns the options of a Kafka source.
func (c *Config) SourceOptions() (source.Options, error) {
	k, l := c.Input.Kafka, &c.Input.Limits
	client, err := k.client(c.src, "input.kafka")
	return source.Options{
		ClientOptions: client, Topic: k.Topic, Partitions: k.Partitions, Start: k.Start, Isolation: k.Isolation,
		Merge:          k.Merge,
		AllowDataLoss:  k.OnDataLoss == "continue",
		MaxRecordBytes: int(l.MaxMessageBytes), MaxBatchBytes: int(l.MaxExpandedBytes),
	}, err
}

// SinkOptions returns the options of a Kafka output; output.kafka.transactions tells whether the part that is about
// transactions counts.
func (c *Config) SinkOptions() (publish.TxnSinkOptions, error) {
	k := c.Output.Kafka
	client, err := k.client(c.src, "output.kafka")
	o := publish.TxnSinkOptions{
		SinkOptions: publish.SinkOptions{
			ClientOptions: client, Topic: k.Topic, DeadLetters: k.DeadLetter, Control: k.Control,
			AllowExisting: c.Output.AllowExisting, OnPartitions: k.OnPartitionChange, Compression: k.Compression,
		},
		Progress: k.Progress(), TransactionTimeout: k.TransactionTimeout.Std(),
		MaxTransactionRecords: k.MaxTransactionRecords, BufferBytes: int(k.TransactionMemory),
		SpoolDir: c.Engine.SpillDir,
	}
	if err != nil {
		return o, err
	}
	if in := c.Input.Kafka; in != nil && in.Group != "" {
		o.Group, o.InputTopic = in.Group, in.Topic
		if !slices.Equal(in.Brokers, k.Brokers) {
			input, err := in.client(c.src, "input.kafka")
			if err != nil {
				return o, err
			}
			o.Input = &input
		}
	}
	return o, nil
}

// FileSourceOptions returns the options of a file source.
func (c *Config) FileSourceOptions() file.SourceOptions {
	o := file.SourceOptions{
		Path: c.Input.File.Path, OnDamage: file.OnDamage(c.Input.File.OnDamage),
		MaxRecordBytes: int(c.Input.Limits.MaxMessageBytes), MaxExpansion: c.Input.Limits.MaxExpansion,
	}
	if c.Input.Format == codec.FormatCSV {
		o.Framing = file.FramingCSV
		o.NoHeader = c.Input.CSV.Header != "" // the configuration has it instead
		if c.Input.CSV.Comma != "" {
			o.Comma = c.Input.CSV.Comma[0]
		}
	}
	return o
}

// FileSinkOptions returns the options of a file sink.
func (c *Config) FileSinkOptions() file.SinkOptions {
	f := c.Output.File
	return file.SinkOptions{
		Output: f.Path, DeadLetters: f.DeadLetter, Control: f.Control,
		Upsert: c.Output.Mode == "upsert", AllowExisting: c.Output.AllowExisting,
	}
}

// Control tells whether batch records are published.
func (c *Config) Control() bool {
	if k := c.Output.Kafka; k != nil {
		return k.Control != ""
	}
	return c.Output.File.Control != "" && c.Output.File.Control != file.None
}

// BatcherOptions returns where batches are cut.
func (c *Config) BatcherOptions() stream.BatcherOptions {
	// 0 would stand for the default there; the shortest time there is cuts as soon as nothing more is waiting.
	linger := max(c.Batch.Linger.Std(), 1)
	return stream.BatcherOptions{MaxUpdates: c.Batch.MaxUpdates, MaxBytes: int(c.Batch.MaxBytes), Linger: linger}
}

// PipelineOptions returns the bounds of the pipeline; its parts are the caller's.
func (c *Config) PipelineOptions() stream.PipelineOptions {
	stop := c.StopTimeout.Std()
	if stop == 0 {
		stop = -1
	}
	kept := int(c.Input.Limits.MaxDeadLetterBytes)
	if kept == 0 { // which would stand for the default there
		kept = -1
	}
	schema := c.Graph.Schema()
	if schema == nil { // which would mean that what the checkpoint declares stays
		schema = &property.Schema{}
	}
	return stream.PipelineOptions{
		Batch:        c.BatcherOptions(),
		Time:         c.timeOptions(),
		Schema:       schema,
		QueueRecords: c.Queues.InputRecords, QueueBytes: int64(c.Queues.InputBytes),
		PublishBytes:    int64(c.Queues.OutputBytes),
		DeadLetterBytes: kept,
		MaxEdges:        int(c.Graph.MaxEdges),
		RejectEdges:     c.Graph.OnMaxEdges == OnMaxEdgesReject,
		MaxVertexLabels: int(c.Graph.MaxVertexLabels),
		StopTimeout:     stop,
	}
}

// CheckpointOptions returns the options of the store.
func (c *Config) CheckpointOptions() checkpoint.Options {
	return checkpoint.Options{
		Settings: c.settings(),
		Graph:    c.GraphOptions(),
		Retention: checkpoint.Retention{Batches: c.Checkpoint.Retention.Batches,
			Bytes: int64(c.Checkpoint.Retention.Bytes),
			Time:  c.Checkpoint.Retention.Time.Std()},
	}
}

// Shape holds the settings that change the form of records and may differ from run to run; the batch log keeps it as
// JSON.
type Shape struct {
	EchoProps bool `json:"echo_props"`
}

// settings returns the settings that a checkpoint depends on.
func (c *Config) settings() checkpoint.Settings {
	s := checkpoint.Settings{
		Directed: c.Graph.Directed, EdgeIDs: c.Graph.EdgeIDs(), Mode: c.Output.Mode, Properties: c.Graph.Schema(),
		Decoding: c.Input.Format + ", unknown_fields: " + c.Input.UnknownFields,
	}
	if csv := c.Input.CSV; c.Input.Format == codec.FormatCSV {
		s.Decoding += fmt.Sprintf(", columns: %s, header: %s, comma: %s", csv.Columns, csv.Header, csv.Comma)
	}
	if k := c.Input.Kafka; k != nil {
		s.Input = "kafka topic " + k.Topic
	} else {
		s.Input = "file " + c.Input.File.Path
	}
	if k := c.Output.Kafka; k != nil {
		s.Output = "kafka topic " + k.Topic
	} else {
		s.Output = "file " + c.Output.File.Path
	}
	shape, _ := json.Marshal(Shape{c.Output.EchoProps}) // a struct of booleans
	s.Shape = string(shape)
	return s
}

// MatcherLimits are the options of the matcher's limits.
func (c *Config) MatcherLimits() matcher.Limits {
	l := &c.Engine.Limits
	return matcher.Limits{
		Matches:      l.GroupMatches,
		QueryMatches: l.QueryMatches,
		QueryOutput:  int64(l.QueryOutput),
		QueryTime:    time.Duration(l.QueryTime),
		BatchTime:    time.Duration(l.BatchTime),
		Spill:        int64(l.SpillBytes),
	}
}
