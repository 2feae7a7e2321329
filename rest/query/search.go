package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
)

// maxTerms is how many terms a search may have.
const maxTerms = 16

// SearchOption lets a client search a list.
type SearchOption struct {
	fields []string
	param  string
	regex  bool
}

// Search lets a client search a list by the parameter search: terms separated by white space
// and commas, up to 16 of them, each of which has to be found in one of the fields. A field is
// a path to a text, and is searched for the term inside of it, without regard to case. In
// front of the path, ^ wants the term at the start, = as the whole text, and $ takes the term
// for a regular expression, which has to be allowed.
func Search(fields ...string) SearchOption {
	return SearchOption{fields: slices.Clone(fields), param: "search"}
}

// Param names the parameter. Defaults to "search".
func (o SearchOption) Param(name string) SearchOption {
	o.param = name
	return o
}

// AllowRegex allows the prefix $; see the function [AllowRegex].
func (o SearchOption) AllowRegex() SearchOption {
	o.regex = true
	return o
}

// RestRoute marks an option of routes.
func (SearchOption) RestRoute(option.Seal) {}

// Compile implements [Option].
func (o SearchOption) Compile(m *Model, place string) (Stage, error) {
	if len(o.fields) == 0 {
		return nil, fmt.Errorf("%s: query.Search: there is no field to search", place)
	}
	s := &searchStage{name: o.param, names: []string{o.param}}
	paths := make([]string, len(o.fields))
	var errs []error
	for i, text := range o.fields {
		path, lookup := searchLookup(text)
		t, err := m.target(path, lookup)
		if err == nil && lookup == IRegex && !o.regex {
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
	s.params = []bind.Param{textParam(o.param, "Words to be found in "+joined(paths)+".")}
	return s, nil
}

func searchLookup(field string) (path string, lookup Lookup) {
	switch {
	case strings.HasPrefix(field, "^"):
		return field[1:], IStartsWith
	case strings.HasPrefix(field, "="):
		return field[1:], IExact
	case strings.HasPrefix(field, "$"):
		return field[1:], IRegex
	default:
		return field, IContains
	}
}

type searchStage struct {
	name    string
	names   []string
	params  []bind.Param
	targets []target
}

// Params implements [Stage].
func (s *searchStage) Params() []bind.Param { return s.params }

// Apply implements [Stage].
func (s *searchStage) Apply(_ context.Context, in *bind.Input, l List) (List, []fault.Fault) {
	if !sent(in, s.names) {
		return l, nil
	}
	text, ok, faults := in.QueryText(s.name)
	if !ok {
		return l, faults
	}
	var terms []Predicate
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
	return l.WithWhere(joinPredicates(AllOf, terms)), nil
}

// term holds for rows that have word in one of the fields.
func (s *searchStage) term(word string) (Predicate, []fault.Fault) {
	if len(word) > maxFolded {
		return nil, []fault.Fault{fault.TooLong(fault.Query, []any{s.name}, maxFolded)}
	}
	items := make([]Predicate, len(s.targets))
	for i, t := range s.targets {
		if t.lookup.regex() {
			if faults := patternFaults([]any{s.name}, word); len(faults) > 0 {
				return nil, faults
			}
		}
		items[i] = t.bind([]any{word})
	}
	return joinPredicates(AnyOf, items), nil
}
