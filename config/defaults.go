package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Defaults writes the whole configuration with the default of every field, as YAML that Load reads. page is
// docs/configuration.md, whose entries become comments. A field without a default, and a section that is there only
// when it is named, is commented out: without its # it is YAML. The text of a field is that of its entry.
func Defaults(page string) string { return writeDefaults(Default(), page) }

func writeDefaults(c *Config, page string) string {
	w := &defaultsWriter{entries: pageEntries(page)}
	w.section("", reflect.ValueOf(c).Elem(), "", false)
	return w.b.String()
}

// pageEntry is the entry of a field on the page docs/configuration.md.
type pageEntry struct {
	text  []string // paragraphs, of which those behind the first are items of a list
	value string   // the default, "" if it is none, or depends on others
}

var (
	entryStart   = regexp.MustCompile("^- `([^`]+)` \\((?:default `([^`]*)`|[^)]*)\\):? ?(.*)$")
	markdownLink = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
)

// pageEntries returns the entries of the page by path.
func pageEntries(page string) map[string]*pageEntry {
	all := make(map[string]*pageEntry)
	var e *pageEntry
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		switch m := entryStart.FindStringSubmatch(line); {
		case m != nil:
			e = &pageEntry{value: m[2], text: []string{m[3]}}
			all[m[1]] = e
			if strings.HasPrefix(line, "- `"+m[1]+"` (required") {
				e.text[0] = "Required: " + e.text[0]
			}
		case e == nil:
		case strings.HasPrefix(line, "  - "):
			e.text = append(e.text, strings.TrimSpace(line))
		case strings.HasPrefix(line, "  "):
			e.text[len(e.text)-1] += " " + strings.TrimSpace(line)
		default:
			e = nil
		}
	}
	for _, e := range all {
		for i, t := range e.text {
			e.text[i] = strings.ReplaceAll(markdownLink.ReplaceAllString(t, "$1"), "`", "")
		}
	}
	return all
}

// defaultsWriter writes fields with comments.
type defaultsWriter struct {
	b       strings.Builder
	entries map[string]*pageEntry
}

// refusedAlone names the sections and fields that are refused unless others are set.
var refusedAlone = map[string]bool{"time": true, "graph.vertex_expiry": true}

// section writes the fields of a section; out tells that it is commented out.
func (w *defaultsWriter) section(path string, v reflect.Value, indent string, out bool) {
	for _, f := range fieldsOf(v) {
		at, value, out := join(path, f.name), f.value, out
		if value.Kind() == reflect.Pointer && value.Type().Elem().Kind() == reflect.Struct {
			value, out = named(value), true
		}
		out = out || refusedAlone[at]
		switch list := value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct; {
		case list:
			w.line(indent, f.name+":", true)
			w.section(at+"[]", reflect.New(value.Type().Elem()).Elem(), indent+"    ", true)
		case value.Kind() == reflect.Struct && !isScalar(value):
			w.line(indent, f.name+":", out)
			w.section(at, value, indent+"  ", out)
		default:
			w.field(at, f.name, value, indent, out)
		}
	}
}

// named returns a section as it is when it is named.
func named(v reflect.Value) reflect.Value {
	if !v.IsNil() {
		return v.Elem()
	}
	section := reflect.New(v.Type().Elem())
	if d, ok := section.Interface().(defaulter); ok {
		d.setDefaults()
	}
	return section.Elem()
}

func (w *defaultsWriter) field(path, name string, v reflect.Value, indent string, out bool) {
	e := w.entries[path]
	if e == nil {
		e = &pageEntry{}
	}
	w.comment(e, indent)
	text, ok := defaultText(v)
	if !ok && e.value != "" {
		text = yamlText(e.value)
	}
	prefix := ""
	if path == "queries[].name" { // the first field of an element
		indent, prefix = strings.TrimSuffix(indent, "  "), "- "
	}
	w.line(indent, prefix+name+": "+text, out || !ok)
}

// comment writes what the page says, in lines of at most 100 characters.
func (w *defaultsWriter) comment(e *pageEntry, indent string) {
	const width = 100
	for i, t := range e.text {
		first, rest := "# ", "# "
		if i > 0 {
			first, rest = "#   ", "#     "
		}
		line := indent + first
		for _, word := range strings.Fields(t) {
			if len(line)+len(word) > width && line != indent+first {
				w.b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent + rest
			}
			line += word + " "
		}
		if strings.TrimSpace(line) != "#" {
			w.b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

func (w *defaultsWriter) line(indent, text string, out bool) {
	if out {
		indent += "#"
	}
	w.b.WriteString(indent + text + "\n")
}

// defaultText writes a value as YAML; false if it is no default but the absence of one.
func defaultText(v reflect.Value) (string, bool) {
	switch x := v.Interface().(type) {
	case Duration:
		return shortSpan(x.String()), true
	case Period:
		return shortSpan(x.String()), true
	case Span:
		return "24h", false // only where none is the default: an example
	case fmt.Stringer:
		return x.String(), true
	}
	switch v.Kind() {
	case reflect.String:
		if v.String() == "" {
			return `""`, false
		}
		return yamlText(v.String()), true
	case reflect.Slice:
		return "[]", false
	case reflect.Map:
		return "{}", false
	}
	return fmt.Sprint(v.Interface()), true
}

// yamlText writes a string as YAML.
func yamlText(s string) string {
	if plainText.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// plainText matches text that YAML reads as a string, a size or a span without quotes.
var plainText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// shortSpan leaves out the minutes and seconds that are 0.
func shortSpan(s string) string {
	if t, ok := strings.CutSuffix(s, "m0s"); ok {
		s = t + "m"
	}
	if t, ok := strings.CutSuffix(s, "h0m"); ok {
		s = t + "h"
	}
	return s
}
