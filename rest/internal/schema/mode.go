package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// component is a struct type in the document. A request and an answer may need two schemas of it: a field
// with a default may be absent from a request, and each answer has it.
//
// Both schemas have a key of their own until [Registry.Settle] has compared them.
type component struct {
	name string
	// in is the schema for requests and out the schema for answers; nil if nothing uses it. If both are
	// equal, they are one.
	in, out *form
	settled bool
}

// form is the schema of a component, and the name in references to it.
type form struct {
	key    string
	schema *huma.Schema
}

// requestSuffix is added to the name of a type whose requests differ from its answers.
const requestSuffix = "Input"

// Answers returns the registry that makes the schemas of answers. It shares the components.
func (r *Registry) Answers() *Registry { return &Registry{shared: r.shared, answers: true} }

// form returns the form of a type for the registry, and whether it was there before.
func (r *Registry) form(t reflect.Type, hint string) (f *form, known bool) {
	name := r.namer.name(t, hint)
	c := r.components[t]
	if c == nil {
		c = &component{name: name}
		r.components[t] = c
	}
	mine, other, suffix := &c.in, c.out, "-request"
	if r.answers {
		mine, other, suffix = &c.out, c.in, "-answer"
	}
	if *mine != nil {
		return *mine, true
	}
	if other == nil {
		suffix = ""
	}
	f = &form{key: name + suffix, schema: &huma.Schema{}}
	*mine = f
	r.schemas[f.key], r.types[f.key] = f.schema, t

	return f, false
}

// Settle compares the two forms of each type that has both. Equal forms become one component. If they differ,
// the answer keeps the name of the type, and the request's name ends in [requestSuffix], unless the program
// chooses another one.
//
// It returns the new schemas of changed references, by the old ones, for [Registry.Rename]. The components
// themselves refer to the new ones.
func (r *Registry) Settle() map[string]string {
	open := map[string]*component{} // by both keys
	for _, c := range r.components {
		if !c.settled && c.in != nil && c.out != nil {
			open[c.in.key], open[c.out.key] = c, c
		}
	}
	if len(open) == 0 {
		return nil
	}
	different := r.compare(open)
	renamed := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(open)) {
		if c := open[key]; !c.settled {
			c.settled = true
			r.settle(c, different[c], renamed)
		}
	}
	seen := map[*huma.Schema]bool{}
	for _, s := range r.schemas {
		rename(s, renamed, seen)
	}

	return renamed
}

// settle names a component.
func (r *Registry) settle(c *component, different bool, renamed map[string]string) {
	t := r.types[c.in.key]
	for _, key := range []string{c.in.key, c.out.key} {
		delete(r.schemas, key)
		delete(r.types, key)
	}
	if !different {
		renamed[Prefix+c.in.key], renamed[Prefix+c.out.key] = Prefix+c.name, Prefix+c.name
		c.out.key = c.name
		c.in = c.out
		r.schemas[c.name], r.types[c.name] = c.out.schema, t

		return
	}
	request := r.namer.chosen(r.namer.usual[t]+requestSuffix, t)
	for i, base := 2, request; r.namer.taken[request]; i++ {
		request = base + strconv.Itoa(i)
	}
	r.namer.taken[request] = true
	renamed[Prefix+c.in.key], renamed[Prefix+c.out.key] = Prefix+request, Prefix+c.name
	c.in.key, c.out.key = request, c.name
	r.schemas[request], r.types[request] = c.in.schema, t
	r.schemas[c.name], r.types[c.name] = c.out.schema, t
}

var reference = regexp.MustCompile(`"` + Prefix + `([^"]+)"`)

// compare finds the components whose forms differ: by themselves, or by what they refer to.
func (r *Registry) compare(open map[string]*component) map[*component]bool {
	texts := map[*form][]byte{}
	for _, c := range open {
		texts[c.in], texts[c.out] = textOf(c.in.schema), textOf(c.out.schema)
	}
	different := map[*component]bool{}
	// plain writes both names of a component in the same way, until something tells its forms apart.
	plain := func(f *form) []byte {
		return reference.ReplaceAllFunc(texts[f], func(ref []byte) []byte {
			if c := open[string(ref[len(Prefix)+1:len(ref)-1])]; c != nil && !different[c] {
				return []byte(`"` + c.name + `"`)
			}

			return ref
		})
	}
	for more := true; more; {
		more = false
		for _, c := range open {
			if !different[c] && !bytes.Equal(plain(c.in), plain(c.out)) {
				different[c], more = true, true
			}
		}
	}

	return different
}

func textOf(s *huma.Schema) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return nil // writing the document fails too, with the reason
	}

	return text
}

// Rename returns a function that updates the references in schemas. It skips a schema that it has seen
// before.
func Rename(renamed map[string]string) func(s *huma.Schema) {
	seen := map[*huma.Schema]bool{}

	return func(s *huma.Schema) { rename(s, renamed, seen) }
}

func rename(s *huma.Schema, renamed map[string]string, seen map[*huma.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if to, ok := renamed[s.Ref]; ok {
		s.Ref = to
	}
	if s.Discriminator != nil {
		for value, ref := range s.Discriminator.Mapping {
			if to, ok := renamed[ref]; ok {
				s.Discriminator.Mapping[value] = to
			}
		}
	}
	extra, _ := s.AdditionalProperties.(*huma.Schema)
	for _, one := range []*huma.Schema{s.Items, s.Not, extra} {
		rename(one, renamed, seen)
	}
	for _, p := range s.Properties {
		rename(p, renamed, seen)
	}
	for _, all := range [][]*huma.Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, one := range all {
			rename(one, renamed, seen)
		}
	}
}
