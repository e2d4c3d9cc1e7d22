package codec

import (
	"bytes"
	"strconv"

	"motifd/stream"
)

// value reads any JSON value and appends it to out without white space: tokens are kept as they are written, members
// in their order. Names must be unique in each object, nesting is bounded, and numbers must be finite as 64-bit
// floating point, so that whoever reads the value again can. depth is that of the value, if it is an array or object.
func (s *scanner) value(out []byte, depth int) ([]byte, *stream.DecodeError) {
	switch c := s.peek(); {
	case c == '"':
		start := s.i
		if _, err := s.string(); err != nil {
			return nil, err
		}
		return append(out, s.b[start:s.i]...), nil
	case c == '-' || c-'0' <= 9:
		start := s.i
		text, whole, err := s.number()
		if err != nil {
			return nil, err
		}
		if !finite(text, whole) {
			return nil, refuse(
				ReasonValue,
				"byte %d: the number %s is beyond 64-bit floating point; write it as a string",
				start,
				show(text),
			)
		}
		return append(out, text...), nil
	case c == '{' || c == '[':
		if depth > s.maxDepth {
			return nil, refuse(
				ReasonDepth,
				"byte %d: values are nested more than %d deep (input.limits.max_depth)",
				s.i,
				s.maxDepth,
			)
		}
		s.i++
		if c == '{' {
			return s.objectValue(out, depth)
		}
		return s.arrayValue(out, depth)
	}
	text, err := s.literal()
	if err != nil {
		return nil, err
	}
	return append(out, text...), nil
}

func (s *scanner) objectValue(out []byte, depth int) ([]byte, *stream.DecodeError) {
	base := len(s.names)
	var set nameSet
	out = append(out, '{')
	for first := true; ; first = false {
		name, at, more, err := s.member(first)
		if err != nil {
			return nil, err
		}
		if !more {
			s.names = s.names[:base]
			return append(out, '}'), nil
		}
		if !first {
			out = append(out, ',')
		}
		out = append(out, s.b[at:s.nameEnd]...)
		out = append(out, ':')
		if err := s.declare(base, &set, name, at); err != nil {
			return nil, err
		}
		if out, err = s.value(out, depth+1); err != nil {
			return nil, err
		}
	}
}

func (s *scanner) arrayValue(out []byte, depth int) ([]byte, *stream.DecodeError) {
	out = append(out, '[')
	for first := true; ; first = false {
		more, err := s.next(first)
		if err != nil {
			return nil, err
		}
		if !more {
			return append(out, ']'), nil
		}
		if !first {
			out = append(out, ',')
		}
		if out, err = s.value(out, depth+1); err != nil {
			return nil, err
		}
	}
}

// declare adds a name to the open object whose first name is s.names[base], and refuses one that it has already.
func (s *scanner) declare(base int, set *nameSet, name []byte, at int) *stream.DecodeError {
	if s.escaped {
		name = bytes.Clone(name)
	}
	if set.seen(s.names[base:], name) {
		return refuse(ReasonDuplicate, "byte %d: the name %s occurs twice in one object", at, show(name))
	}
	s.names = append(s.names, name)
	return nil
}

// nameSet finds duplicates among the names of one object: by comparison while they are few, then by a map, so that
// a hostile object costs no quadratic time.
type nameSet struct{ all map[string]struct{} }

const fewNames = 16

func (n *nameSet) seen(before [][]byte, name []byte) bool {
	if len(before) < fewNames {
		for _, b := range before {
			if string(b) == string(name) {
				return true
			}
		}
		return false
	}
	if n.all == nil {
		n.all = make(map[string]struct{}, 2*fewNames)
		for _, b := range before {
			n.all[string(b)] = struct{}{}
		}
	}
	_, dup := n.all[string(name)]
	n.all[string(name)] = struct{}{}
	return dup
}

// finite tells whether a number can be held as 64-bit floating point.
func finite(text []byte, whole bool) bool {
	if whole && len(text) < 300 {
		return true
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}
