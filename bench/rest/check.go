package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// checkAll returns everything in which an implementation does not answer as required.
func checkAll(entries []*entry, c *catalog) error {
	var wrong []error
	calls := probes(c)
	for _, tc := range cases(c) {
		calls = append(calls, tc.call)
	}
	for _, e := range entries {
		for _, call := range calls {
			if err := e.check(call); err != nil {
				wrong = append(wrong, fmt.Errorf("%s, %s: %w", e.name, call.name, err))
			}
		}
	}
	return errors.Join(wrong...)
}

// check sends the call twice and compares both answers, because a handler must not answer differently
// the second time.
func (e *entry) check(c call) error {
	x := newExchange(e.handler, c)
	for range 2 {
		x.do(1)
		if err := x.writer.is(c); err != nil {
			return fmt.Errorf("%w\n%d %s", err, x.writer.status, x.writer.body)
		}
	}
	return nil
}

func (w *recorder) is(c call) error {
	if w.status != c.status && (c.orElse == 0 || w.status != c.orElse) {
		return fmt.Errorf("status %d instead of %d", w.status, c.status)
	}
	if kind := w.header.Get("Content-Type"); !jsonKind.MatchString(kind) {
		return fmt.Errorf("content type %q", kind)
	}
	var got any
	if err := json.Unmarshal(w.body, &got); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if c.want != nil {
		return same(got, c.want)
	}
	for _, field := range c.wrong {
		if !names(got, field) {
			return fmt.Errorf("the error does not name %s", field)
		}
	}
	return nil
}

var jsonKind = regexp.MustCompile(`^application/(problem\+)?json(; ?charset=utf-8)?$`)

// same compares the meaning of two bodies. It ignores the schema link that huma adds to objects.
func same(got, want any) error {
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	if object, ok := got.(map[string]any); ok {
		delete(object, "$schema")
	}
	if diff := cmp.Diff(plain, got); diff != "" {
		return fmt.Errorf("another body (-want +got):\n%s", diff)
	}
	return nil
}

// names returns whether an error names a field: with a text that is the field's name, or with a
// location such as body.name, /name or tags[1]. Keys do not count, because some errors repeat the body.
func names(body any, field string) bool {
	switch v := body.(type) {
	case string:
		return pointsTo(v, field)
	case []any:
		for _, each := range v {
			if names(each, field) {
				return true
			}
		}
	case map[string]any:
		for _, each := range v {
			if names(each, field) {
				return true
			}
		}
	}
	return false
}

func pointsTo(location, field string) bool {
	for part := range strings.FieldsFuncSeq(location, func(c rune) bool { return strings.ContainsRune("./[]", c) }) {
		if part == field {
			return !strings.Contains(location, " ")
		}
	}
	return false
}
