package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// maxTries limits how often one schema is checked to locate a mistake.
const maxTries = 500

// CheckParameters returns the problems that check finds in the tool's parameters. Each has the line and
// field of the value that causes it, as far as this can be found by trying. The text of a problem is
// check's.
func (t Tool) CheckParameters(check func(parameters json.RawMessage) error) FieldErrors {
	if t.Parameters == nil {
		return nil
	}
	var root any
	if err := json.Unmarshal(t.Parameters, &root); err != nil {
		return FieldErrors{t.within[t.Path+".parameters"].Errorf("cannot be read as JSON")}
	}
	b := &blame{check: check, tries: maxTries}
	var problems FieldErrors
	for err := b.try(root); err != nil; err = b.try(root) {
		path, err := b.find(root, err)
		name := t.Path + ".parameters"
		source := t.within[name]
		for _, step := range path {
			name = below(name, step.String())
			source = t.within[name]
		}
		problems = append(problems, source.Errorf("%s", err))
		if len(path) == 0 || b.tries <= 0 {
			break
		}
		root = without(root, path)
	}
	return problems.sorted()
}

// blame locates the values that cause an error of a check, which only judges the whole.
type blame struct {
	check func(parameters json.RawMessage) error
	tries int
}

func (b *blame) try(root any) error {
	b.tries--
	text, err := json.Marshal(root)
	if err != nil {
		return err
	}
	return b.check(text)
}

// find returns the path of the innermost value that causes err, and that value's error. A value causes
// the error if the whole passes without it. If several values are wrong, no single value does. Then
// find looks for a value that fails alone.
func (b *blame) find(root any, err error) ([]step, error) {
	var path []step
	for v := root; ; {
		next := slices.IndexFunc(steps(v), func(s step) bool {
			way := append(slices.Clone(path), s)
			if b.tries <= 0 {
				return false
			}
			if b.try(without(root, way)) == nil {
				return true
			}
			alone := b.try(only(root, way))
			if alone != nil {
				err = alone
			}
			return alone != nil
		})
		if next < 0 {
			return path, err
		}
		s := steps(v)[next]
		path, v = append(path, s), s.of(v)
	}
}

// step leads from a JSON value to one within it: by a key, or by an index in an array.
type step struct {
	key   string
	index int
	array bool
}

func (s step) String() string {
	if s.array {
		return "[" + strconv.Itoa(s.index) + "]"
	}
	return s.key
}

// of returns the value at the step.
func (s step) of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return v[s.key]
	case []any:
		return v[s.index]
	default:
		return nil
	}
}

// steps returns the steps to the elements of v.
func steps(v any) []step {
	var out []step
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, step{key: key})
		}
	case []any:
		for i := range v {
			out = append(out, step{index: i, array: true})
		}
	}
	return out
}

// without returns root without the value at the path.
func without(root any, path []step) any {
	s, last := path[0], len(path) == 1
	switch v := root.(type) {
	case map[string]any:
		v = maps.Clone(v)
		if delete(v, s.key); !last {
			v[s.key] = without(s.of(root), path[1:])
		}
		return v
	case []any:
		v = slices.Clone(v)
		if last {
			return slices.Delete(v, s.index, s.index+1)
		}
		v[s.index] = without(s.of(root), path[1:])
		return v
	default:
		return root
	}
}

// only returns root with only the value at the path. It leaves out references in the value, because
// their targets are gone.
func only(root any, path []step) any {
	if len(path) == 0 {
		return unreferred(root)
	}
	s := path[0]
	if s.array {
		return []any{only(s.of(root), path[1:])}
	}
	if s.key == "$ref" {
		return map[string]any{}
	}
	return map[string]any{s.key: only(s.of(root), path[1:])}
}

func unreferred(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			if key != "$ref" {
				out[key] = unreferred(below)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = unreferred(v[i])
		}
		return out
	default:
		return v
	}
}
