package body

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Unmarshal is [json.Unmarshal] for the value of a field with the tag format. It also reads values that only
// a plan reads: dates, times of day, durations and addresses, and integers such as 1.0. If no plan can be
// compiled for the type, encoding/json decodes it.
func Unmarshal(data []byte, dst any, format string) error {
	t := reflect.TypeOf(dst)
	if t == nil || t.Kind() != reflect.Pointer {
		return json.Unmarshal(data, dst) //nolint:wrapcheck // it says what is wrong
	}
	plan := lenient(t.Elem(), format)
	if plan == nil {
		return json.Unmarshal(data, dst) //nolint:wrapcheck // it says what is wrong
	}
	if _, faults := plan.Decode(data, dst); len(faults) > 0 {
		return fmt.Errorf("%w: %s %s", errUnread, faults[0].Location(), faults[0].Message)
	}

	return nil
}

var errUnread = errors.New("the document cannot be read")

type lenientKey struct {
	typ    reflect.Type
	format string
}

var lenients sync.Map // lenientKey -> *Plan

// lenient returns a plan that checks only types, or nil if there is none.
func lenient(t reflect.Type, format string) *Plan {
	key := lenientKey{typ: t, format: format}
	if p, ok := lenients.Load(key); ok {
		return p.(*Plan) //nolint:errcheck // nothing else is stored
	}
	plan, err := compileField(t, format, nil, Options{})
	if err != nil {
		plan = nil
	}
	kept, _ := lenients.LoadOrStore(key, plan)

	return kept.(*Plan) //nolint:errcheck // nothing else is stored
}
