package page

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/bind"
)

// Reader reads the query parameters of a [Custom] into a T: a struct whose fields have the
// same tags as any input of package rest:
//
//	type window struct {
//		After int64 `query:"after" minimum:"0" doc:"The id of the last item that was seen."`
//		Size  int64 `query:"size" default:"20" minimum:"1" maximum:"100"`
//	}
//
// It is safe for concurrent use.
type Reader[T any] struct{ plan *bind.Plan }

// NewReader compiles T. It panics if a tag is wrong. The message begins with place and names
// the type, the field and the tag.
func NewReader[T any](place string) *Reader[T] {
	r, err := compile[T](place, reflect.TypeFor[T]())
	if err != nil {
		panic(err.Error())
	}

	return r
}

// Params returns the parameters, for [Custom.Params].
func (r *Reader[T]) Params() []Param { return r.plan.Params() }

// Read reads the parameters. If it returns faults, ignore the T.
func (r *Reader[T]) Read(in *Input) (T, []Fault) {
	var read T
	faults := r.plan.Bind((*bind.Input)(in), &read)

	return read, faults
}

// compile returns a Reader for t, which is T, or T with other tags.
func compile[T any](place string, t reflect.Type) (*Reader[T], error) {
	plan, err := bind.Compile(t, bind.Options{Filled: reflect.TypeFor[T](), Place: place})
	if err != nil {
		return nil, err
	}

	return &Reader[T]{plan: plan}, nil
}

// rule replaces the tags of a parameter whose name and limits are options.
type rule struct {
	name     string
	initial  int64 // the default
	min, max int64 // max is 0 for no limit
	text     bool  // the parameter is a text, without default and limits
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

// newRuledReader compiles T with a rule in place of the tags of each field.
func newRuledReader[T any](place string, rules ...rule) (*Reader[T], error) {
	t := reflect.TypeFor[T]()
	fields := make([]reflect.StructField, len(rules))
	for i, rule := range rules {
		f := t.Field(i)
		fields[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: rule.tag()}
	}

	return compile[T](place, reflect.StructOf(fields))
}

// sizeRule returns the rule of the parameter for the page size.
func (c *config) sizeRule(name, doc string) rule {
	r := rule{name: name, initial: c.size, min: 1, max: c.max, doc: doc}
	if c.overMax == Clamp {
		r.max = 0
	}

	return r
}

// bounded returns the page size for a requested size.
func (c *config) bounded(size int64) int64 { return min(size, c.max) }
