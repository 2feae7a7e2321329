package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// parse returns the root of the only document of a file, or nil if the file has none.
func parse(name string, text []byte) (*yaml.Node, error) {
	loader := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := loader.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // a file of comments is a configuration without sections
	} else if err != nil {
		return nil, FieldErrors{syntaxProblem(name, err)}
	}
	if err := loader.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, FieldErrors{Source{File: name, Line: max(more.Line, 1)}.Errorf("there must be one document only")}
	}
	return doc.Content[0], nil
}

func syntaxProblem(name string, err error) FieldError {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return Source{File: name, Line: 1}.Errorf("not valid YAML: %v", err)
	}
	text := load.Message
	if strings.Contains(load.ContextMsg, "flow") {
		text += `; a value with ${...} needs quotes inside { } and [ ]`
	}
	return Source{File: name, Line: max(load.Mark.Line, 1)}.Errorf("not valid YAML: %s", text)
}

// decoder reads values and collects their problems. It returns the zero value for a wrong value, and
// continues.
type decoder struct {
	// config has what was read, for values that refer to it, and root is the whole file.
	config *Config
	root   value
	// anonymous says that requests need no token.
	anonymous bool
	file      string
	lookup    func(string) (string, bool)
	problems  FieldErrors
	// wrong has the sources of the problems.
	wrong map[Source]bool
	// used has the values of the environment that replaced references.
	used []string
}

// value is a node of the file and the path that leads to it. A nil node is absent.
type value struct {
	d    *decoder
	node *yaml.Node
	path string
	// line is the line of the value. For an absent value it is the line of the enclosing mapping.
	line int
}

// entry is a value of a mapping, under its key.
type entry struct {
	value

	name string
}

func (v value) present() bool { return v.node != nil }

func (v value) source() Source { return Source{v.d.file, max(v.line, 1), v.path} }

func (v value) problemf(format string, args ...any) {
	v.d.add(v.source().Errorf(format, args...))
}

func (d *decoder) add(problem FieldError) {
	d.problems = append(d.problems, problem)
	d.wrong[problem.Source] = true
}

// complained reports whether there is a problem of this value.
func (v value) complained() bool { return v.d.wrong[v.source()] }

// below returns the path of an element: a step is a key, or an index such as "[0]".
func below(path, step string) string {
	if path == "" || strings.HasPrefix(step, "[") {
		return path + step
	}
	return path + "." + step
}

// child returns the value of a node below v. An alias is followed, and null is absent.
func (v value) child(step string, n *yaml.Node) value {
	if n == nil {
		return value{d: v.d, path: step}
	}
	c := value{d: v.d, node: n, path: below(v.path, step), line: n.Line}
	if n.Kind == yaml.AliasNode {
		c.node = n.Alias
	}
	if c.node.Kind == yaml.ScalarNode && c.node.Tag == "!!null" {
		c.node = nil
	}
	return c
}

// entries returns the entries of a mapping in their order.
func (v value) entries() []entry {
	if !v.present() {
		return nil
	}
	if v.node.Kind != yaml.MappingNode {
		v.problemf("must be a mapping")
		return nil
	}
	var out []entry
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		c := v.child(key.Value, v.node.Content[i+1])
		if c.line = key.Line; key.Kind != yaml.ScalarNode {
			c.path = v.path
			c.problemf("a key must be a plain word")
			continue
		}
		if slices.ContainsFunc(out, func(e entry) bool { return e.name == key.Value }) {
			c.problemf("is there twice")
			continue
		}
		out = append(out, entry{c, key.Value})
	}
	return out
}

// fields returns the entries of a mapping that has only the given keys.
func (v value) fields(known ...string) map[string]value {
	out := make(map[string]value, len(known))
	for _, e := range v.entries() {
		if !slices.Contains(known, e.name) {
			e.problemf("unknown field; there are %s", strings.Join(known, ", "))
			continue
		}
		out[e.name] = e.value
	}
	for _, name := range known {
		if _, ok := out[name]; !ok {
			out[name] = value{d: v.d, path: below(v.path, name), line: v.line}
		}
	}
	return out
}

// items returns the items of a list.
func (v value) items() []value {
	if !v.present() {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode {
		if !v.complained() {
			v.problemf("must be a list")
		}
		return nil
	}
	out := make([]value, len(v.node.Content))
	for i, n := range v.node.Content {
		out[i] = v.child("["+strconv.Itoa(i)+"]", n)
	}
	return out
}

// at returns the value of a key, and complains about nothing.
func (v value) at(key string) value {
	out := value{d: v.d, path: below(v.path, key), line: v.line}
	for i, name := range v.names() {
		if name == key {
			out = v.child(key, v.node.Content[2*i+1])
			out.line = v.node.Content[2*i].Line
			break
		}
	}
	return out
}

// names returns the keys of a mapping, and complains about nothing.
func (v value) names() []string {
	if !v.present() || v.node.Kind != yaml.MappingNode {
		return nil
	}
	names := make([]string, len(v.node.Content)/2)
	for i := range names {
		names[i] = v.node.Content[2*i].Value
	}
	return names
}

// quiet returns the text of a scalar, and complains about nothing.
func (v value) quiet() string {
	v.d = &decoder{file: v.d.file, lookup: v.d.lookup, wrong: make(map[Source]bool)}
	s, _ := v.scalar("text")
	return s
}

// scalar returns the text of a scalar after expansion.
func (v value) scalar(want string) (string, bool) {
	if !v.present() {
		return "", false
	}
	if v.node.Kind != yaml.ScalarNode {
		v.problemf("must be %s", want)
		return "", false
	}
	return v.expand(v.node.Value)
}

// text returns a string. Numbers and the like must be quoted, because YAML would otherwise change them:
// 1.10 is not "1.10".
func (v value) text() string { return v.tagged("!!str") }

// date returns a text that may be a date without quotes, which YAML does not take for text.
func (v value) date() string { return v.tagged("!!str", "!!timestamp") }

func (v value) tagged(tags ...string) string {
	s, ok := v.scalar("text")
	if ok && !slices.Contains(tags, v.node.Tag) {
		v.problemf("must be text; put it in quotes")
		return ""
	}
	return s
}

func (v value) boolean() bool {
	s, ok := v.scalar("true or false")
	if !ok {
		return false
	}
	if s != "true" && s != "false" || quoted(v.node) && !expands(v.node.Value) {
		v.problemf("must be true or false")
	}
	return s == "true"
}

// atLeast returns a whole number of at least least.
func (v value) atLeast(least int) int {
	s, ok := v.scalar("a whole number")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || quoted(v.node) && !expands(v.node.Value):
		v.problemf("must be a whole number")
		return 0
	case n < least:
		v.problemf("must be %d or more", least)
	}
	return n
}

func (v value) duration() time.Duration {
	const want = `a duration such as "500ms", "30s" or "15m"`
	s, ok := v.scalar(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		v.problemf("must be %s", want)
	case d <= 0:
		v.problemf("must be more than nothing")
	}
	return d
}

// durationOrNone returns a duration, or a negative one for 0, whose meaning none describes.
func (v value) durationOrNone(none, example string) time.Duration {
	want := "0 " + none + `, or a duration such as "` + example + `"`
	s, ok := v.scalar(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < 0:
		v.problemf("must be %s", want)
		return 0
	case d == 0:
		return -1
	}
	return d
}

// number returns a number from least to most.
func (v value) number(least, most float64) *float64 {
	want := fmt.Sprintf("a number from %g to %g", least, most)
	s, ok := v.scalar(want)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < least || n > most || quoted(v.node) && !expands(v.node.Value) {
		v.problemf("must be %s", want)
		return nil
	}
	return &n
}

func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
}

// maxDepth limits the depth of a free value, because an alias may refer to itself. maxNodes limits its
// size, because aliases multiply.
const (
	maxDepth = 64
	maxNodes = 10_000
)

// object returns a free mapping as JSON, and the source of each value in it. It returns nil if the
// mapping is absent.
func (v value) object() (json.RawMessage, map[string]Source) {
	if !v.present() {
		return nil, nil
	}
	if v.node.Kind != yaml.MappingNode {
		v.problemf("must be a mapping")
		return nil, nil
	}
	nodes, within := maxNodes, map[string]Source{}
	b, err := json.Marshal(v.free(maxDepth, &nodes, within))
	if err != nil {
		v.problemf("cannot be written as JSON")
	}
	if nodes <= 0 {
		v.problemf("is too large or refers to itself")
	}
	return b, within
}

func (v value) free(depth int, nodes *int, within map[string]Source) any {
	within[v.path] = v.source()
	if *nodes--; depth == 0 || *nodes <= 0 {
		*nodes = 0
		return nil
	}
	switch {
	case !v.present():
		return nil
	case v.node.Kind == yaml.MappingNode:
		out := map[string]any{}
		for _, e := range v.entries() {
			out[e.name] = e.free(depth-1, nodes, within)
		}
		return out
	case v.node.Kind == yaml.SequenceNode:
		out := []any{}
		for _, item := range v.items() {
			out = append(out, item.free(depth-1, nodes, within))
		}
		return out
	case v.node.Tag == "!!str":
		s, _ := v.expand(v.node.Value)
		return s
	default:
		var out any
		if err := v.node.Decode(&out); err != nil {
			v.problemf("is not a valid value")
		}
		return out
	}
}
