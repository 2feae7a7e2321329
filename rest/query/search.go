package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

const (
	// maxTerms is the maximum number of terms in a search.
	maxTerms = 16
	// maxTerm is the maximum length of a term in bytes. A text that is compared without case has
	// the same limit in characters, so no term exceeds that limit.
	maxTerm = 1000
)

// SearchOption lets a client search a list; see [Search].
type SearchOption struct {
	fields []string
	param  string
	regex  bool
}

// Search lets a client search a list by the parameter search: up to 16 terms separated by
// white space and commas. Each term has to occur in at least one of the fields. A field is a
// path to a text, and the search ignores case. A prefix of the path changes the search: with ^
// the text has to start with the term, with = the text has to equal it, and with $ the term is
// a regular expression, which needs [SearchOption.AllowRegex].
func Search(fields ...string) SearchOption {
	return SearchOption{fields: slices.Clone(fields), param: "search"}
}

// Param sets the parameter's name. Defaults to "search".
func (o SearchOption) Param(name string) SearchOption {
	o.param = name
	return o
}

// AllowRegex allows the prefix $; see [FilterOption.AllowRegex].
func (o SearchOption) AllowRegex() SearchOption {
	o.regex = true
	return o
}

// RestRoute marks the type as a route option.
func (SearchOption) RestRoute(option.Seal) {}

// Compile implements [Option].
func (o SearchOption) Compile(m *driver.Model, place string) (stage.Stage, error) {
	if len(o.fields) == 0 {
		return nil, fmt.Errorf("%s: query.Search: there is no field to search", place)
	}
	s := &searchStage{name: o.param}
	paths := make([]string, len(o.fields))
	var errs []error
	for i, text := range o.fields {
		path, lookup := searchLookup(text)
		t, err := m.Condition(path, lookup)
		if err == nil && lookup == driver.IRegex && !o.regex {
			err = errors.New("the prefix $ lets a client write patterns: allow it with AllowRegex")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: query.Search(%q): %w", place, text, err))
			continue
		}
		paths[i] = path
		s.targets = append(s.targets, t)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	text := reflect.TypeFor[string]()
	s.params = []bind.Param{{
		Name: o.param, In: fault.Query, Type: text, Nullable: true,
		Doc: "Words to be found in " + strings.Join(paths, ", ") + ".", Field: reflect.StructField{Name: "Text", Type: text},
	}}
	return s, nil
}

func searchLookup(field string) (path string, lookup driver.Lookup) {
	switch {
	case strings.HasPrefix(field, "^"):
		return field[1:], driver.IStartsWith
	case strings.HasPrefix(field, "="):
		return field[1:], driver.IExact
	case strings.HasPrefix(field, "$"):
		return field[1:], driver.IRegex
	default:
		return field, driver.IContains
	}
}

type searchStage struct {
	name    string
	params  []bind.Param
	targets []driver.Condition
}

// Params implements [stage.Stage].
func (s *searchStage) Params() []bind.Param { return s.params }

// Columns implements [stage.Stage].
func (s *searchStage) Columns() []*driver.Column {
	columns := make([]*driver.Column, len(s.targets))
	for i, t := range s.targets {
		columns[i] = t.Column
	}
	return columns
}

// Apply implements [stage.Stage].
func (s *searchStage) Apply(_ context.Context, in *bind.Input, l *driver.List) (*driver.List, []fault.Fault) {
	if !sent(in, s.name) {
		return l, nil
	}
	text, ok, faults := in.QueryText(s.name)
	if !ok {
		return l, faults
	}
	var terms []driver.Predicate
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if len(terms) == maxTerms {
			return l, []fault.Fault{fault.Value(fault.Query, []any{s.name},
				fmt.Sprintf("must have at most %d words", maxTerms))}
		}
		term, faults := s.term(word)
		if len(faults) > 0 {
			return l, faults
		}
		terms = append(terms, term)
	}
	if len(terms) == 0 {
		return l, nil
	}
	return l.Where(driver.Join(driver.AllOf, terms)), nil
}

// term returns the condition that at least one of the fields has the word.
func (s *searchStage) term(word string) (driver.Predicate, []fault.Fault) {
	if len(word) > maxTerm {
		return nil, []fault.Fault{fault.TooLong(fault.Query, []any{s.name}, maxTerm)}
	}
	items := make([]driver.Predicate, len(s.targets))
	for i, t := range s.targets {
		if isRegex(t.Lookup) {
			if faults := patternFaults([]any{s.name}, word); len(faults) > 0 {
				return nil, faults
			}
		}
		items[i] = t.Bind([]any{word})
	}
	return driver.Join(driver.AnyOf, items), nil
}
