// Package argschema checks the arguments of tools against their JSON schemas. Its errors are texts that
// help a model to correct the arguments.
package argschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spoolhq/spool"
)

// maxError bounds how much of the arguments an error repeats.
const maxError = 500

// Schema is a compiled schema of arguments. It is safe for concurrent use.
type Schema struct {
	parsed   *jsonschema.Schema
	resolved *jsonschema.Resolved
	// size is the number of values in a foreign schema, and zero for a trusted one.
	size int
}

// Compile compiles the schema of a tool's arguments, draft 2020-12 or draft-07. It returns an error if
// the schema cannot be read, is not for an object, or refers to another document.
//
// A schema that refers to itself can make Compile and Check run for ever, so the author of the schema
// must be trusted. Otherwise use [Foreign].
func Compile(source json.RawMessage) (*Schema, error) {
	s, err := resolve(source)
	if err != nil {
		return nil, err
	}
	return s, s.probe()
}

// probe returns an error if the validator does not know the draft. The validator reports that only when
// it is used.
func (s *Schema) probe() error {
	var probe any = map[string]any{}
	if err := s.resolved.Validate(probe); err != nil && strings.Contains(err.Error(), "cannot validate version") {
		return err
	}
	return nil
}

func resolve(source json.RawMessage) (*Schema, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(source, &parsed); err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // the error names Go types
			return nil, fmt.Errorf("parse schema: %q cannot be a JSON %s",
				typed.Field[strings.LastIndexByte(typed.Field, '.')+1:], typed.Value)
		}
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	if t := parsed.Type; t != "" && t != "object" || len(parsed.Types) > 0 {
		return nil, errors.New(`the type of a schema of arguments is "object"`)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return &Schema{parsed: &parsed, resolved: resolved}, nil
}

// Check returns an error that says what is wrong with the arguments, in words for the model. Missing
// arguments count as an empty object.
func (s *Schema) Check(args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return s.check(args, words{"argument ", "arguments", "are"})
}

// CheckOutput does the same as Check for a value that a model answers with. The value must not be empty.
func (s *Schema) CheckOutput(value json.RawMessage) error {
	return s.check(value, words{"", "the answer", "is"})
}

// words are how an error names the value.
type words struct{ field, whole, verb string }

func (s *Schema) check(args json.RawMessage, w words) error {
	d := json.NewDecoder(bytes.NewReader(args))
	var value any
	if err := d.Decode(&value); err != nil {
		return spool.Errorf(spool.Invalid, "%s %s no JSON: %s", w.whole, w.verb, Bound(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return spool.Errorf(spool.Invalid, "%s %s no JSON: something follows the object", w.whole, w.verb)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return spool.Errorf(spool.Invalid, "%s must be a JSON object", w.whole)
	}
	if s.size > 0 && s.size > maxWork/sizeOf(object) {
		return spool.Errorf(spool.Invalid, "%s %s too large to be checked with the schema", w.whole, w.verb)
	}
	if err := s.resolved.Validate(object); err != nil {
		return spool.Errorf(spool.Invalid, "%s", s.explain(err, object, w))
	}
	return checkLetters(s.parsed, object, w)
}

// stepExpr matches one step of the path in a validator error, from the root of the schema to the
// violated rule.
var stepExpr = regexp.MustCompile(`^validating (\S+): `)

// strip returns the text of a validator error without its path, and the last step of the path.
func strip(err error) (text, place string) {
	text = err.Error()
	for {
		m := stepExpr.FindStringSubmatch(text)
		if m == nil {
			return text, place
		}
		text, place = text[len(m[0]):], m[1]
	}
}

// explain turns "validating root: validating /properties/city: type: ..." into
// "argument city: type: ...". If the value fits no alternative, explain says what is wrong by the nearest one.
func (s *Schema) explain(err error, value any, w words) string {
	text, place := strip(err)
	if strings.HasPrefix(text, "anyOf: ") || strings.HasPrefix(text, "oneOf: did not") {
		if near := nearest(s.parsed, value, w); near != "" {
			return Bound(near)
		}
	}
	if field := fieldOf(place); field != "" {
		return Bound(w.field + field + ": " + text)
	}
	return Bound(w.whole + ": " + text)
}

// fieldOf turns the path of a schema into the path of a value: "/properties/a/items" into "a[]".
func fieldOf(path string) string {
	var b strings.Builder
	tokens := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 0; i < len(tokens); i++ {
		switch tokens[i] {
		case "properties":
			i++
			if i < len(tokens) {
				if b.Len() > 0 {
					b.WriteByte('.')
				}
				b.WriteString(strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i]))
			}
		case "items", "prefixItems":
			b.WriteString("[]")
		}
	}
	return b.String()
}

// Bound cuts a text to the length that an error may repeat.
func Bound(text string) string {
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + "..."
}
