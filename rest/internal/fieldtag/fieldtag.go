// Package fieldtag finds struct tags that seem to have an effect and have none: misspelled tags of rest, and
// tags by which other libraries read and check requests. The author of such a tag believes in a rule that no
// code enforces, so rest refuses the type.
//
// Tags of stores and encoders (bun, gorm, db, yaml, xml) are ignored, because other code reads them.
package fieldtag

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/union"
)

// sources are the tags that make a field a parameter.
var sources = []string{"path", "query", "header", "cookie", "form", "file"}

// own are the tags of rest, by their folded spelling.
var own = folded(slices.Concat(sources, []string{
	"json", "filter", "crud",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "enum", "const", "format", "minItems", "maxItems", "uniqueItems", "minProperties",
	"maxProperties", "default", "required", "nullable", "doc", "docOf", "example", "deprecated", "hidden", "readOnly",
	"writeOnly", "contentType", "maxSize", "dependentRequired", "additionalProperties",
}))

// inAnswers are the tags whose misspelling would change an answer.
var inAnswers = []string{"json", "format", "nullable", "hidden", "writeOnly"}

// read has the tags by which other libraries read a request, each with the tag of rest.
var read = map[string]string{"uri": "path", "param": "path", "params": "path", "reqHeader": "header"}

// checked has the tags by which other libraries check values, each with the tag of rest.
var checked = map[string]string{
	"validate": "", "binding": "", "valid": "",
	"min": "minimum, minLength or minItems", "max": "maximum, maxLength or maxItems", "time_format": `format:"date"`,
}

func folded(names []string) map[string]string {
	all := make(map[string]string, len(names))
	for _, name := range names {
		all[fold(name)] = name
	}

	return all
}

var separators = strings.NewReplacer("_", "", "-", "")

func fold(name string) string { return strings.ToLower(separators.Replace(name)) }

// Input returns the mistakes in the tags of an input: of its fields, and of everything in its body. Each
// error names the path to its field.
func Input(t reflect.Type) []error {
	w := walker{seen: map[visit]bool{}}
	w.structure(visit{typ: t}, t.String())

	return w.errs
}

// Answer returns the mistakes in the tags of a field of an answer.
func Answer(f reflect.StructField) error {
	pairs, err := parse(f.Tag)
	for _, p := range pairs {
		if name, ok := own[fold(p.name)]; ok && name != p.name && slices.Contains(inAnswers, name) {
			return misspelt(p, name)
		}
	}

	return err
}

type walker struct {
	seen map[visit]bool
	errs []error
}

// visit is a type and its surroundings.
type visit struct {
	typ reflect.Type
	// body says that the type is read as JSON, and not field by field.
	body bool
	// asked says that the type is in a value with a method Validate, which may use other libraries.
	asked bool
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	validator       = reflect.TypeFor[interface {
		Validate(ctx context.Context) error
	}]()
)

// value checks the structs in a value that is read as JSON.
func (w *walker) value(v visit, way string) {
	for {
		if of, ok := union.Of(v.typ); ok {
			for f := range of.Fields() {
				if f.Type.Kind() == reflect.Pointer {
					w.value(visit{typ: f.Type, body: true, asked: v.asked}, way)
				}
			}

			return
		}
		if elem, ok := opt.ElemOf(v.typ); ok {
			v.typ = elem
			continue
		}
		switch p := reflect.PointerTo(v.typ); {
		case v.typ.Kind() != reflect.Pointer && (p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)):
			return // the type reads itself
		case v.typ.Kind() == reflect.Struct:
			w.structure(v, way)
			return
		case v.typ.Kind() == reflect.Pointer, v.typ.Kind() == reflect.Slice, v.typ.Kind() == reflect.Array,
			v.typ.Kind() == reflect.Map:
			v.asked = v.asked || p.Implements(validator)
			v.typ = v.typ.Elem()
		default:
			return
		}
	}
}

func (w *walker) structure(v visit, way string) {
	v.asked = v.asked || reflect.PointerTo(v.typ).Implements(validator)
	if w.seen[v] {
		return
	}
	w.seen[v] = true

	for f := range v.typ.Fields() {
		at := way + "." + f.Name
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if f.Anonymous && embedded.Kind() == reflect.Struct && f.Tag == "" {
			w.structure(visit{typ: embedded, body: v.body, asked: v.asked}, at)
			continue
		}
		if !f.IsExported() {
			continue
		}

		parameter, err := field(f, v)
		if err != nil {
			w.errs = append(w.errs, fmt.Errorf("%s: %w", at, err))
		}
		if parameter && f.Type.Kind() == reflect.Struct && strings.HasSuffix(f.Tag.Get("query"), ",deepObject") {
			w.structure(visit{typ: f.Type, asked: v.asked}, at)
		}
		if (!parameter || strings.HasSuffix(f.Tag.Get("form"), ",json")) && f.Tag.Get("json") != "-" {
			w.value(visit{typ: f.Type, body: true, asked: v.asked}, at)
		}
	}
}

// field reports whether a field is a parameter, and returns the mistakes in its tags.
func field(f reflect.StructField, v visit) (parameter bool, err error) {
	pairs, err := parse(f.Tag)
	for _, p := range pairs {
		if wrong := p.wrong(f, v); wrong != nil && err == nil {
			err = wrong
		}
		parameter = parameter || !v.body && slices.Contains(sources, p.name) && p.value != "-"
	}

	return parameter, err
}

// pair is one tag.
type pair struct{ name, value string }

func (p pair) String() string { return p.name + ":" + strconv.Quote(p.value) }

func misspelt(p pair, name string) error {
	return fmt.Errorf("the tag %s means nothing: write %s", p, pair{name, p.value})
}

// wrong returns the mistake in one tag of a field.
func (p pair) wrong(f reflect.StructField, v visit) error {
	_, named := f.Tag.Lookup("json")
	name, ours := own[fold(p.name)]

	switch instead, limits := checked[p.name]; {
	case p.value == "-":
		return nil // the tag says itself that it has no effect
	case ours && name != p.name:
		return misspelt(p, name)
	case read[p.name] != "":
		return fmt.Errorf("the tag %s is of another library and means nothing: write %s", p, pair{read[p.name], p.value})
	case v.body && !named && slices.Contains(sources, p.name):
		return fmt.Errorf("the tag %s means nothing in a body: a parameter is a field of the input itself, and a field of a body has a tag such as %s",
			p, pair{"json", p.value})
	case !limits || v.asked:
		return nil
	case instead != "":
		return fmt.Errorf("the tag %s is of another library and means nothing: write %s", p, instead)
	}

	return fmt.Errorf(`the tag %s is of another library and means nothing: write tags such as required:"true" or maxLength:"40", `+
		"or call that library in a method Validate(context.Context) error", p)
}

var errForm = errors.New(`its tags are not of the form key:"value" with one space between them, so that the rest of them means nothing`)

// parse splits the tags of a field as [reflect.StructTag.Lookup] does, which silently stops at malformed
// ones.
func parse(tag reflect.StructTag) ([]pair, error) {
	var pairs []pair
	text := strings.Trim(string(tag), " ")
	for text != "" {
		name, rest, ok := strings.Cut(text, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \"`\t\n") || !strings.HasPrefix(rest, `"`) {
			return pairs, errForm
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return pairs, errForm
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return pairs, errForm
		}
		pairs = append(pairs, pair{name: name, value: value})
		text = strings.TrimLeft(rest[len(quoted):], " ")
	}

	return pairs, nil
}
