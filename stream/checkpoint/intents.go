package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"motifd/stream"
)

var _ stream.IntentDigester = (*Store)(nil)

// intentDigest is the digest of an intent (its value without the checksum), chained to the one before it: SHA-256 in
// hexadecimal. A chain that begins with a batch whose digest is not known begins with nothing.
func intentDigest(before string, value []byte) string {
	h := sha256.New()
	h.Write([]byte(before)) // a hash never fails
	h.Write(value)
	return hex.EncodeToString(h.Sum(nil))
}

// IntentDigest implements stream.IntentDigester.
func (s *Store) IntentDigest(batch uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.log.find(batch); i >= 0 {
		return s.log.open[i].digest
	}
	if batch == s.state.batch {
		return s.digest
	}
	return ""
}

// lastDigest is the digest of the last intent in the log. s.mu is held.
func (s *Store) lastDigest() string {
	if n := len(s.log.open); n > 0 {
		return s.log.open[n-1].digest
	}
	return s.digest
}

func appendIntents(b []byte, batch uint64, digest string) []byte {
	return appendString(binary.AppendUvarint(b, batch), digest)
}

// readDigests reads the digest of the last committed intent, and makes those of the open ones from their values.
func (s *Store) readDigests() error {
	v, ok, err := s.db.get(keyIntents)
	if err != nil {
		return err
	}
	if ok {
		d, err := verified(keyIntents, v)
		if err != nil {
			return fmt.Errorf("%s: %w", s.db.dir, err)
		}
		batch, digest := d.uvarint(), d.string()
		if err := d.finish("the digest of the last intent"); err != nil {
			return fmt.Errorf("%s: %w", s.db.dir, err)
		}
		if batch == s.state.batch {
			s.digest = digest
		}
	}
	before := s.digest
	for i := range s.log.open {
		e := &s.log.open[i]
		key := logKey(e.batch, partIntent)
		v, ok, err := s.db.get(key)
		if err != nil {
			return err
		}
		if !ok {
			return damaged("%s: batch %d in the log has no intent", s.db.dir, e.batch)
		}
		if _, err := verified(key, v); err != nil {
			return fmt.Errorf("%s: %w", s.db.dir, err)
		}
		e.digest = intentDigest(before, v[:len(v)-4])
		before = e.digest
	}
	return nil
}
