package openapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// checker checks arguments against a schema. It compiles the schema when it is needed first: most tools of a large
// document are never called, and to compile all of them would take most of the time of its load.
type checker struct {
	source json.RawMessage
	once   sync.Once
	schema *argschema.Schema
	err    error
}

func (c *checker) check(args json.RawMessage) error {
	c.once.Do(func() { c.schema, c.err = argschema.Compile(c.source) })
	if c.err != nil {
		return spool.Errorf(spool.Invalid, "the schema of the arguments is wrong: %s", argschema.Bound(c.err.Error()))
	}
	return c.schema.Check(args)
}

// kinds says what the values of keywords must be, because nothing else reads them before the first call.
var kinds = map[string]func(any) string{
	"type":             isType,
	"enum":             isList,
	"required":         isTexts,
	"format":           isText,
	"title":            isText,
	"contentEncoding":  isText,
	"contentMediaType": isText,
	"minimum":          isNumber,
	"maximum":          isNumber,
	"multipleOf":       isNumber,
	"exclusiveMinimum": isLimit,
	"exclusiveMaximum": isLimit,
	"minLength":        isCount,
	"maxLength":        isCount,
	"minItems":         isCount,
	"maxItems":         isCount,
	"minContains":      isCount,
	"maxContains":      isCount,
	"minProperties":    isCount,
	"maxProperties":    isCount,
	"uniqueItems":      isBool,
	"dependentRequired": func(v any) string {
		object, ok := v.(map[string]any)
		for _, value := range object {
			ok = ok && isTexts(value) == ""
		}
		return unless(ok, "must be an object with lists of texts")
	},
}

func unless(ok bool, text string) string {
	if ok {
		return ""
	}
	return text
}

func isText(v any) string {
	_, ok := v.(string)
	return unless(ok, "must be a text")
}

func isBool(v any) string {
	_, ok := v.(bool)
	return unless(ok, "must be true or false")
}

func isList(v any) string {
	_, ok := v.([]any)
	return unless(ok, "must be a list")
}

func isTexts(v any) string {
	list, ok := v.([]any)
	for _, item := range list {
		ok = ok && isText(item) == ""
	}
	return unless(ok, "must be a list of texts")
}

func isType(v any) string {
	return unless(isText(v) == "" || isTexts(v) == "", "must be the name of a type, or a list of names")
}

func isNumber(v any) string {
	number, ok := v.(json.Number)
	if ok {
		_, err := strconv.ParseFloat(number.String(), 64)
		ok = err == nil
	}
	return unless(ok, "must be a number")
}

// isLimit takes booleans too: see modernize.
func isLimit(v any) string {
	return unless(isBool(v) == "" || isNumber(v) == "", "must be a number")
}

func isCount(v any) string {
	number, ok := v.(json.Number)
	if ok {
		n, err := strconv.ParseInt(strings.TrimSuffix(number.String(), ".0"), 10, 64)
		ok = err == nil && n >= 0
	}
	return unless(ok, "must be an integer that is not negative")
}

// finite reports whether all numbers of a value fit 64 bits of floating point.
func finite(value any) bool {
	switch v := value.(type) {
	case json.Number:
		return isNumber(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(below any) bool { return !finite(below) })
	case map[string]any:
		for _, below := range v {
			if !finite(below) {
				return false
			}
		}
	}
	return true
}
