package argschema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// maxFaults bounds the checks by which the nearest alternative is found. Each compiles a small schema.
	maxFaults = 500
	// The weights of faults: a value of another type fits an alternative less than one with another constant, which
	// may say which alternative the value is meant to be.
	lightFault, constFault, typeFault = 1, 10, 1000
)

// fault is what is wrong with a value, at a path in it.
type fault struct {
	path, text string
	weight     int
}

// explainer explains why a value fits no alternative of an anyOf or oneOf.
type explainer struct {
	root *jsonschema.Schema
	left int
}

// nearest returns which alternative a value is nearest to, at the first anyOf or oneOf in the schema that no part of it
// fits, and everything that is wrong with that part. It returns "" if it finds none.
func nearest(root *jsonschema.Schema, value any, w words) string {
	e := explainer{root: root, left: maxFaults}
	path, s, part := e.find(root, value, "", maxRefs)
	if s == nil {
		return ""
	}
	name, faults := e.choose(s, part, path, maxRefs)
	where := w.whole
	if path != "" {
		where = w.field + path
	}
	texts := make([]string, 0, len(faults))
	for _, f := range faults {
		if f.path != "" && f.path != path {
			f.text = f.path + ": " + f.text
		}
		texts = append(texts, f.text)
	}
	return fmt.Sprintf("%s: fits none of %d alternatives. The nearest is %s: %s", where, len(alternatives(s)), name,
		strings.Join(texts, "; "))
}

func alternatives(s *jsonschema.Schema) []*jsonschema.Schema {
	if len(s.AnyOf) > 0 {
		return s.AnyOf
	}
	return s.OneOf
}

// find returns the first schema with alternatives that its part of the value does not fit, and that part.
func (e *explainer) find(s *jsonschema.Schema, value any, path string, depth int) (string, *jsonschema.Schema, any) {
	s = e.follow(s)
	if s == nil || depth == 0 {
		return "", nil, nil
	}
	if all := alternatives(s); len(all) > 0 && !e.fits(&jsonschema.Schema{AnyOf: all}, value) {
		return path, s, value
	}
	for _, below := range e.below(s, value, path) {
		if at, found, part := e.find(below.schema, below.value, below.path, depth-1); found != nil {
			return at, found, part
		}
	}
	for _, all := range s.AllOf {
		if at, found, part := e.find(all, value, path, depth-1); found != nil {
			return at, found, part
		}
	}
	return "", nil, nil
}

// place is a part of a value, and its schema.
type place struct {
	schema *jsonschema.Schema
	value  any
	path   string
}

// below returns the parts directly below a value for which the schema has a schema.
func (e *explainer) below(s *jsonschema.Schema, value any, path string) (all []place) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := s.Properties[key]
			if inner == nil && !isFalse(s.AdditionalProperties) {
				inner = s.AdditionalProperties
			}
			if inner != nil {
				all = append(all, place{inner, v[key], strings.TrimPrefix(path+"."+Bound(key), ".")})
			}
		}
	case []any:
		for i := range v {
			if s.Items != nil {
				all = append(all, place{s.Items, v[i], path + "[" + strconv.Itoa(i) + "]"})
			}
		}
	}
	return all
}

// choose returns the name of the alternative that a value is nearest to, and what is wrong with the value.
func (e *explainer) choose(s *jsonschema.Schema, value any, path string, depth int) (name string, faults []fault) {
	least := -1
	for i, branch := range alternatives(s) {
		found := e.faults(branch, value, path, depth-1)
		if len(found) == 0 {
			found = []fault{{path, "does not fit", constFault}}
		}
		sum := 0
		for _, f := range found {
			sum += f.weight
		}
		if least < 0 || sum < least {
			least, name, faults = sum, e.name(branch, i), found
		}
	}
	return name, faults
}

// name returns what an alternative is called: its title, its constants, or its number.
func (e *explainer) name(branch *jsonschema.Schema, i int) string {
	if s := e.follow(branch); s != nil {
		if s.Title != "" {
			return strconv.Quote(Bound(s.Title))
		}
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			if p := s.Properties[key]; p.Const != nil {
				return Bound(fmt.Sprintf("that with %s %v", key, *p.Const))
			}
		}
	}
	return fmt.Sprintf("number %d", i+1)
}

// faults returns everything that is wrong with a value.
func (e *explainer) faults(s *jsonschema.Schema, value any, path string, depth int) (all []fault) {
	if s = e.follow(s); s == nil || depth == 0 || e.left == 0 {
		return nil
	}
	if isFalse(s) {
		return []fault{{path, "must be left out", lightFault}}
	}
	if f := e.own(s, value); f.text != "" {
		f.path = path
		if all = append(all, f); f.weight == typeFault {
			return all
		}
	}
	if object, ok := value.(map[string]any); ok {
		for _, key := range s.Required {
			if _, has := object[key]; !has {
				all = append(all, fault{strings.TrimPrefix(path+"."+key, "."), "is missing", lightFault})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if s.Properties[key] == nil && isFalse(s.AdditionalProperties) && len(s.PatternProperties) == 0 {
				all = append(all, fault{strings.TrimPrefix(path+"."+Bound(key), "."), "is not known", lightFault})
			}
		}
	}
	for _, below := range e.below(s, value, path) {
		found := e.faults(below.schema, below.value, below.path, depth-1)
		for i := range found {
			found[i].weight = min(found[i].weight, constFault) // a wrong field says less than a wrong value
		}
		all = append(all, found...)
	}
	for _, part := range s.AllOf {
		all = append(all, e.faults(part, value, path, depth-1)...)
	}
	if len(alternatives(s)) > 0 && !e.fits(&jsonschema.Schema{AnyOf: alternatives(s)}, value) {
		_, found := e.choose(s, value, path, depth-1)
		all = append(all, found...)
	}
	return all
}

// own returns what is wrong with a value by the keywords of a schema that have no schemas in them.
func (e *explainer) own(s *jsonschema.Schema, value any) fault {
	e.left--
	types := jsonschema.Schema{Type: s.Type, Types: s.Types}
	if text := problem(&types, value); text != "" {
		return fault{text: text, weight: typeFault}
	}
	if text := problem(&jsonschema.Schema{Enum: s.Enum, Const: s.Const}, value); text != "" {
		return fault{text: text, weight: constFault}
	}
	return fault{weight: lightFault, text: problem(&jsonschema.Schema{
		MultipleOf: s.MultipleOf, Minimum: s.Minimum, Maximum: s.Maximum, ExclusiveMinimum: s.ExclusiveMinimum,
		ExclusiveMaximum: s.ExclusiveMaximum, MinLength: s.MinLength, MaxLength: s.MaxLength, Pattern: s.Pattern,
		MinItems: s.MinItems, MaxItems: s.MaxItems, UniqueItems: s.UniqueItems, MinProperties: s.MinProperties,
		MaxProperties: s.MaxProperties,
	}, value)}
}

// problem returns what is wrong with a value, "" if it fits.
func problem(s *jsonschema.Schema, value any) string {
	resolved, err := s.Resolve(nil)
	if err != nil {
		return ""
	}
	if err = resolved.Validate(value); err == nil {
		return ""
	}
	text, _ := strip(err)
	return text
}

// fits reports whether a value fits a schema whose references lead into the root.
func (e *explainer) fits(s *jsonschema.Schema, value any) bool {
	if e.left--; e.left <= 0 {
		return true
	}
	whole := &jsonschema.Schema{AllOf: []*jsonschema.Schema{s}, Defs: e.root.Defs, Definitions: e.root.Definitions}
	resolved, err := whole.CloneSchemas().Resolve(nil)
	return err != nil || resolved.Validate(value) == nil
}

// follow returns the schema that a reference to a definition means, or nil for another reference.
func (e *explainer) follow(s *jsonschema.Schema) *jsonschema.Schema {
	for range maxRefs {
		if s == nil || s.Ref == "" {
			return s
		}
		switch name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); {
		case ok:
			s = e.root.Defs[name]
		default:
			s = e.root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		}
	}
	return nil
}

// isFalse reports whether a schema is false, which no value fits.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && s.Type == "" && len(s.Properties) == 0 && s.Not.Type == "" &&
		len(s.Not.Types) == 0 && len(s.Not.Required) == 0 &&
		s.Not.Enum == nil && s.Not.Const == nil && len(s.Not.Properties) == 0
}
