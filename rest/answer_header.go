package rest

import (
	"fmt"
	"net/http"
	"net/textproto"
	"reflect"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/comment"
	"github.com/spoolhq/spool/rest/internal/opt"
)

// answerType describes an answer type with header fields, such as
//
//	type page struct {
//		Total int       `header:"X-Total" doc:"How many there are."`
//		Made  time.Time `header:"Last-Modified"`
//		Body  []Book
//	}
//
// As in an input, a field Body is the body. Without it, the fields without a header tag are
// the body, and the header fields need json:"-". A type with a field from another part of a
// request, such as the path, is an input type; if a handler answers with it, all of it is the
// body.
type answerType struct {
	headers []bind.Param
	body    []int // the index of the field Body; nil without one
	nothing bool  // the answer has no body
}

const setCookie = "Set-Cookie"

var (
	cookieType = reflect.TypeFor[http.Cookie]()
	timeOnly   = reflect.TypeFor[time.Time]()
)

// answerTypeOf returns nil for a type without header fields.
func answerTypeOf(t reflect.Type) (*answerType, error) {
	if t = behind(t); t.Kind() != reflect.Struct {
		return nil, nil //nolint:nilnil // it has no headers
	}
	a := &answerType{}
	var others []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if isInputField(f) {
			return nil, nil //nolint:nilnil // an input type: all of it is the body
		}
		name, ok := f.Tag.Lookup("header")
		switch {
		case !f.IsExported() || f.Anonymous:
		case ok:
			p, err := answerHeader(comment.Owner(t, f.Index), f, name)
			if err != nil {
				return nil, fmt.Errorf("the answer %v: field %s: %w", t, f.Name, err)
			}
			p.Required = p.Required && len(f.Index) == 1 // an embedded pointer may be nil
			a.headers = append(a.headers, p)
		case f.Tag.Get("json") != "-":
			others = append(others, f)
		}
	}
	if len(a.headers) == 0 {
		return nil, nil //nolint:nilnil // it has no headers
	}
	if len(others) == 1 && others[0].Name == "Body" && others[0].Tag.Get("json") == "" {
		a.body = others[0].Index
		return a, nil
	}
	if len(others) == 0 {
		a.nothing = true
		return a, nil
	}
	for _, p := range a.headers {
		if p.Field.Tag.Get("json") != "-" {
			return nil,
				fmt.Errorf("the answer %v: field %s: it is a header, and would be in the body too: give it the tag json:\"-\", "+
					"or have the body in a field Body", t, p.Field.Name)
		}
	}
	return a, nil
}

// isInputField reports whether the field has a tag that only inputs have.
func isInputField(f reflect.StructField) bool {
	for _, source := range [...]string{"path", "query", "cookie", "form", "file"} {
		if _, ok := f.Tag.Lookup(source); ok {
			return true
		}
	}
	return false
}

// answerHeader returns the compiled header field, or an error if it is not a valid header.
func answerHeader(owner reflect.Type, f reflect.StructField, name string) (bind.Param, error) {
	p := bind.Param{
		Name: name, In: "header", Field: f, Index: f.Index, Owner: owner, Type: f.Type,
		Doc: f.Tag.Get("doc"), Example: f.Tag.Get("example"),
	}
	if name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	}) {
		return p, fmt.Errorf("header:%q is not the name of a header", name)
	}
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
		return p, fmt.Errorf("the header %s follows from the answer", p.Name)
	}
	if elem, ok := opt.ElemOf(p.Type); ok {
		p.Type, p.Nullable = elem, true
	}
	if p.Type.Kind() == reflect.Pointer {
		p.Type, p.Nullable = p.Type.Elem(), true
	}
	base := p.Type
	if base.Kind() == reflect.Slice {
		base, p.Nullable = base.Elem(), true
		if base.Kind() == reflect.Pointer {
			base = base.Elem()
		}
	}
	if base == cookieType {
		if !strings.EqualFold(name, setCookie) {
			return p, fmt.Errorf("a cookie is sent in Set-Cookie, not in %s", p.Name)
		}
		return p, nil
	}
	if _, err := headerTexts(reflect.New(base).Elem(), f.Tag.Get("format")); err != nil {
		return p, err
	}
	p.Required = !p.Nullable && base.Kind() != reflect.String && base != timeOnly
	return p, nil
}

// headerTexts returns the header values for v. It returns none for nil, an empty text or list,
// a zero time and an absent Opt.
func headerTexts(v reflect.Value, format string) ([]string, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		return headerTexts(v.Elem(), format)
	}
	switch value := v.Interface().(type) {
	case time.Time:
		if value.IsZero() {
			return nil, nil
		}
		if format == "" {
			return []string{value.UTC().Format(http.TimeFormat)}, nil
		}
	case http.Cookie:
		return cookieTexts(&value)
	case interface{ IsSet() bool }: // an Opt
		if !value.IsSet() {
			return nil, nil
		}
		return headerTexts(v.MethodByName("Get").Call(nil)[0], format)
	}
	if v.Kind() == reflect.Slice {
		var all []string
		for i := range v.Len() {
			texts, err := headerTexts(v.Index(i), format)
			if err != nil {
				return nil, err
			}
			all = append(all, texts...)
		}
		return all, nil
	}
	texts, err := textsOf(v, format)
	if len(texts) == 1 && texts[0] == "" {
		texts = nil
	}
	return texts, err
}

func cookieTexts(c *http.Cookie) ([]string, error) {
	if c.Name == "" {
		return nil, nil
	}
	if err := c.Valid(); err != nil {
		return nil, fmt.Errorf("cookie %s: %w", c.Name, err)
	}
	return []string{c.String()}, nil
}

// split writes the headers of an answer and returns a pointer to its body, or nil without a
// body.
func (a *answerType) split(h http.Header, out any) (body any, err error) {
	v := reflect.ValueOf(out)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("a nil %T", out)
		}
		v = v.Elem()
	}
	for _, p := range a.headers {
		field, err := v.FieldByIndexErr(p.Index)
		if err != nil {
			continue // the field is in an embedded nil pointer
		}
		texts, err := headerTexts(field, p.Field.Tag.Get("format"))
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", p.Name, err)
		}
		for _, text := range texts {
			if strings.ContainsAny(text, "\r\n\x00") {
				return nil, fmt.Errorf("header %s: its value has a line break", p.Name)
			}
		}
		if len(texts) > 0 && !strings.EqualFold(p.Name, setCookie) {
			h.Del(p.Name)
		}
		for _, text := range texts {
			h.Add(p.Name, text)
		}
	}
	switch {
	case a.nothing:
		return nil, nil //nolint:nilnil // there is no body
	case a.body == nil:
		return out, nil
	}
	own := reflect.New(v.FieldByIndex(a.body).Type())
	own.Elem().Set(v.FieldByIndex(a.body))
	if own.Elem().Kind() == reflect.Pointer && own.Elem().IsNil() {
		return nil, fmt.Errorf("a %T whose Body is nil", out)
	}
	return own.Interface(), nil
}

// bodyType returns the type of the body of an answer, or nil if it has none.
func (rt *route) bodyType(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	for t.Kind() == reflect.Pointer && rt.heads[t.Elem()] != nil {
		t = t.Elem()
	}
	switch a := rt.heads[t]; {
	case a == nil:
		return t
	case a.nothing:
		return nil
	case a.body != nil:
		return t.FieldByIndex(a.body).Type
	default:
		return t
	}
}

func (rt *route) compileHeads(types ...reflect.Type) error {
	for _, t := range types {
		if t == nil {
			continue
		}
		a, err := answerTypeOf(t)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		if rt.heads == nil {
			rt.heads = map[reflect.Type]*answerType{}
		}
		rt.heads[behind(t)] = a
	}
	return nil
}

// headOf returns the header fields of an answer type, or nil if it has none.
func (rt *route) headOf(t reflect.Type) *answerType {
	if len(rt.heads) == 0 || t == nil {
		return nil
	}
	return rt.heads[behind(t)]
}
