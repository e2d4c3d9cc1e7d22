package main

import (
	"errors"
	"time"

	"motifd/cmd/motifd/internal/health"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/file"
	"motifd/stream/kafka"
	kafkaadmin "motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/publish"
	"motifd/stream/kafka/source"
)

// embedded starts the embedded log with the topics that the configuration names.
func (s *service) embedded() (*embedded.Log, error) {
	e := s.cfg.Embedded
	var topics []kafkaadmin.Topic
	add := func(name string, cfg map[string]string) {
		if name != "" {
			topics = append(topics, kafkaadmin.Topic{Name: name, Partitions: e.Partitions, Config: cfg})
		}
	}
	if in := s.cfg.Input.Kafka; in != nil {
		add(in.Topic, nil)
	}
	if out := s.cfg.Output.Kafka; out != nil {
		if s.cfg.Output.Mode == "upsert" {
			add(out.Topic, kafkaadmin.Compacted())
		} else {
			add(out.Topic, nil)
		}
		add(out.DeadLetter, nil)
		add(out.Control, nil)
		if out.Transactions != publish.TransactionsOff {
			topics = append(topics, kafkaadmin.ProgressTopic(out.Progress()))
		}
	}
	log, err := embedded.Open(embedded.Options{Dir: e.Dir, Port: e.Port, Sync: e.Sync, Topics: topics})
	if err != nil {
		return nil, err
	}
	s.log.Warn().Str("address", log.Addr()).Str("dir", e.Dir).
		Msg("the embedded log is a single-node log for trying motifd and for development, not for production")
	return log, nil
}

// ends are the input and the output of the daemon.
type ends struct {
	source stream.Source
	sink   stream.Sink
	taken  bool // by the pipeline, which closes them
}

// ends opens the input and the output.
func (s *service) ends(store *checkpoint.Store) (*ends, error) {
	source, err := s.source(store)
	if err != nil {
		return nil, err
	}
	sink, err := s.sink(store)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return &ends{source: source, sink: sink}, nil
}

// close closes them unless the pipeline does.
func (e *ends) close() error {
	if e.taken {
		return nil
	}
	return errors.Join(e.source.Close(), e.sink.Close())
}

// source opens the input.
func (s *service) source(store *checkpoint.Store) (stream.Source, error) {
	if s.cfg.Input.Kafka != nil {
		opt, err := s.cfg.SourceOptions()
		if err != nil {
			return nil, err
		}
		opt.Events = s.events()
		if opt.TopicID, err = store.InputTopicID(); err != nil {
			return nil, err
		}
		if opt.Epochs, err = store.InputEpochs(); err != nil {
			return nil, err
		}
		opt.KeepTopicID, opt.KeepEpochs = store.KeepInputTopicID, store.KeepInputEpochs
		return source.New(opt)
	}
	opt := s.cfg.FileSourceOptions()
	opt.Known = store.InputFiles()
	src, err := file.NewSource(opt)
	if err != nil {
		return nil, err
	}
	if err := store.KeepInputFiles(src.Names()); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// sink opens the output.
func (s *service) sink(store *checkpoint.Store) (stream.Sink, error) {
	if s.cfg.Output.Kafka != nil {
		opt, err := s.cfg.SinkOptions()
		if err != nil {
			return nil, err
		}
		opt.Events = s.events()
		opt.ResetProgress = s.resetProgress
		if opt.LastMode, err = store.OutputMode(); err != nil {
			return nil, err
		}
		opt.KeepMode = store.KeepOutputMode
		return publish.NewOutput(opt, s.cfg.Output.Kafka.Transactions)
	}
	opt := s.cfg.FileSinkOptions()
	opt.ResetProgress = s.resetProgress
	sink, err := file.NewSink(opt)
	if err != nil {
		return nil, err
	}
	return sink, sink.Probe()
}

// events counts and logs what the Kafka client tells.
func (s *service) events() kafka.Events {
	e := s.metrics.Events()
	count := e
	e.Retry = func(op, topic string, partition int32, attempt int, err error) {
		count.Retry(op, topic, partition, attempt, err)
		s.log.Warn().Str("op", op).Str("topic", topic).Int32("partition", partition).Int("attempt", attempt).Err(err).
			Msg("kafka: trying again")
	}
	e.Blocked = func(op, topic string, partition int32, since time.Time, err error) {
		waited := s.waits.Note(health.Operation{Op: op, Topic: topic, Partition: partition}, since, err)
		if waited >= health.Patience {
			s.log.Info().Str("op", op).Str("topic", topic).Int32("partition", partition).
				Stringer("waited", waited.Round(time.Millisecond)).Msg("kafka: no longer waiting")
		}
	}
	e.Loss = func(partition int32, from, to int64) {
		count.Loss(partition, from, to)
		s.log.Error().Int32("partition", partition).Int64("from", from).Int64("to", to).
			Msg("kafka: input records are gone; reading goes on after them")
	}
	e.Partitions = func(topic string, from, to int32) {
		s.log.Warn().Str("topic", topic).Int32("had", from).Int32("has", to).
			Msg("kafka: the topic has more partitions than before; all are used")
	}
	e.Duplicates = func(topic string, partition int32, n int64) {
		count.Duplicates(topic, partition, n)
		s.log.Warn().Str("topic", topic).Int32("partition", partition).Int64("records", n).
			Msg("kafka: records were probably published more than once")
	}
	e.Recovered = func(n uint64) {
		s.log.Info().Uint64("records", n).Msg("kafka: records of the batches in progress were already published")
	}
	return e
}
