package bind

import (
	"reflect"
	"slices"
	"time"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// compileEnum compiles the allowed values. They are compared as values, so that 1 and 01
// are the same integer; types that unmarshal text are compared by their text.
func (s *scalar) compileEnum(tags tags) error {
	texts, ok, err := tags.list("enum")
	if !ok || err != nil {
		return err
	}
	if len(texts) == 0 {
		return badTag("enum", tags.text("enum"), "allows nothing")
	}

	allowed := make([]any, len(texts))
	for i, text := range texts {
		value := reflect.New(s.typ)
		into, _ := placeOf(value.Interface(), value.Type())
		if bad := s.parse(into, text); bad != nil {
			return badTag("enum", tags.text("enum"), "has a value that is no "+s.typ.String())
		}
		allowed[i] = key(value.Elem())
	}

	if s.class == classText {
		bad := fault.Enum("", nil, anys(texts))
		s.checks = append(s.checks, failingText(&bad, func(text string) bool { return !slices.Contains(texts, text) }))

		return nil
	}

	bad := fault.Enum("", nil, allowed)
	if s.class == classTime || s.class == classDuration {
		bad = fault.Enum("", nil, anys(texts))
	}
	typ := s.typ
	s.checks = append(s.checks, failing(&bad, func(a place) bool { return !slices.Contains(allowed, key(a.value(typ))) }))

	return nil
}

// key returns a value that is equal for values with the same meaning: times are equal if they are the same
// instant, in any zone.
func key(value reflect.Value) any {
	held := value.Interface()
	if moment, ok := held.(time.Time); ok {
		return moment.UTC()
	}

	return held
}

func anys(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}

	return list
}
