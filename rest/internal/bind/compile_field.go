package bind

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
)

// compileField fills f and p from the type and the tags of the struct field.
func compileField(f *field, p *Param, sf reflect.StructField, flags string) error {
	value, err := f.wrap.compile(sf.Type)
	if err != nil {
		return err
	}
	p.Type, p.Nullable = value, value != sf.Type

	tags := tagsOf(sf)
	f.json = f.in == fault.Form && flags == "json"
	p.JSON = f.json
	switch {
	case f.json:
		err = tags.refuse("is for fields and items inside the JSON", limitTags...)
	case f.in == fault.File:
		err = f.compileFile(value, tags)
	default:
		err = f.compileValue(value, tags)
	}
	if err != nil {
		return err
	}

	if !f.json {
		if err := f.flags(flags); err != nil {
			return err
		}
	}
	p.Explode = f.list != nil && !f.comma

	if err := f.presence(tags); err != nil {
		return err
	}
	p.Required = f.required

	if err := tags.bool("deprecated", &p.Deprecated); err != nil {
		return err
	}
	p.Doc, p.Example = tags.text("doc"), tags.text("example")
	if f.json {
		return nil
	}

	p.Default, err = f.compileDefault(value, tags)

	return err
}

// limitTags are the tags of the limits of a parameter.
var limitTags = append(numberTags[:len(numberTags):len(numberTags)], "minLength", "maxLength", "pattern", "format",
	"enum", "default", "minItems", "maxItems", "uniqueItems")

// compile unwraps a pointer or an Opt, and returns the type of the value in it.
func (w *wrapper) compile(t reflect.Type) (reflect.Type, error) {
	if t.Kind() == reflect.Pointer && t != fileType {
		w.elem = t.Elem()
		return w.elem, nil
	}

	value, ok := opt.ElemOf(t)
	if !ok {
		return t, nil
	}

	inner, ok := t.FieldByName("value")
	if !ok || inner.Type != value {
		return nil, fmt.Errorf("%w %s", errUnsupported, t)
	}
	some, ok := reflect.TypeAssert[opt.Text](reflect.New(t))
	if !ok {
		return nil, fmt.Errorf("%w %s", errUnsupported, t)
	}
	if err := some.SetText(func(any) error { return nil }); err != nil {
		return nil, err
	}
	w.some, w.offset = reflect.ValueOf(some).Elem(), inner.Offset

	return value, nil
}

// compileValue compiles the type of everything but files.
func (f *field) compileValue(t reflect.Type, tags tags) (err error) {
	f.scalar, err = scalarOf(t, tags.text("format"))

	if errors.Is(err, errUnsupported) && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		f.list = &list{typ: t, size: t.Elem().Size(), min: -1, max: -1}
		f.scalar, err = scalarOf(t.Elem(), tags.text("format"))
	}
	if errors.Is(err, errUnsupported) && f.in == fault.Form {
		return fmt.Errorf("%w %s; a part of a form that is JSON has the tag form:%q", errUnsupported, t, f.name+",json")
	}
	if errors.Is(err, errUnsupported) {
		return fmt.Errorf("%w %s", errUnsupported, t)
	}
	if err != nil {
		return err
	}

	return f.compileLimits(tags)
}

// flags reads the part of the tag after the name.
func (f *field) flags(flags string) error {
	if flags == "" {
		return nil
	}

	for flag := range strings.SplitSeq(flags, ",") {
		switch {
		case flag != "comma" && flag != "explode":
			return fmt.Errorf("the tag %s has the unknown flag %q", f.in, flag)
		case f.list == nil || f.file != nil:
			return fmt.Errorf("the flag %s of the tag %s is for lists", flag, f.in)
		case f.comma:
			return fmt.Errorf("the tag %s has both comma and explode", f.in)
		}
		f.comma = flag == "comma"
	}

	return nil
}

// presence reads whether a request must have the parameter. A path parameter is always there, because the
// route does not match without it.
func (f *field) presence(tags tags) error {
	if err := tags.bool("required", &f.required); err != nil {
		return err
	}

	_, fallback := tags.lookup("default")
	if f.in != fault.Path {
		if f.required && fallback {
			return errors.New("is required and has a default")
		}
		return nil
	}

	_, told := tags.lookup("required")
	switch {
	case told && !f.required, fallback:
		return errors.New("is a wildcard of the path, which is always there")
	case f.list != nil, f.wrap.elem != nil, f.wrap.some.IsValid():
		return errors.New("is a wildcard of the path, which is one value and always there")
	}
	f.required = true

	return nil
}
