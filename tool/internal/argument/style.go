package argument

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Style is how a value that is not a scalar is written. The names are those of OpenAPI.
type Style string

// The styles of values.
const (
	// StyleSimple is the style of paths and headers.
	StyleSimple Style = "simple"
	// StyleForm, StyleSpace, StylePipe and StyleDeep are styles of queries.
	StyleForm  Style = "form"
	StyleSpace Style = "spaceDelimited"
	StylePipe  Style = "pipeDelimited"
	StyleDeep  Style = "deepObject"
	// StyleJSON writes the value as JSON.
	StyleJSON Style = "json"
)

// scalar returns the text of a value that is neither an object nor an array.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	case nil:
		return "", true
	default:
		return "", false
	}
}

// plain returns the texts in a value, one after the other.
func plain(value any) string {
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = plain(v[i])
		}
		return strings.Join(texts, "/")
	case map[string]any:
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, key, plain(v[key]))
		}
		return strings.Join(texts, "/")
	default:
		text, _ := scalar(value)
		return text
	}
}

// flat returns the scalars of a value: one for a scalar, the items of an array, and names and values of an
// object in turn.
func flat(arg string, value any) ([]string, error) {
	var items []any
	switch v := value.(type) {
	case []any:
		items = v
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, key, v[key])
		}
	default:
		items = []any{value}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, ok := scalar(item)
		if !ok {
			return nil, wrong(arg, "must not have objects or lists within it, as it is no part of a JSON body")
		}
		texts[i] = text
	}
	return texts, nil
}

// simple writes a value with commas between its parts.
func simple(p Param, value any, escape func(string) string) (string, error) {
	if p.Style == StyleJSON {
		text, err := json.Marshal(value)
		return escape(string(text)), err
	}
	parts, err := flat(p.Arg, value)
	if err != nil {
		return "", err
	}
	for i := range parts {
		parts[i] = escape(parts[i])
	}
	if _, ok := value.(map[string]any); ok && p.Explode {
		return strings.Join(named(parts), ","), nil
	}
	return strings.Join(parts, ","), nil
}

// named joins names and values that are in turn.
func named(parts []string) (pairs []string) {
	for i := 0; i+1 < len(parts); i += 2 {
		pairs = append(pairs, parts[i]+"="+parts[i+1])
	}
	return pairs
}

// query returns the pairs of a query, ready to be joined.
func query(p Param, value any) ([]string, error) {
	name := url.QueryEscape(p.Name)
	if p.Style == StyleJSON {
		text, err := json.Marshal(value)
		return []string{name + "=" + url.QueryEscape(string(text))}, err
	}
	object, isObject := value.(map[string]any)
	if isObject && p.Style == StyleDeep {
		return deep(p, object)
	}
	parts, err := flat(p.Arg, value)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i] = url.QueryEscape(parts[i])
	}
	switch list, isList := value.([]any); {
	case isObject && p.Explode:
		return named(parts), nil
	case isList && p.Explode || isList && len(list) == 0:
		pairs := make([]string, len(parts))
		for i := range parts {
			pairs[i] = name + "=" + parts[i]
		}
		return pairs, nil
	}
	between := map[Style]string{StyleSpace: "%20", StylePipe: "%7C"}[p.Style]
	if between == "" {
		between = ","
	}
	return []string{name + "=" + strings.Join(parts, between)}, nil
}

// deep writes an object as name[key]=value.
func deep(p Param, object map[string]any) (pairs []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if object[key] == nil {
			continue
		}
		more, err := query(Param{Arg: p.Arg + "." + key, Name: p.Name + "[" + key + "]", Style: StyleForm, Explode: true}, object[key])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return pairs, nil
}
