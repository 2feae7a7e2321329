package page

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/bind"
)

// Reader reads the query parameters of a [Custom] into a T, a struct whose fields have the
// tags of any input of the rest library:
//
//	type window struct {
//		After int64 `query:"after" minimum:"0" doc:"The id of the last item that was seen."`
//		Size  int64 `query:"size" default:"20" minimum:"1" maximum:"100"`
//	}
//
// It is safe for concurrent use.
type Reader[T any] struct{ plan *bind.Plan }

// NewReader compiles T. It panics when a tag is wrong, with a message that starts with
// place and names type, field and tag.
func NewReader[T any](place string) *Reader[T] {
	r, err := compile[T](place, reflect.TypeFor[T]())
	if err != nil {
		panic(err.Error())
	}

	return r
}

// Params describes the parameters, for [Custom.Params].
func (r *Reader[T]) Params() []Param { return r.plan.Params() }

// Read reads the parameters. With faults, the T is of no use.
func (r *Reader[T]) Read(in *Input) (T, []Fault) {
	var read T
	faults := r.plan.Bind((*bind.Input)(in), &read)

	return read, faults
}

// compile makes a Reader of t, which is T or T with other tags.
func compile[T any](place string, t reflect.Type) (*Reader[T], error) {
	plan, err := bind.Compile(t, bind.Options{Filled: reflect.TypeFor[T](), Place: place})
	if err != nil {
		return nil, err
	}

	return &Reader[T]{plan: plan}, nil
}

// rule is what the tags of a parameter say whose name and limits are options.
type rule struct {
	name     string
	initial  int64 // the default
	min, max int64 // max 0: none
	text     bool  // it is a text without default and limits
	doc      string
}

func (r rule) tag() reflect.StructTag {
	tag := fmt.Sprintf("query:%q doc:%q", r.name, r.doc)
	if !r.text {
		tag += fmt.Sprintf(` default:"%d" minimum:"%d"`, r.initial, r.min)
		if r.max > 0 {
			tag += ` maximum:"` + strconv.FormatInt(r.max, 10) + `"`
		}
	}

	return reflect.StructTag(tag)
}

// newRuledReader compiles T with a rule for each of its fields in place of tags.
func newRuledReader[T any](place string, rules ...rule) (*Reader[T], error) {
	t := reflect.TypeFor[T]()
	fields := make([]reflect.StructField, len(rules))
	for i, rule := range rules {
		f := t.Field(i)
		fields[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: rule.tag()}
	}

	return compile[T](place, reflect.StructOf(fields))
}

// sizeRule is the parameter for the number of items of a page.
func (c *config) sizeRule(name, doc string) rule {
	r := rule{name: name, initial: c.size, min: 1, max: c.max, doc: doc}
	if c.overMax == Clamp {
		r.max = 0
	}

	return r
}

// bounded is the size of a page that a request asks for.
func (c *config) bounded(size int64) int64 { return min(size, c.max) }
