package checkpoint

import "fmt"

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

// text reads a record that is one string, "" when it is not there.
func (s *Store) text(key []byte, what string) (string, error) {
	v, ok, err := s.db.get(key)
	if err != nil || !ok {
		return "", err
	}
	d, err := unseal(key, v)
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
	if err := b.Set(key, seal(key, content), nil); err != nil {
		return err
	}
	return s.db.apply(b)
}
