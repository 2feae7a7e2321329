package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
)

type plainKey struct {
	schema *huma.Schema
	ignore bool
}

// Body returns the schema for checks of a document of type t, for [body.Compile]. With ignore, unknown keys
// of objects are skipped, unless the object's type says otherwise. The error names the type and field with a
// wrong declaration.
func (r *Registry) Body(t reflect.Type, hint string, ignore bool) (s *body.Schema, err error) {
	defer Catch(&err)

	s = converter{r, ignore}.body(r.Of(t, hint))
	for len(r.later) > 0 {
		next := r.later[0]
		r.later = r.later[1:]
		next()
	}

	return s, nil
}

// converter turns schemas of huma into schemas of readers.
type converter struct {
	*Registry

	ignore bool // skip unknown keys
}

func (r converter) body(s *huma.Schema) *body.Schema {
	if s == nil {
		return nil
	}
	key := plainKey{schema: s, ignore: r.ignore}
	if done, ok := r.plain[key]; ok {
		return done
	}
	plain := &body.Schema{}
	r.plain[key] = plain

	plain.Default = defaultText(s)
	plain.ReadOnly = s.ReadOnly
	plain.Nullable = s.Nullable

	switch {
	case s.Ref != "":
		target := r.SchemaFromRef(s.Ref)
		if target == nil {
			panic(mistake{fmt.Errorf("schema: reference to unknown component %q", s.Ref)})
		}
		plain.Ref = r.body(target)
		if target.Discriminator != nil && plain.Ref.Validate == nil {
			r.variants(plain.Ref, r.TypeFromRef(s.Ref), target)
		}
		plain.Ref.Name = strings.TrimPrefix(s.Ref, Prefix)
		plain.Ref.Closed = plain.Ref.Closed || r.closed(s.Ref)
	case isNullableRef(s):
		plain.Ref, plain.Nullable = r.body(s.AnyOf[0]), true
	case s.Discriminator != nil && len(s.OneOf) > 0: // the discriminator names the type
	case s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || !simpleEnum(s):
		// Huma's validator checks the value. Its form follows from its Go type.
		plain.Validate = func(raw []byte) []fault.Fault { return r.validateText(s, raw) }
	default:
		r.convert(plain, s)
	}

	return plain
}

func (r converter) convert(plain *body.Schema, s *huma.Schema) {
	plain.Type = s.Type
	plain.Enum = enum(s)
	plain.Format, plain.Pattern = s.Format, s.Pattern
	plain.MinLength, plain.MaxLength = s.MinLength, s.MaxLength
	plain.Minimum, plain.ExclusiveMinimum = s.Minimum, s.ExclusiveMinimum
	plain.Maximum, plain.ExclusiveMaximum = s.Maximum, s.ExclusiveMaximum
	plain.MultipleOf = s.MultipleOf
	plain.Items = r.body(s.Items)
	plain.MinItems, plain.MaxItems, plain.UniqueItems = s.MinItems, s.MaxItems, s.UniqueItems
	plain.MinProperties, plain.MaxProperties = s.MinProperties, s.MaxProperties
	plain.Required, plain.DependentRequired = s.Required, s.DependentRequired

	switch extra := s.AdditionalProperties.(type) {
	case bool:
		plain.Closed = !extra && !r.ignore
	case *huma.Schema:
		plain.Values = r.body(extra)
	}
	if s.Properties != nil {
		plain.Properties = make(map[string]*body.Schema, len(s.Properties))
		for name, property := range s.Properties {
			plain.Properties[name] = r.body(property)
		}
	}
	if s.ContentEncoding == "base64" && plain.Format == "" {
		plain.Format = "base64"
	}
}

// closed reports whether the type of a component itself refuses unknown keys.
func (r converter) closed(ref string) bool {
	t := r.TypeFromRef(ref)
	if t == nil {
		return false
	}
	f, ok := t.FieldByName("_")

	return ok && f.Tag.Get("additionalProperties") == "false"
}

// isNullableRef recognizes the result of [Registry.nullable] for a reference.
func isNullableRef(s *huma.Schema) bool {
	return len(s.AnyOf) == 2 && s.AnyOf[0].Ref != "" && s.AnyOf[1].Type == "null" && s.OneOf == nil &&
		s.AllOf == nil && s.Not == nil
}

func defaultText(s *huma.Schema) json.RawMessage {
	if s.Default == nil {
		return nil
	}
	text, err := json.Marshal(s.Default)
	if err != nil {
		panic(mistake{fmt.Errorf("schema: default: %w", err)})
	}

	return text
}

// simpleEnum reports whether the allowed values can be compared without decoding.
func simpleEnum(s *huma.Schema) bool {
	if len(s.Enum) == 0 && s.Const == nil {
		return true
	}
	for _, value := range append(append([]any{}, s.Enum...), s.Const) {
		switch s.Type {
		case huma.TypeString:
			if _, ok := value.(string); !ok && value != nil {
				return false
			}
		case huma.TypeInteger, huma.TypeNumber:
			if _, ok := toFloat(value); !ok && value != nil {
				return false
			}
		case huma.TypeBoolean:
			if _, ok := value.(bool); !ok && value != nil {
				return false
			}
		default:
			return false
		}
	}

	return s.Const == nil || len(s.Enum) == 0
}

// enum are the allowed values, numbers as float64.
func enum(s *huma.Schema) []any {
	values := s.Enum
	if s.Const != nil {
		values = []any{s.Const}
	}

	var allowed []any
	for _, value := range values {
		if number, ok := toFloat(value); ok {
			value = number
		}
		allowed = append(allowed, value)
	}

	return allowed
}

func toFloat(value any) (float64, bool) {
	v := reflect.ValueOf(value)

	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}

	return 0, false
}

// validateText checks JSON against a schema with huma's validator.
func (r *Registry) validateText(s *huma.Schema, raw []byte) []fault.Fault {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return []fault.Fault{fault.Unreadable("", nil)}
	}

	return r.validate(s, value)
}

func (r *Registry) validate(s *huma.Schema, value any) []fault.Fault {
	var result huma.ValidateResult
	huma.Validate(r, s, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)

	var faults []fault.Fault
	for _, err := range result.Errors {
		detail, ok := err.(*huma.ErrorDetail) //nolint:errorlint // huma adds nothing else
		if !ok {
			continue
		}
		// The part after the colon may quote the value.
		message, _, _ := strings.Cut(detail.Message, ": ")
		faults = append(faults, fault.Value("", steps(detail.Location), predicate(message)))
	}

	return faults
}

// predicate returns the message of huma's validator as a predicate, whose subject is the place.
func predicate(message string) string {
	if rest, ok := strings.CutPrefix(message, "expected value to "); ok {
		return "must " + rest
	}

	return message
}

// steps splits a location such as "tags[1].name".
func steps(location string) []any {
	var all []any

	for part := range strings.FieldsFuncSeq(location, func(c rune) bool { return c == '.' || c == '[' }) {
		if inside, ok := strings.CutSuffix(part, "]"); ok {
			if i, err := strconv.Atoi(inside); err == nil {
				all = append(all, i)
				continue
			}
		}
		all = append(all, part)
	}

	return all
}
