package schema

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/comment"
)

// DescribeBy sets the function that returns the text of a field by its [comment.Key]. The tag doc takes precedence.
// Call DescribeBy before any type is described.
func (r *Registry) DescribeBy(text func(key string) string) { r.describe = text }

// text returns the text of a field of t, or "".
func (r *Registry) text(t reflect.Type, f reflect.StructField) string {
	if text, ok := f.Tag.Lookup("doc"); ok || r.describe == nil {
		return text
	}
	return r.describe(comment.Key(t, f))
}

// aboutType returns the text of a struct, which its field _ has.
func (r *Registry) aboutType(t reflect.Type) string {
	f, ok := t.FieldByName("_")
	if !ok {
		return ""
	}
	return r.text(t, f)
}

// describeField describes the property of a field of t.
func (r *Registry) describeField(t reflect.Type, f body.Field, property *huma.Schema) {
	if text := r.text(comment.Owner(t, f.Index), f.Field); text != "" {
		property.Description = text
	}
}
