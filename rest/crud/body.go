package crud

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// createBody is the body of a create request without an [Input].
type createBody[T any] struct {
	row    T
	faults []fault.Fault
}

// UnmarshalJSON reads a document that the schema has accepted.
func (b *createBody[T]) UnmarshalJSON(data []byte) error {
	b.faults = mustModel[T]().decode(data, reflect.ValueOf(&b.row).Elem(), func(f *field) bool { return f.onCreate })
	return nil
}

func applyCreate[T any](_ context.Context, b createBody[T], row *T) error {
	if len(b.faults) > 0 {
		return rest.Invalid(b.faults...)
	}
	*row = b.row
	return nil
}

// updateBody is the body of an update request without an [Input].
type updateBody[T any] struct {
	row    T
	faults []fault.Fault
}

// UnmarshalJSON reads a document that the schema has accepted.
func (b *updateBody[T]) UnmarshalJSON(data []byte) error {
	b.faults = mustModel[T]().decode(data, reflect.ValueOf(&b.row).Elem(), func(f *field) bool { return f.onUpdate })
	return nil
}

// applyUpdate replaces the fields that a client may send. A hidden field stays if it was not
// sent, because the client never got its value and could not send it back.
func applyUpdate[T any](ctx context.Context, b updateBody[T], row *T) error {
	if len(b.faults) > 0 {
		return rest.Invalid(b.faults...)
	}
	from, into := reflect.ValueOf(&b.row).Elem(), reflect.ValueOf(row).Elem()
	for _, f := range mustModel[T]().fields {
		if f.onUpdate && (!f.hidden || rest.Sent(ctx, f.name)) {
			at(into, f.index).Set(at(from, f.index))
		}
	}
	return nil
}

// decode decodes a document into an empty row. Fields that read rejects stay empty.
func (m *model) decode(data []byte, row reflect.Value, read func(*field) bool) []fault.Fault {
	for _, f := range m.fields {
		if f.fallback != nil && read(f) {
			// this was tried when the model was compiled
			_ = body.Unmarshal(f.fallback, at(row, f.index).Addr().Interface(), f.format())
		}
	}
	if err := body.Unmarshal(data, row.Addr().Interface(), ""); err != nil {
		_, faults := m.decodeEach(data, read)
		if len(faults) == 0 {
			faults = []fault.Fault{unreadable()}
		}
		return faults
	}
	var faults []fault.Fault
	for _, f := range m.fields {
		if !read(f) {
			at(row, f.index).SetZero()
		} else if bad, ok := f.refused(at(row, f.index)); ok {
			faults = append(faults, bad)
		}
	}
	return faults
}

// refused returns the fault of a text that the schema allows: one with NUL, which a database
// would refuse, or a time where the field is the text of a date.
func (f *field) refused(v reflect.Value) (bad fault.Fault, ok bool) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch path := []any{f.name}; {
	case v.Kind() != reflect.String:
		return bad, false
	case f.column != nil && strings.Contains(v.String(), "\x00"):
		return fault.NUL(fault.Body, path), true
	case f.format() == "date" && len(v.String()) > len(time.DateOnly):
		return fault.Format(fault.Body, path, "date"), true
	default:
		return bad, false
	}
}

type value struct {
	field *field
	value reflect.Value
}

// decodeEach decodes the fields of a document one by one, to find those that cannot be
// decoded.
func (m *model) decodeEach(data []byte, read func(*field) bool) ([]value, []fault.Fault) {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(data, &sent); err != nil {
		return nil, []fault.Fault{unreadable()}
	}
	var values []value
	var faults []fault.Fault
	for _, f := range m.fields {
		text, ok := sent[f.name]
		if !ok || !read(f) {
			continue
		}
		v := reflect.New(f.decl.Type)
		switch {
		case string(text) == "null" && !f.nullable:
			faults = append(faults, fault.Null(fault.Body, []any{f.name}))
		case body.Unmarshal(text, v.Interface(), f.format()) != nil:
			faults = append(faults, unreadable(f.name))
		default:
			if bad, ok := f.refused(v.Elem()); ok {
				faults = append(faults, bad)
				continue
			}
			values = append(values, value{f, v.Elem()})
		}
	}
	return values, faults
}

// unreadable returns the fault of a value that the schema allows but the Go type does not.
func unreadable(path ...any) fault.Fault {
	return fault.Unreadable(fault.Body, slices.Clip(path))
}

// patchBody is the body of a patch request without an [Input]. It has only the sent fields.
type patchBody[T any] struct {
	values []value
	faults []fault.Fault
}

// UnmarshalJSON reads a document that the schema has accepted.
func (b *patchBody[T]) UnmarshalJSON(data []byte) error {
	b.values, b.faults = mustModel[T]().decodeEach(data, func(f *field) bool { return f.onUpdate })
	return nil
}

func applyPatch[T any](_ context.Context, b patchBody[T], row *T) error {
	if len(b.faults) > 0 {
		return rest.Invalid(b.faults...)
	}
	into := reflect.ValueOf(row).Elem()
	for _, v := range b.values {
		at(into, v.field.index).Set(v.value)
	}
	return nil
}

// shown is the answer for a model with hidden fields.
type shown[T any] struct{ row T }

// MarshalJSON writes the fields that are not hidden.
func (s shown[T]) MarshalJSON() ([]byte, error) {
	m := mustModel[T]()
	from, to := reflect.ValueOf(&s.row).Elem(), reflect.New(m.shown).Elem()
	for i, f := range m.shownFields {
		to.Field(i).Set(at(from, f.index))
	}
	value, text, err := wire.Prepare(to.Addr().Interface(), json.Marshal)
	if err != nil || text != nil {
		return text, err //nolint:wrapcheck // the caller names the type
	}
	return json.Marshal(value)
}
