package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spoolhq/spool"
)

// maxError bounds what an error repeats of the arguments.
const maxError = 500

// noArguments is the schema of a tool that takes none.
var noArguments = json.RawMessage(`{"type":"object","additionalProperties":false}`)

// FromSchema returns a tool that is described by a JSON schema of its arguments, draft
// 2020-12 or draft-07, rather than by a Go type. Nil parameters: the tool takes no
// arguments. Arguments are checked against the schema; call gets them as they are.
//
// FromSchema returns an invalid error when the name is no tool name or the schema does
// not compile, is not an object's, or refers to another document.
func FromSchema(
	name, description string,
	parameters json.RawMessage,
	call func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error),
) (spool.Tool, error) {
	if !nameExpr.MatchString(name) {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "tool name %q does not match %s", bound(name), nameExpr)
	}
	if call == nil {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "tool %s has no function", name)
	}
	source := parameters
	if len(source) == 0 {
		source = noArguments
	}
	s, err := compile(source)
	if err != nil {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "parameters of tool %s: %s", name, bound(err.Error()))
	}
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name, Description: description, Parameters: parameters},
		Check:    s.check,
		Call: func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
			if err := s.check(c.Args); err != nil {
				return nil, err
			}
			return call(withCall(ctx, c), c)
		},
	}, nil
}

// schema is a compiled schema of arguments.
type schema struct {
	parsed   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

func compile(source json.RawMessage) (*schema, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(source, &parsed); err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	if t := parsed.Type; t != "" && t != "object" || len(parsed.Types) > 0 {
		return nil, errors.New(`the type of a schema of arguments is "object"`)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	// A draft that the validator does not know is only found out by using it.
	var probe any = map[string]any{}
	if err := resolved.Validate(probe); err != nil && strings.Contains(err.Error(), "cannot validate version") {
		return nil, err
	}
	return &schema{parsed: &parsed, resolved: resolved}, nil
}

// check says what is wrong with arguments, in words for the model. No arguments at all
// count as an empty object.
func (s *schema) check(args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(args))
	var value any
	if err := d.Decode(&value); err != nil {
		return spool.Errorf(spool.Invalid, "arguments are no JSON: %s", bound(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return spool.Errorf(spool.Invalid, "arguments are no JSON: something follows the object")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return spool.Errorf(spool.Invalid, "arguments must be a JSON object")
	}
	if err := s.resolved.Validate(object); err != nil {
		return spool.Errorf(spool.Invalid, "%s", explain(err))
	}
	return checkLetters(s.parsed, object)
}

// stepExpr matches one step of the way that a validator error tells from the root of
// the schema to the place that was broken.
var stepExpr = regexp.MustCompile(`^validating (\S+): `)

// explain turns "validating root: validating /properties/city: type: ..." into
// "argument city: type: ...".
func explain(err error) string {
	text, place := err.Error(), ""
	for {
		m := stepExpr.FindStringSubmatch(text)
		if m == nil {
			break
		}
		text, place = text[len(m[0]):], m[1]
	}
	if field := fieldOf(place); field != "" {
		return bound("argument " + field + ": " + text)
	}
	return bound("arguments: " + text)
}

// fieldOf turns the path of a schema into that of a value: "/properties/a/items" into
// "a[]".
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

func bound(text string) string {
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + "..."
}
