package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"motifd/dyngraph/property"
)

// sources remembers where each field was set, by path.
type sources struct {
	at    map[string]string
	nodes map[string]ast.Node // of the file, for positions inside a value

	reloads  Reloads
	warnings []string
}

func newSources() *sources {
	return &sources{at: make(map[string]string), nodes: make(map[string]ast.Node)}
}

// isSet tells whether a field was set, by file, environment or flag.
func (s *sources) isSet(path string) bool {
	_, ok := s.at[path]
	return ok
}

// where returns the place of a field, or of the nearest section around it.
func (s *sources) where(path string) string {
	for p := path; p != ""; {
		if at, ok := s.at[p]; ok {
			return at
		}
		cut := strings.LastIndexAny(p, ".[")
		p = p[:max(cut, 0)]
	}
	return ""
}

// binder sets fields from a YAML document.
type binder struct {
	file    string
	src     *sources
	errs    Errors
	anchors map[string]ast.Node
}

// bindFile sets what the document says.
func bindFile(c *Config, file string, text []byte) Errors { return bindDocument(c, c.src, file, text) }

// bindText sets a section from a text of its own.
func bindText(section any, name string, text []byte) Errors {
	return bindDocument(section, newSources(), name, text)
}

func bindDocument(into any, src *sources, file string, text []byte) Errors {
	b := &binder{file: file, src: src, anchors: make(map[string]ast.Node)}
	tokens := lexer.Tokenize(string(text))
	if t := tooDeep(tokens); t != nil {
		return Errors{&Error{Where: b.position(t), Msg: fmt.Sprintf("more than %d levels of nesting; a configuration "+
			"needs less than ten", maxNesting)}}
	}
	doc, err := parse(tokens)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) {
			msg := at.GetMessage()
			if strings.Contains(msg, "'\t'") {
				msg += "; indent with spaces, not with tabs"
			}
			return Errors{&Error{Where: b.position(at.GetToken()), Msg: msg}}
		}
		return Errors{&Error{Where: file, Msg: err.Error()}}
	}
	switch n := len(doc.Docs); {
	case n > 1:
		return Errors{&Error{Where: b.docPlace(doc.Docs[1]),
			Msg: "a second document; the configuration is one document"}}
	case n == 1 && doc.Docs[0].Body != nil:
		b.bind("", doc.Docs[0].Body, reflect.ValueOf(into).Elem())
	}
	return b.errs
}

// maxNesting bounds brackets inside brackets, and lists that begin on one line. The parser is recursive, and takes
// 50 kB for each level.
const maxNesting = 100

// tooDeep returns the token that nests too deep, nil if none does. Nesting by indentation needs no bound of its own: in
// a file of maxFile it has some thousand levels.
func tooDeep(tokens token.Tokens) *token.Token {
	depth, line, entries := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, entries = t.Position.Line, 0
			}
			entries++
		}
		if depth > maxNesting || entries > maxNesting {
			return t
		}
	}
	return nil
}

// parse reads YAML. The parser has been seen to panic on damaged documents; that is an error like any other.
func parse(tokens token.Tokens) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML cannot be read: %v", r)
		}
	}()
	return parser.Parse(tokens, 0)
}

// docPlace returns the place where a document begins; an empty one has nothing but its separator.
func (b *binder) docPlace(d *ast.DocumentNode) string {
	if d.Body != nil {
		return b.nodePlace(d.Body)
	}
	return b.position(d.Start)
}

func (b *binder) position(t *token.Token) string {
	if t == nil || t.Position == nil {
		return b.file
	}
	return fmt.Sprintf("%s:%d:%d", b.file, t.Position.Line, t.Position.Column)
}

func (b *binder) fail(n ast.Node, path, format string, args ...any) {
	b.errs = append(b.errs, &Error{b.nodePlace(n), path, fmt.Sprintf(format, args...)})
}

// nodePlace returns the place where a node begins; a section's own token is its first colon.
func (b *binder) nodePlace(n ast.Node) string {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return b.position(m.Values[0].Key.GetToken())
	}
	return b.position(n.GetToken())
}

// bind sets v from node n.
func (b *binder) bind(path string, n ast.Node, v reflect.Value) {
	switch x := n.(type) {
	case *ast.AnchorNode:
		b.anchors[x.Name.GetToken().Value] = x.Value
		b.bind(path, x.Value, v)
		return
	case *ast.AliasNode:
		target, ok := b.anchors[x.Value.GetToken().Value]
		if !ok {
			b.fail(n, path, "the alias *%s names no anchor before it", x.Value.GetToken().Value)
			return
		}
		b.bind(path, target, v)
		return
	case *ast.TagNode:
		b.fail(n, path, "YAML tags are not supported; write the plain value")
		return
	case *ast.NullNode:
		if path != "" && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
			b.fail(n, path, "the section is empty; give its fields or leave it out")
		}
		return // as if it was left out
	}
	if path != "" {
		b.src.at[path], b.src.nodes[path] = b.nodePlace(n), n
	}
	if v.Kind() == reflect.Pointer {
		v = allocate(v)
	}
	if own, ok := v.Addr().Interface().(nodeBinder); ok {
		if err := own.bindNode(n); err != nil {
			b.fail(n, path, "%v", err)
		}
		return
	}
	switch {
	case isScalar(v):
		b.scalar(path, n, v)
	case v.Kind() == reflect.Map:
		b.entries(path, n, v)
	case v.Kind() == reflect.Struct:
		b.fields(path, n, v)
	case v.Kind() == reflect.Slice:
		b.list(path, n, v)
	}
}

// nodeBinder is set from a node of the document in a way of its own.
type nodeBinder interface{ bindNode(ast.Node) error }

// allocate returns what the pointer v points to, made with its defaults if it was nil.
func allocate(v reflect.Value) reflect.Value {
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
		if d, ok := v.Interface().(defaulter); ok {
			d.setDefaults()
		}
	}
	return v.Elem()
}

func isScalar(v reflect.Value) bool {
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return true
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Pointer, reflect.Map:
		return false
	}
	return true
}

// entries sets a map, whose keys are names that the user has chosen.
func (b *binder) entries(path string, n ast.Node, v reflect.Value) {
	values, ok := entries(n)
	if !ok {
		b.fail(n, path, "expected a section with entries NAME: ..., not %s", nodeName(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, entry := range values {
		if entry.Key.IsMergeKey() {
			b.fail(entry, path, "merge keys (<<) are not supported; repeat the entries")
			continue
		}
		key := entry.Key.GetToken().Value
		if key == "" || !utf8.ValidString(key) {
			b.fail(entry.Key, path, "an entry has a name of valid UTF-8 that is not empty")
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		b.bind(join(path, key), entry.Value, value)
		v.SetMapIndex(reflect.ValueOf(key), value)
	}
}

func (b *binder) scalar(path string, n ast.Node, v reflect.Value) {
	text, ok := scalarText(n)
	if !ok {
		b.fail(n, path, "expected %s, not %s", kindName(v.Type()), nodeName(n))
		return
	}
	if err := setText(v, text); err != nil {
		b.fail(n, path, "%v", err)
	}
}

// scalarText returns the text of a scalar node.
func scalarText(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.LiteralNode:
		return x.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	case *ast.MappingNode:
		return glued(x)
	}
	return "", false
}

// glued returns the text of host:9092 inside [ ], which the parser takes for a section although no space follows the
// colon.
func glued(m *ast.MappingNode) (string, bool) {
	if len(m.Values) != 1 || m.IsFlowStyle {
		return "", false
	}
	key, value := m.Values[0].Key.GetToken(), m.Values[0].Value.GetToken()
	if value == nil || key.Position.Line != value.Position.Line ||
		value.Position.Column != key.Position.Column+len(key.Value)+1 {
		return "", false
	}
	text, ok := scalarText(m.Values[0].Value)
	return key.Value + ":" + text, ok
}

func (b *binder) fields(path string, n ast.Node, v reflect.Value) {
	values, ok := entries(n)
	if !ok {
		if v.Type() == reflect.TypeFor[Secret]() {
			b.fail(
				n,
				path,
				"a secret is never written in the configuration; write {file: FILE} or {env: VARIABLE}, where it is "+
					"read from",
			)
			return
		}
		b.fail(n, path, "expected a section with fields, not %s", nodeName(n))
		return
	}
	known := fieldsOf(v)
	for _, entry := range values {
		key := entry.Key.GetToken().Value
		if entry.Key.IsMergeKey() {
			b.fail(entry, path, "merge keys (<<) are not supported; repeat the fields")
			continue
		}
		i := slices.IndexFunc(known, func(f field) bool { return f.name == key })
		if i < 0 {
			b.fail(entry.Key, path, "%s", unknown("field", key, fieldNames(known)))
			continue
		}
		b.bind(join(path, key), entry.Value, known[i].value)
	}
}

func (b *binder) list(path string, n ast.Node, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		b.fail(n, path, "expected a list, not %s; write [a, b] or one - item per line", nodeName(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		if d, ok := v.Index(i).Addr().Interface().(defaulter); ok {
			d.setDefaults()
		}
		b.bind(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
	}
}

func entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch x := n.(type) {
	case *ast.MappingNode:
		return x.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{x}, true
	}
	return nil, false
}

// setText sets a scalar from its text.
func setText(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		switch text {
		case "true":
			v.SetBool(true)
		case "false":
			v.SetBool(false)
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		x, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not an integer, or it is too large", text)
		}
		v.SetInt(x)
	case reflect.Uint64:
		x, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not an integer from 0 to 2^64-1", text)
		}
		v.SetUint(x)
	default:
		return fmt.Errorf("a %s cannot be set from text", v.Type())
	}
	return nil
}

func kindName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Size]():
		return "a size such as 8MiB"
	case t == reflect.TypeFor[Duration]():
		return "a duration such as 100ms"
	case t == reflect.TypeFor[Span]():
		return "a span of time such as 24h"
	case t == reflect.TypeFor[property.Type]():
		return "a type such as decimal(2)"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "an integer"
}

func nodeName(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a section with fields"
	case *ast.SequenceNode:
		return "a list"
	}
	if _, ok := scalarText(n); ok {
		return "a single value" // which is not shown: it may be a secret, or hold one
	}
	return strings.ToLower(n.Type().String())
}

// field is one field of a section.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf lists the fields of a section, those of embedded sections among them.
func fieldsOf(v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("yaml")
		switch {
		case !ok:
		case tag == ",inline":
			out = append(out, fieldsOf(v.Field(i))...)
		default:
			out = append(out, field{tag, v.Field(i)})
		}
	}
	return out
}

func fieldNames(fs []field) []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.name
	}
	return names
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
