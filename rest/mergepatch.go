package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/schema"
	"github.com/spoolhq/spool/rest/internal/valid"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// MergePatch is a body that changes a T, which is a struct: a JSON merge patch (RFC 7396). A
// key of the patch replaces the value, null removes it, and an object changes only what it
// names. An input whose field Body has this type gets it, as application/merge-patch+json or
// application/json.
//
//	type Change struct {
//		ID   int64                 `path:"id"`
//		Body rest.MergePatch[Book]
//	}
type MergePatch[T any] struct{ document json.RawMessage }

// NewMergePatch returns a patch with the document, for [Endpoint.Request].
func NewMergePatch[T any](document []byte) MergePatch[T] { return MergePatch[T]{document} }

// UnmarshalJSON keeps the document.
func (p *MergePatch[T]) UnmarshalJSON(document []byte) error {
	p.document = bytes.Clone(document)
	return nil
}

// MarshalJSON returns the document.
func (p MergePatch[T]) MarshalJSON() ([]byte, error) {
	if len(p.document) == 0 {
		return []byte("{}"), nil
	}
	return p.document, nil
}

// Schema describes the patch.
func (MergePatch[T]) Schema(r huma.Registry) *huma.Schema {
	if own, ok := r.(*schema.Registry); ok {
		return own.Patch(reflect.TypeFor[T](), "Merge")
	}
	return &huma.Schema{Type: huma.TypeObject}
}

func (MergePatch[T]) patched() reflect.Type { return reflect.TypeFor[T]() }

// merger reads what a merge patch has made of a value.
type merger struct {
	plan  *body.Plan
	valid *valid.Tree
}

// patchedBy returns the T of a MergePatch, or nil for another type.
func patchedBy(t reflect.Type) reflect.Type {
	t = structOf(t)
	if p, ok := reflect.TypeAssert[interface{ patched() reflect.Type }](reflect.Zero(t)); ok {
		return p.patched()
	}
	return nil
}

// compileMerger compiles the reader of the changed values of a route. Their schema is not a part of the document.
func (rt *route) compileMerger(b *bodyInput) (err error) {
	t := patchedBy(b.typ)
	if t == nil {
		return nil
	}
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("rest.MergePatch changes structs, and %v is none", t)
	}
	b.merger = &merger{}
	s, err := schema.New().Body(t, rt.bodyName(), rt.unknown == IgnoreUnknown)
	if err != nil {
		return err //nolint:wrapcheck // it names the type
	}
	if b.merger.plan, err = body.Compile(t, s, rt.bodyOptions()); err != nil {
		return err //nolint:wrapcheck // it names the type
	}
	b.merger.valid, err = valid.Document(t)
	return err //nolint:wrapcheck // it names the type
}

// Apply returns to with the changes of the patch. ctx is the context of the handler. The result
// follows the rules of a body of type T, and its Validate methods are called; otherwise the
// error is a 422. What the patch does not name stays as it is, and so do read-only fields.
func (p MergePatch[T]) Apply(ctx context.Context, to T) (T, error) {
	c := contextOf(ctx)
	if c == nil {
		return to, errNoRoute
	}
	b := c.route.input.body
	if b == nil || b.merger == nil {
		return to, errors.New("the route has no rest.MergePatch as its body")
	}
	var before bytes.Buffer
	codec := c.route.api.config.codec
	if err := encode(codec.NewEncoder(&before), &before, wire.Plan{}, &to, partEncoder(codec)); err != nil {
		return to, fmt.Errorf("encode what is to be changed: %w", err)
	}
	merged, err := mergeJSON(before.Bytes(), p.document)
	if err != nil {
		return to, fmt.Errorf("merge a patch: %w", err)
	}
	after := new(T)
	if _, faults := b.merger.plan.Decode(merged, after); len(faults) > 0 {
		return to, Invalid(faults...)
	}
	result := to
	if err := take(reflect.ValueOf(&result).Elem(), reflect.ValueOf(after).Elem(), p.document); err != nil {
		return to, fmt.Errorf("merge a patch: %w", err)
	}
	if b.merger.valid != nil {
		if err := c.route.input.check(c, b.merger.valid, &result); err != nil { //nolint:contextcheck // it is that of ctx
			return to, err
		}
	}
	return result, nil
}

// mergeJSON is MergePatch of RFC 7396, section 2.
func mergeJSON(target, patch json.RawMessage) (json.RawMessage, error) {
	change, ok, err := objectOf(patch)
	if err != nil || !ok {
		return patch, err
	}
	object, ok, err := objectOf(target)
	if err != nil {
		return nil, err
	}
	if !ok {
		object = map[string]json.RawMessage{}
	}
	for key, value := range change {
		if isNull(value) {
			delete(object, key)
			continue
		}
		if object[key], err = mergeJSON(object[key], value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object) //nolint:wrapcheck // the caller says what it was merging
}

// objectOf returns the members of an object, and false for another value.
func objectOf(text json.RawMessage) (members map[string]json.RawMessage, ok bool, err error) {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return nil, false, nil
	}
	err = json.Unmarshal(text, &members)
	return members, err == nil, err //nolint:wrapcheck // the caller says what it was merging
}

func isNull(text json.RawMessage) bool { return string(bytes.TrimSpace(text)) == "null" }

// take sets the fields of a struct that the patch names to those of from. Structs in it are
// taken field by field, so that they keep what JSON does not have.
func take(to, from reflect.Value, patch json.RawMessage) error {
	change, ok, err := objectOf(patch)
	if err != nil || !ok {
		return err
	}
	for _, f := range body.Fields(to.Type()) {
		value, named := change[f.Name]
		if !named || f.Field.Tag.Get("readOnly") == "true" {
			continue
		}
		source, err := from.FieldByIndexErr(f.Index)
		if err != nil {
			source = reflect.Zero(f.Field.Type) // in an embedded pointer that is nil
		}
		target := fieldOf(to, f.Index)
		if !takesFields(target, source) {
			target.Set(source)
			continue
		}
		if target.Kind() == reflect.Pointer {
			changed := reflect.New(target.Type().Elem())
			changed.Elem().Set(target.Elem())
			target.Set(changed)
			target, source = changed.Elem(), source.Elem()
		}
		if err := take(target, source, value); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf returns a field that can be set. It copies the embedded structs on the way that pointers lead to.
func fieldOf(v reflect.Value, index []int) reflect.Value {
	for i, at := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			changed := reflect.New(v.Type().Elem())
			if !v.IsNil() {
				changed.Elem().Set(v.Elem())
			}
			v.Set(changed)
			v = changed.Elem()
		}
		v = v.Field(at)
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // an embedded type may not be exported
	}
	return v
}

// takesFields reports whether both values are structs that JSON has field by field, or pointers to such structs.
func takesFields(to, from reflect.Value) bool {
	t := to.Type()
	if t.Kind() == reflect.Pointer {
		if to.IsNil() || from.IsNil() {
			return false
		}
		t = t.Elem()
	}
	_, isOpt := opt.ElemOf(t)
	return t.Kind() == reflect.Struct && !isOpt && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) &&
		schema.IsObject(t)
}
