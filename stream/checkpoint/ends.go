package checkpoint

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"motifd/stream"
)

// InputTopicID returns the id of the input's topic that KeepInputTopicID stored last, "" when there is none.
func (s *Store) InputTopicID() (string, error) {
	return s.text(keyTopic, "the id of the input's topic")
}

// KeepInputTopicID stores the id of the topic that the positions are of. It is durable when KeepInputTopicID returns.
func (s *Store) KeepInputTopicID(id string) error { return s.keepText(keyTopic, id) }

// OutputMode returns how the output publishes, as KeepOutputMode stored it last, "" when there is none.
func (s *Store) OutputMode() (string, error) { return s.text(keyMode, "the mode of the output") }

// KeepOutputMode stores how the output publishes, "on" for in transactions. It is durable when KeepOutputMode returns.
func (s *Store) KeepOutputMode(mode string) error { return s.keepText(keyMode, mode) }

// InputEpochs returns the leader epochs that KeepInputEpochs stored last, nil when there are none.
func (s *Store) InputEpochs() (stream.Epochs, error) {
	v, ok, err := s.db.get(keyEpochs)
	if err != nil || !ok {
		return nil, err
	}
	d, err := verified(keyEpochs, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.db.dir, err)
	}
	epochs := stream.Epochs{}
	for range d.count(2) {
		p := int32(d.varint())
		list := make([]stream.EpochStart, d.count(2))
		for i := range list {
			list[i] = stream.EpochStart{Epoch: int32(d.varint()), Start: d.varint()}
		}
		epochs[p] = list
	}
	if err := d.finish("the leader epochs of the input"); err != nil {
		return nil, fmt.Errorf("%s: %w", s.db.dir, err)
	}
	return epochs, nil
}

// KeepInputEpochs stores under which epochs of their leaders the records that are read were written. It is durable when
// KeepInputEpochs returns, which may be called beside everything else.
func (s *Store) KeepInputEpochs(epochs stream.Epochs) error {
	b := binary.AppendUvarint([]byte{codecVersion}, uint64(len(epochs)))
	for _, p := range slices.Sorted(maps.Keys(epochs)) {
		b = binary.AppendVarint(b, int64(p))
		b = binary.AppendUvarint(b, uint64(len(epochs[p])))
		for _, e := range epochs[p] {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(e.Epoch)), e.Start)
		}
	}
	return s.keep(keyEpochs, b)
}

// text reads a record that is one string, "" when it is not there.
func (s *Store) text(key []byte, what string) (string, error) {
	v, ok, err := s.db.get(key)
	if err != nil || !ok {
		return "", err
	}
	d, err := verified(key, v)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.db.dir, err)
	}
	text := d.string()
	if err := d.finish(what); err != nil {
		return "", fmt.Errorf("%s: %w", s.db.dir, err)
	}
	return text, nil
}

func (s *Store) keepText(key []byte, text string) error {
	return s.keep(key, appendString([]byte{codecVersion}, text))
}

// keep writes a record of the meta space, from any goroutine. It is durable when keep returns.
func (s *Store) keep(key, content []byte) error {
	if s.opt.ReadOnly {
		return errReadOnly
	}
	b := s.db.NewBatch()
	defer b.Close()
	if err := setChecksummed(b, key, content); err != nil {
		return err
	}
	return s.db.apply(b)
}
