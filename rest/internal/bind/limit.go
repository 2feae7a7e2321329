package bind

import (
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// compileLimits compiles the tags of the value's limits. It refuses tags that do not fit the type: a limit
// that is documented and not enforced is worse than none.
func (f *field) compileLimits(tags tags) error {
	if err := f.compileListLimits(tags); err != nil {
		return err
	}
	if err := tags.refuse("is for files", "contentType", "maxSize"); err != nil {
		return err
	}

	if err := f.scalar.compileNumber(tags); err != nil {
		return err
	}
	if err := f.scalar.compileText(tags); err != nil {
		return err
	}

	return f.scalar.compileEnum(tags)
}

func (f *field) compileListLimits(tags tags) (err error) {
	if f.list == nil {
		return tags.refuse("is for lists", "minItems", "maxItems", "uniqueItems")
	}

	if f.list.min, f.list.max, err = tags.span("minItems", "maxItems"); err != nil {
		return err
	}
	if err := tags.bool("uniqueItems", &f.list.unique); err != nil {
		return err
	}
	if f.list.unique && !f.list.typ.Elem().Comparable() {
		return fmt.Errorf("the tag uniqueItems is for comparable types, not for %s", f.list.typ.Elem())
	}

	return nil
}

// compileDefault checks that the default is a value of the type within its limits, and
// returns it for the document; nil when there is none.
func (f *field) compileDefault(t reflect.Type, tags tags) (any, error) {
	text, ok := tags.lookup("default")
	if !ok {
		return nil, nil //nolint:nilnil // no default is no value
	}

	fallback := []string{text}
	if f.list != nil {
		items, _, err := tags.list("default")
		if err != nil {
			return nil, err
		}
		fallback = items
	}

	plain := *f
	plain.wrap, plain.fallback = wrapper{}, nil

	value := reflect.New(t)
	into, _ := placeOf(value.Interface(), value.Type())

	var faults []fault.Fault
	if f.list != nil {
		faults = plain.setList(into, fallback, nil)
	} else {
		faults = plain.set(into, text, nil)
	}
	if len(faults) > 0 {
		return nil, badTag("default", text, "breaks the field's own rules: "+faults[0].Message)
	}
	f.fallback = fallback

	return value.Elem().Interface(), nil
}
