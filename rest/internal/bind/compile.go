package bind

import (
	"errors"
	"fmt"
	"net/textproto"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/fieldtag"
)

// sources are the tags that name a parameter. Faults use the same words for its place.
var sources = [...]string{fault.Path, fault.Query, fault.Header, fault.Cookie, fault.Form, fault.File}

// Compile compiles the fields and tags of the struct type t. Its errors have [Options.Place], the type, the
// field and the mistake. It returns all errors of the type at once, joined.
func Compile(t reflect.Type, o Options) (*Plan, error) {
	c := compiler{options: o, root: t, seen: map[[2]string]string{}}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, c.prefixed(fmt.Errorf("parameters are fields of a struct, not of %v", t))
	}
	if o.Default != "" && o.Default != fault.Query {
		return nil, c.prefixed(fmt.Errorf("%s: default source is query or empty, not %q", t, o.Default))
	}

	for _, err := range fieldtag.Input(t) {
		c.errs = append(c.errs, c.prefixed(err))
	}
	filled := t
	if o.Filled != nil {
		if o.Filled.Kind() != reflect.Struct || !t.ConvertibleTo(o.Filled) {
			return nil, c.prefixed(fmt.Errorf("%s has not the fields of %s, which is to be filled", t, o.Filled))
		}
		filled = o.Filled
	}
	c.plan = &Plan{typ: t, pointer: reflect.PointerTo(filled)}
	c.walk(t, 0, nil)

	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}

	return c.plan, nil
}

type compiler struct {
	options Options
	root    reflect.Type
	plan    *Plan
	seen    map[[2]string]string // the field that has a name in a source
	path    []string             // names of the embedded fields on the way
	object  *Object              // the deepObject whose fields are compiled
	errs    []error
}

func (c *compiler) prefixed(err error) error {
	if c.options.Place == "" {
		return err
	}

	return fmt.Errorf("%s: %w", c.options.Place, err)
}

// fail records a mistake of a field.
func (c *compiler) fail(f reflect.StructField, err error) {
	c.errs = append(c.errs, c.prefixed(fmt.Errorf("%s: %w", c.called(f), err)))
}

// called returns the field's name, with those of its type and of the embedded structs between them.
func (c *compiler) called(f reflect.StructField) string {
	return c.root.String() + "." + strings.Join(append(slices.Clone(c.path), f.Name), ".")
}

// walk compiles the fields of t, a struct at the offset in the plan's type.
func (c *compiler) walk(t reflect.Type, offset uintptr, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)

		name, in, err := c.source(f)
		switch {
		case err != nil:
			c.fail(f, err)
		case isObject(name) && in == fault.Query:
			c.deep(t, f, name, offset+f.Offset, at)
		case c.object != nil && in != fault.Query && f.IsExported() && !f.Anonymous && f.Tag.Get(fault.Query) != "-":
			c.fail(f, errors.New("is in a deepObject, and needs the tag query"))
		case in != "":
			c.add(t, f, name, in, offset+f.Offset, at)
		case f.Anonymous:
			c.embedded(f, offset+f.Offset, at)
		}
	}
}

// isObject reports whether the flags of a tag have deepObject.
func isObject(tag string) bool {
	_, flags, _ := strings.Cut(tag, ",")

	return slices.Contains(strings.Split(flags, ","), "deepObject")
}

// deep compiles a struct with the tag query:"filter,deepObject": its field with the tag query:"title" is the
// parameter filter[title].
func (c *compiler) deep(owner reflect.Type, f reflect.StructField, tag string, offset uintptr, index []int) {
	name, flags, _ := strings.Cut(tag, ",")
	switch {
	case name == "" || flags != "deepObject":
		c.fail(f, fmt.Errorf("the tag query:%q is not a name and deepObject", tag))
	case f.Type.Kind() != reflect.Struct:
		c.fail(f, fmt.Errorf("a deepObject is a struct, not %s", f.Type))
	case c.object != nil:
		c.fail(f, errors.New("a deepObject has no other one in it"))
	case f.Type.NumField() == 0:
		c.fail(f, errors.New("the deepObject has no fields"))
	default:
		c.object = &Object{Name: name, Doc: f.Tag.Get("doc"), Index: index, Field: f, Owner: owner}
		c.path = append(c.path, f.Name)
		c.walk(f.Type, offset, index)
		c.path = c.path[:len(c.path)-1]
		c.object = nil
	}
}

// embedded compiles the fields of an embedded struct as fields of the one around it.
func (c *compiler) embedded(f reflect.StructField, offset uintptr, index []int) {
	switch {
	case f.Type.Kind() == reflect.Struct:
		c.path = append(c.path, f.Name)
		c.walk(f.Type, offset, index)
		c.path = c.path[:len(c.path)-1]
	case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
		if hasParams(f.Type.Elem(), c.options.Default != "", nil) {
			c.fail(f, fmt.Errorf("a struct with parameters is embedded as a value, not as %s", f.Type))
		}
	}
}

// hasParams reports whether t has parameters. Embedded pointers may lead back to t, so it remembers the types
// that it has visited.
func hasParams(t reflect.Type, untagged bool, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return false
	}
	above = append(above, t)

	for f := range t.Fields() {
		if untagged && f.IsExported() && !f.Anonymous {
			return true
		}
		for _, tag := range sources {
			if f.Tag.Get(tag) != "" {
				return true
			}
		}

		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && inner.Kind() == reflect.Struct && hasParams(inner, untagged, above) {
			return true
		}
	}

	return false
}

// source finds the tag that makes f a parameter. If there is none, in is empty.
func (c *compiler) source(f reflect.StructField) (tag, in string, err error) {
	ignored := false

	for _, name := range sources {
		value, ok := f.Tag.Lookup(name)
		switch {
		case !ok:
			continue
		case value == "-":
			ignored = true
			continue
		case in != "":
			return "", "", fmt.Errorf("has both the tag %s and the tag %s", in, name)
		}
		tag, in = value, name
	}

	switch {
	case in != "" && !f.IsExported():
		return "", "", fmt.Errorf("has the tag %s:%q and is not exported", in, tag)
	case in == "" && !ignored && c.options.Default != "" && f.IsExported() && !f.Anonymous:
		return SnakeCase(f.Name), c.options.Default, nil
	}

	return tag, in, nil
}

// add compiles one parameter.
func (c *compiler) add(owner reflect.Type, f reflect.StructField, tag, in string, offset uintptr, index []int) {
	name, flags, _ := strings.Cut(tag, ",")
	if name == "" {
		c.fail(f, fmt.Errorf("the tag %s:%q has no name", in, tag))
		return
	}
	key := ""
	if c.object != nil {
		key = name
		name = c.object.Name + "[" + name + "]"
	}

	// A form's fields and files share their names, as they do in the form itself.
	place := [2]string{in, name}
	if in == fault.Header {
		place[1] = textproto.CanonicalMIMEHeaderKey(name)
	}
	if in == fault.File {
		place[0] = fault.Form
	}
	if other, ok := c.seen[place]; ok {
		c.fail(f, fmt.Errorf("the %s parameter %q is also read by %s", in, name, other))
		return
	}
	c.seen[place] = c.called(f)

	if _, told := f.Tag.Lookup("format"); !told && c.options.Format != nil {
		if format := c.options.Format(f, name); format != "" {
			f.Tag += reflect.StructTag(` format:` + strconv.Quote(format))
		}
	}

	compiled := field{name: name, key: place[1], in: in, offset: offset}
	param := Param{Name: name, In: in, Field: f, Index: index, Owner: owner, Object: c.object, Key: key}
	if err := compileField(&compiled, &param, f, flags); err != nil {
		c.fail(f, err)
		return
	}

	c.plan.fields = append(c.plan.fields, compiled)
	c.plan.params = append(c.plan.params, param)
	c.plan.query = c.plan.query || in == fault.Query
	c.plan.form = c.plan.form || in == fault.Form || in == fault.File
}
