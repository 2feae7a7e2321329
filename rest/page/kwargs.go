package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// kwargs are keyword arguments while they are read. The first mistake is kept.
type kwargs struct {
	given map[string]any
	known []string
	err   error
}

// done returns the first mistake: a wrong value, or a name that nothing has read.
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

// texts is a list of texts: as such, as []any, or one text. Bytes are a text here.
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

// word is a text that stands for a value.
func word[V any](k *kwargs, name string, values map[string]V) (V, bool) {
	text, ok := k.text(name)
	if !ok {
		var zero V
		return zero, false
	}
	v, ok := values[text]
	if !ok && k.err == nil {
		k.err = fmt.Errorf("argument %q is %q, not one of %s", name, text,
			strings.Join(slices.Sorted(maps.Keys(values)), ", "))
	}

	return v, ok
}

// windows are the names of parameters.
func (k *kwargs) windows(first, second string) (options []any) {
	a, okA := k.text(first + "_query_param")
	b, okB := k.text(second + "_query_param")
	if !okA {
		a = first
	}
	if !okB {
		b = second
	}
	if okA || okB {
		options = append(options, Names(a, b))
	}

	return options
}

func (k *kwargs) sizes(size, maximum string) (options []any) {
	if n, ok := k.number(size); ok {
		options = append(options, Size(n))
	}
	if n, ok := k.number(maximum); ok {
		options = append(options, Max(n))
	}

	return options
}

func (k *kwargs) common() []any {
	options := k.sizes("page_size", "max_page_size")
	if p, ok := word(k, "over_max", map[string]OverMaxPolicy{"refuse": Refuse, "clamp": Clamp}); ok {
		options = append(options, OverMax(p))
	}
	if v, ok := k.value("link_header"); ok {
		on, ok := v.(bool)
		if !ok {
			k.wrong("link_header", "a boolean", v)
		}
		if on {
			options = append(options, LinkHeader())
		}
	}

	return options
}

func (k *kwargs) counts() (options []any) {
	how := map[string]Counting{"exact": Exact, "estimate": Estimate, "none": NoCount}
	if c, ok := word(k, "count", how); ok {
		options = append(options, Count(c))
	}
	if p, ok := word(k, "past_end", map[string]PastEndPolicy{"not_found": NotFound, "empty": Empty}); ok {
		options = append(options, PastEnd(p))
	}

	return options
}

func (k *kwargs) keysets() (options []any) {
	for _, ordering := range k.texts("ordering") {
		for path := range strings.SplitSeq(ordering, ",") {
			options = append(options, By(strings.TrimSpace(path)))
		}
	}
	for _, secret := range slices.Concat(k.texts("secret"), k.texts("secrets")) {
		options = append(options, Sign([]byte(secret)))
	}

	return options
}
