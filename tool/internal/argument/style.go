package argument

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Style is how a value that is not a scalar is written. The names are those of OpenAPI.
type Style string

// The styles of values.
const (
	// StyleSimple is the style of paths and headers. StyleLabel and StyleMatrix are further ones of paths.
	StyleSimple Style = "simple"
	StyleLabel  Style = "label"
	StyleMatrix Style = "matrix"
	// StyleForm, StyleSpace, StylePipe and StyleDeep are styles of queries and forms. Cookies have StyleForm.
	StyleForm  Style = "form"
	StyleSpace Style = "spaceDelimited"
	StylePipe  Style = "pipeDelimited"
	StyleDeep  Style = "deepObject"
	// StyleJSON writes the value as JSON.
	StyleJSON Style = "json"
)

// maxNesting bounds how deep objects within objects can be in StyleDeep, because each level makes all names
// longer.
const maxNesting = 32

// scalar returns the text of a value that is neither an object nor an array.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
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

// joined writes a value as one text. The separator is between the parts, and between the pairs of an exploded
// object.
func joined(p Param, value any, separator string, escape func(string) string) (string, error) {
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
		parts = named(parts)
	}
	return strings.Join(parts, separator), nil
}

// named joins names and values that are in turn.
func named(parts []string) (pairs []string) {
	for i := 0; i+1 < len(parts); i += 2 {
		pairs = append(pairs, parts[i]+"="+parts[i+1])
	}
	return pairs
}

// inPath writes a value into a path. It returns an empty text for a value that has none there.
func inPath(p Param, value any) (string, error) {
	comma := func() (string, error) { return joined(p, value, ",", percent) }
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	if isList && len(list) == 0 || isObject && len(object) == 0 {
		return "", nil
	}
	switch name := percent(p.Name); {
	case p.Style == StyleLabel && p.Explode:
		text, err := joined(p, value, ".", percent)
		return "." + text, err
	case p.Style == StyleLabel:
		text, err := comma()
		return "." + text, err
	case p.Style == StyleMatrix && p.Explode && isList:
		parts, err := flat(p.Arg, list)
		for i := range parts {
			parts[i] = ";" + name + "=" + percent(parts[i])
		}
		return strings.Join(parts, ""), err
	case p.Style == StyleMatrix && p.Explode && isObject:
		text, err := joined(p, value, ";", percent)
		return ";" + text, err
	case p.Style == StyleMatrix:
		text, err := comma()
		if text == "" {
			return ";" + name, err
		}
		return ";" + name + "=" + text, err
	default:
		return comma()
	}
}

// percent escapes all but the characters that no URL gives a meaning.
func percent(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// reserved escapes a value of a query as allowReserved asks for: characters that URLs give a meaning stay as they
// are, if they cannot end the value or the query.
func reserved(text string) string {
	return strings.NewReplacer(
		"%21", "!", "%24", "$", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%2F", "/", "%3A", ":", "%3D",
		"=", "%3F", "?", "%40", "@",
	).Replace(url.QueryEscape(text))
}

// escaper escapes the names and the values of pairs.
type escaper struct{ name, value func(string) string }

// escaper returns that of a query or a form.
func (p Param) escaper() escaper {
	if p.Reserved {
		return escaper{url.QueryEscape, reserved}
	}
	return escaper{url.QueryEscape, url.QueryEscape}
}

// unescaped keeps all texts.
var unescaped = escaper{func(s string) string { return s }, func(s string) string { return s }}

// pair is a name and its value.
type pair struct{ name, value string }

// query returns the pairs of a query, ready to be joined.
func query(p Param, value any) ([]string, error) {
	all, err := pairs(p, value, p.escaper())
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.name + "=" + one.value
	}
	return texts, err
}

// pairs returns the names and values of a query or a form.
func pairs(p Param, value any, e escaper) ([]pair, error) {
	name := e.name(p.Name)
	if p.Style == StyleJSON {
		text, err := json.Marshal(value)
		return []pair{{name, e.value(string(text))}}, err
	}
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	if (isObject || isList) && p.Style == StyleDeep {
		d := deep{e: e, arg: p.Arg, indices: p.Indices}
		err := d.add(p.Name, value, maxNesting, false)
		return d.pairs, err
	}
	parts, err := flat(p.Arg, value)
	if err != nil || isList && len(list) == 0 || isObject && len(object) == 0 {
		return nil, err
	}
	for i := range parts {
		if isObject && p.Explode && i%2 == 0 {
			parts[i] = e.name(parts[i])
			continue
		}
		parts[i] = e.value(parts[i])
	}
	var all []pair
	switch {
	case isObject && p.Explode:
		for i := 0; i+1 < len(parts); i += 2 {
			all = append(all, pair{parts[i], parts[i+1]})
		}
		return all, nil
	case isList && p.Explode:
		for _, part := range parts {
			all = append(all, pair{name, part})
		}
		return all, nil
	}
	between := map[Style]string{StyleSpace: "%20", StylePipe: "%7C"}[p.Style]
	if between == "" {
		between = ","
	}
	return []pair{{name, strings.Join(parts, between)}}, nil
}

// deep writes an object as name[key]=value.
type deep struct {
	e       escaper
	arg     string
	indices bool
	pairs   []pair
}

// add writes a value below a name. within says that it is a property of an object.
func (d *deep) add(name string, value any, depth int, within bool) error {
	if depth == 0 {
		return wrong(d.arg, "has more than "+strconv.Itoa(maxNesting)+" objects or lists within each other")
	}
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := d.add(name+"["+key+"]", v[key], depth-1, true); err != nil {
				return err
			}
		}
	case []any:
		repeated := within && !d.indices && !slices.ContainsFunc(v, func(item any) bool { _, ok := scalar(item); return !ok })
		for i, item := range v {
			below := name + "[" + strconv.Itoa(i) + "]"
			if repeated {
				below = name
			}
			if err := d.add(below, item, depth-1, false); err != nil {
				return err
			}
		}
	default:
		text, _ := scalar(v)
		d.pairs = append(d.pairs, pair{d.e.name(name), d.e.value(text)})
	}
	return nil
}
