package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// kwargs reads keyword arguments into a config. It keeps the first mistake.
type kwargs struct {
	config

	given map[string]any
	known []string
	err   error
}

// build returns the paginator, or the first mistake: a wrong value or an unknown name.
func (k *kwargs) build(of func(config) (Paginator, error)) (Paginator, error) {
	if err := k.done(); err != nil {
		return nil, err
	}
	if !k.maxed {
		// Settings of a program that migrates have a size only.
		k.max, k.maxed = max(k.max, k.size), k.sized && k.size > k.max
	}

	return of(k.config)
}

func (k *kwargs) done() error {
	if k.err != nil {
		return k.err
	}
	for _, name := range slices.Sorted(maps.Keys(k.given)) {
		if !slices.Contains(k.known, name) {
			slices.Sort(k.known)
			return fmt.Errorf("unknown argument %q (there are %s)", name, strings.Join(k.known, ", "))
		}
	}

	return nil
}

func (k *kwargs) value(name string) (any, bool) {
	k.known = append(k.known, name)
	v, ok := k.given[name]

	return v, ok && v != nil
}

func (k *kwargs) wrong(name, want string, v any) {
	if k.err == nil {
		k.err = fmt.Errorf("argument %q is %T, not %s", name, v, want)
	}
}

func (k *kwargs) number(name string) (int, bool) {
	v, ok := k.value(name)
	if !ok {
		return 0, false
	}

	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		if -maxSize <= n && n <= maxSize {
			return int(n), true
		}
	case float64:
		if n == math.Trunc(n) && math.Abs(n) <= maxSize {
			return int(n), true
		}
	}
	k.wrong(name, "a whole number", v)

	return 0, false
}

func (k *kwargs) text(name string) (string, bool) {
	v, ok := k.value(name)
	if !ok {
		return "", false
	}
	text, ok := v.(string)
	if !ok {
		k.wrong(name, "a text", v)
	}

	return text, ok
}

// texts returns a list argument: a []string, an []any of strings, or a single text or []byte.
func (k *kwargs) texts(name string) []string {
	v, ok := k.value(name)
	if !ok {
		return nil
	}

	switch v := v.(type) {
	case string:
		return []string{v}
	case []byte:
		return []string{string(v)}
	case []string:
		return v
	case []any:
		texts := make([]string, 0, len(v))
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				k.wrong(name, "a list of texts", v)
			}
			texts = append(texts, text)
		}
		return texts
	default:
		k.wrong(name, "a text or a list of texts", v)
		return nil
	}
}

// word reads an argument whose text stands for a value.
func word[V any](k *kwargs, name string, values map[string]V, into *V) {
	text, ok := k.text(name)
	if !ok {
		return
	}
	v, ok := values[text]
	if !ok && k.err == nil {
		k.err = fmt.Errorf("argument %q is %q, not one of %s", name, text,
			strings.Join(slices.Sorted(maps.Keys(values)), ", "))
	}
	*into = v
}

func (k *kwargs) windows(names ...string) {
	for i, name := range names {
		if text, ok := k.text(name + "_query_param"); ok {
			k.names[i] = text
		}
	}
}

func (k *kwargs) sizes(size, maximum string) {
	if n, ok := k.number(size); ok {
		Size(n)(&k.config)
	}
	if n, ok := k.number(maximum); ok {
		Max(n)(&k.config)
	}
}

func (k *kwargs) common() {
	k.sizes("page_size", "max_page_size")
	word(k, "over_max", map[string]OverMaxPolicy{"refuse": Refuse, "clamp": Clamp}, &k.overMax)
	if v, ok := k.value("link_header"); ok {
		if k.linkHeader, ok = v.(bool); !ok {
			k.wrong("link_header", "a boolean", v)
		}
	}
}

func (k *kwargs) counts() {
	word(k, "count", map[string]Counting{"exact": Exact, "estimate": Estimate, "none": NoCount}, &k.count)
	word(k, "past_end", map[string]PastEndPolicy{"not_found": NotFound, "empty": Empty}, &k.pastEnd)
}

func (k *kwargs) keysets() {
	for _, ordering := range k.texts("ordering") {
		for path := range strings.SplitSeq(ordering, ",") {
			k.by = append(k.by, strings.TrimSpace(path))
		}
	}
	for _, secret := range slices.Concat(k.texts("secret"), k.texts("secrets")) {
		k.secrets = append(k.secrets, []byte(secret))
	}
}
