package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/valid"
)

// Opt is a value that knows whether it was sent: it is absent, null, or set. It is for PATCH,
// and for query parameters whose zero value has a meaning. The zero Opt is absent.
//
// Get returns the value and whether it is set. Or returns the value, or its argument if none
// is set. IsSet, IsNull and IsAbsent report the state. In a body, an Opt is optional and may
// be null, unless the tags required:"true" and nullable:"false" say otherwise. Give its json
// tag omitzero, or an absent Opt is written as null.
type Opt[T any] = opt.Opt[T]

// Some returns an Opt that is set to v.
func Some[T any](v T) Opt[T] { return opt.Some(v) }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return opt.Null[T]() }

// Validator is an input, or a value inside one, with checks that tags cannot express. Validate
// is called only if the tags have found no mistake. It returns [Invalid] with faults, or any
// other error.
//
// Validate is called at every depth: on parameters, the body, its fields, embedded structs,
// items of lists and values of maps, and through pointers and [Opt] that are set. Inner values
// come first; the method of a value is called only if nothing inside it has a fault. A fault's
// path begins at the value with the method, and the path to that value is put before it: the
// fault {Path: []any{"price"}} of the second item is reported at body.items[1].price.
//
// If a type has a method Validate with other parameters or results, registering the route
// panics, since nothing would call the method. If a type decodes itself (UnmarshalJSON,
// UnmarshalText), its own Validate is called, but not those of the values inside it.
type Validator interface {
	// Validate returns the mistakes as an error, or nil. It is called once for each value. ctx
	// is the context that the handler gets.
	Validate(ctx context.Context) error
}

// input is the compiled input of a route.
type input struct {
	typ     reflect.Type // the struct; nil if there is nothing to read
	pointer bool         // In is a pointer to it
	params  *bind.Plan   // nil without parameters
	body    *bodyInput   // nil without a body that is JSON or an upload
	parts   []jsonPart   // of a form
	valid   *valid.Tree  // nil if no value in it has a method Validate
	known   []string     // all query parameters, including those of filters and the paginator
}

// bodyInput is the body of a route: JSON, or an [Upload].
type bodyInput struct {
	typ      reflect.Type
	index    []int // of the body's field in In; empty if In is the body
	required bool
	plan     *body.Plan
	// spread is set if the body's fields stand among parameters. typ is then a struct made of
	// these fields, and spread has the index in In of each field of typ.
	spread [][]int
	// upload is set if the body is an [Upload].
	upload bool
	// merger is set if the body is a [MergePatch].
	merger *merger
}

func (b *bodyInput) contentType() string {
	if b.merger != nil {
		return "application/merge-patch+json"
	}
	return "application/json"
}

// compileInput compiles the input type of a handler.
func compileInput(t reflect.Type, place string) (*input, error) {
	in := &input{}
	if t == nil {
		return in, nil
	}
	if t.Kind() == reflect.Pointer {
		in.pointer, t = true, t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the input %v is not a struct", t)
	}
	if t.NumField() == 0 {
		return &input{pointer: in.pointer, typ: pointee(in.pointer, t)}, nil
	}
	in.typ = t
	plan, err := bind.Compile(t, bind.Options{Place: place})
	if err != nil {
		return nil, err //nolint:wrapcheck // it begins with the place
	}
	if len(plan.Params()) > 0 {
		in.params = plan
	}
	if in.body, err = compileBody(t, plan); err != nil {
		return nil, err
	}
	if in.body != nil && plan.NeedsForm() {
		return nil, fmt.Errorf("%v wants a form and a JSON body", t)
	}
	in.valid, err = valid.Input(t, in.places())
	return in, err //nolint:wrapcheck // it names the type
}

func pointee(pointer bool, t reflect.Type) reflect.Type {
	if pointer {
		return t
	}
	return nil
}

// compileBody finds the body in an input. It is the first of these that applies: the field
// Body; the whole input, if it has no parameters; an embedded struct that holds all
// non-parameter fields and no parameters; the non-parameter fields.
func compileBody(t reflect.Type, plan *bind.Plan) (*bodyInput, error) {
	if b, err := compileUpload(t, plan); b != nil || err != nil {
		return b, err
	}
	if f, ok := t.FieldByName("Body"); ok && len(f.Index) == 1 && f.Tag.Get("json") == "" && !isParam(plan, f.Index) {
		if other := strayField(t, f.Index, plan); other != "" {
			return nil, fmt.Errorf("%v.%s is neither a parameter nor in the field Body", t, other)
		}
		b := &bodyInput{typ: f.Type, index: f.Index, required: f.Tag.Get("required") != "false"}
		if f.Type.Kind() == reflect.Pointer {
			b.required = f.Tag.Get("required") == "true"
		}
		return b, nil
	}
	if len(plan.Params()) == 0 {
		return &bodyInput{typ: t, required: true}, nil
	}
	var rest []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || isParam(plan, f.Index) || f.Tag.Get("json") == "-" {
			continue
		}
		rest = append(rest, f)
	}
	if len(rest) == 0 {
		return nil, nil //nolint:nilnil // there is no body
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct &&
			!slices.ContainsFunc(rest, func(r reflect.StructField) bool { return r.Index[0] != i }) &&
			!slices.ContainsFunc(plan.Params(), func(p bind.Param) bool { return p.Index[0] == i }) {
			return &bodyInput{typ: f.Type, index: f.Index, required: true}, nil
		}
	}
	b := &bodyInput{required: true}
	fields := make([]reflect.StructField, 0, len(rest))
	for _, f := range rest {
		if f.Tag.Get("json") == "" {
			return nil, fmt.Errorf(
				"%v.%s has neither the tag of a source (path, query, header, cookie, form, file) nor a json tag", t, f.Name,
			)
		}
		b.spread = append(b.spread, f.Index)
		f.Index, f.Offset = nil, 0
		fields = append(fields, f)
	}
	b.typ = reflect.StructOf(fields)
	return b, nil
}

// strayField returns the name of a field that is neither Body nor a parameter, or "".
func strayField(t reflect.Type, body []int, plan *bind.Plan) string {
	inBody := func(index []int) bool { return len(index) >= len(body) && slices.Equal(index[:len(body)], body) }
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || inBody(f.Index) || isParam(plan, f.Index) || f.Tag.Get("json") == "-" {
			continue
		}
		return f.Name
	}
	return ""
}

func isParam(plan *bind.Plan, index []int) bool {
	return slices.ContainsFunc(plan.Params(), func(p bind.Param) bool {
		// The field of a deepObject has the parameters below it.
		return slices.Equal(p.Index, index) ||
			p.Object != nil && len(index) < len(p.Index) && slices.Equal(p.Index[:len(index)], index)
	})
}

var inputs = sync.Pool{New: func() any { return new(bind.Input) }}

// parameters returns the reader of the request's parameters.
func (c *routeContext) parameters() *bind.Input {
	if c.input == nil {
		in, _ := inputs.Get().(*bind.Input)
		in.Reset(c.request, c)
		in.Tolerate(c.route.tolerates(LooseParameters), c.route.tolerates(BrokenQuery))
		c.input = in
	}
	return c.input
}

// release frees everything that reading the request has acquired.
func (c *routeContext) release() {
	if c.cleanup != nil {
		c.cleanup()
	}
	c.releaseMemory()
	if s := c.scope.Load(); s != nil {
		s.close(c)
	}
	if c.input != nil {
		c.input.Reset(nil, nil)
		inputs.Put(c.input)
		c.input = nil
	}
}

// read reads the request into the input that into points to.
func (c *routeContext) read(into any) error {
	plan := c.route.input
	if made, ok := into.(*reflect.Value); ok {
		*made = reflect.New(c.route.entry.config.inputType).Elem()
		into = made.Addr().Interface()
	}
	if plan.typ == nil {
		return c.checkUnknown(nil)
	}
	dst := into
	if plan.pointer {
		v := reflect.New(plan.typ)
		reflect.ValueOf(into).Elem().Set(v)
		dst = v.Interface()
	}
	var faults []fault.Fault
	if plan.params != nil {
		in := c.parameters()
		if plan.params.NeedsForm() {
			more, err := c.readForm()
			if err != nil {
				return err
			}
			faults = more
		}
		faults = append(faults, plan.params.Bind(in, dst)...)
		if len(plan.parts) > 0 && !slices.ContainsFunc(faults, func(f fault.Fault) bool {
			return f.Kind == bind.KindRepeated
		}) {
			more, err := c.readParts(dst)
			if err != nil {
				return err
			}
			faults = append(faults, more...)
		}
	}
	if plan.body != nil {
		more, err := c.readBody(dst)
		if err != nil {
			return err
		}
		if len(faults) == 0 {
			faults = more
		} else {
			faults = append(faults, more...)
		}
	}
	err := c.checkUnknown(faults)
	if err == nil || c.route.api.config.validateFirst && beyondLimits(faults) {
		if first := c.validate(dst); first != nil {
			return first
		}
	}
	return err
}

// validate calls the Validate methods of the input, and then the route's checks ([Check]).
func (c *routeContext) validate(dst any) error {
	if tree := c.route.input.valid; tree != nil {
		if err := c.route.input.check(c, tree, dst); err != nil {
			return err
		}
	}
	for _, check := range c.route.checks {
		if err := check.check(c, dst); err != nil {
			return c.refusal(c, err)
		}
	}
	return nil
}

// maxFaults is the number of faults at which the list of unknown query parameters is cut off.
const maxFaults = 100

// checkUnknown adds a fault for each unknown query parameter if the policy refuses them. It
// returns all faults as one error, or nil.
func (c *routeContext) checkUnknown(faults []fault.Fault) error {
	if c.route.unknown == RefuseAll {
		for name := range c.parameters().QueryNames() {
			if slices.Contains(c.route.input.known, name) {
				continue
			}
			if len(faults) >= maxFaults {
				faults = append(faults, fault.TooManyFaults(fault.Query, maxFaults))
				break
			}
			faults = append(faults, fault.Extra(fault.Query, []any{name}))
		}
	}
	if len(faults) > 0 {
		e := Invalid(faults...)
		e.bodyName = c.route.bodyLabel
		return e
	}
	return nil
}

func (c *routeContext) readForm() ([]fault.Fault, error) {
	cleanup, faults, err := c.input.ParseForm(c.route.bodyBytes(32 << 20))
	c.cleanup = cleanup
	switch {
	case errors.Is(err, bind.ErrFormType):
		return nil, &Error{
			Status: http.StatusUnsupportedMediaType,
			Detail: "The body must be a form: multipart/form-data or application/x-www-form-urlencoded.",
		}
	case errors.Is(err, bind.ErrFormTooLarge):
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Detail: "The form is too large."}
	case err != nil:
		return nil, &Error{
			Status: http.StatusBadRequest, Code: codeMalformed, Detail: "The form could not be read.", Err: err,
		}
	}
	return faults, nil
}

// readBody reads the JSON body into the input, or lets the input have the upload.
func (c *routeContext) readBody(dst any) ([]fault.Fault, error) {
	b := c.route.input.body
	if b.upload {
		into, _ := reflect.TypeAssert[*Upload](reflect.ValueOf(dst).Elem().FieldByIndex(b.index).Addr())
		return c.readUpload(into)
	}
	if !c.route.tolerates(AnyContentType) && !isJSON(c.request.Header) {
		return nil, &Error{
			Status: http.StatusUnsupportedMediaType,
			Detail: "The body must be JSON: send it with the Content-Type application/json.",
			Header: http.Header{"Accept": {"application/json"}},
		}
	}
	verifier := c.route.entry.config.verifier
	if verifier != nil {
		if err := verifier.VerifyHeader(c); err != nil {
			return nil, err //nolint:wrapcheck // the program's own error
		}
	}
	buf, err := c.bodyText()
	if err != nil {
		return nil, err
	}
	defer c.route.api.buffers.recycle(buf)
	data := buf.Bytes()
	if verifier != nil {
		if err := verifier.VerifyBody(c, data); err != nil {
			return nil, err //nolint:wrapcheck // the program's own error
		}
	}
	if err := c.countValues(data); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		if b.required {
			return []fault.Fault{fault.WithMissing(fault.Missing(fault.Body, nil), b.plan.Needed())}, nil
		}
		return nil, nil
	}
	if !b.required && string(bytes.TrimSpace(data)) == "null" {
		return nil, nil // null means no body
	}
	if len(b.spread) > 0 {
		return c.readSpread(data, dst)
	}
	target := dst
	if len(b.index) > 0 {
		// Set through the address, because the field may be an embedded unexported type.
		at := reflect.ValueOf(dst).Elem().FieldByIndex(b.index).Addr().UnsafePointer()
		target = reflect.NewAt(b.typ, at).Interface()
	}
	return c.decode(b, data, target)
}

// readSpread reads a body whose fields stand among parameters.
func (c *routeContext) readSpread(data []byte, dst any) ([]fault.Fault, error) {
	b := c.route.input.body
	value := reflect.New(b.typ)
	faults, err := c.decode(b, data, value.Interface())
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	into := reflect.ValueOf(dst).Elem()
	for i, index := range b.spread {
		into.FieldByIndex(index).Set(value.Elem().Field(i))
	}
	return nil, nil
}

// decode decodes a body. A body that is not JSON is a 400 error.
func (c *routeContext) decode(b *bodyInput, data []byte, into any) ([]fault.Fault, error) {
	presence, faults := b.plan.Decode(data, into)
	if len(faults) == 1 && faults[0].Kind == fault.KindJSON {
		return nil, &Error{
			Status: http.StatusBadRequest, Code: codeMalformed, Detail: "The body " + faults[0].Message + ".",
			Err: json.Unmarshal(data, new(json.RawMessage)), // so that an ErrorRenderer can use its own words
		}
	}
	c.presence = &presence
	return faults, nil
}

// Sent reports whether the JSON body or the form had the field, even as null or empty. It is
// for inputs that tell absent fields from zero ones without [Opt].
func Sent(ctx context.Context, field string) bool {
	c := contextOf(ctx)
	return c != nil && (c.presence != nil && c.presence.Has(field) || c.presence == nil && c.inForm(field))
}

// SentFields returns the names of the fields that the JSON body had, or of the fields and
// files that the form had.
func SentFields(ctx context.Context) []string {
	c := contextOf(ctx)
	switch {
	case c == nil:
		return nil
	case c.presence != nil:
		return c.presence.Names()
	default:
		return c.sentInForm()
	}
}

// isJSON reports whether the Content-Type is JSON or missing.
func isJSON(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) == 0 || values[0] == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || (media != "application/json" && !strings.HasSuffix(media, "+json")) {
		return false
	}
	charset := params["charset"]
	return charset == "" || strings.EqualFold(charset, "utf-8")
}
