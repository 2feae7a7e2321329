package openapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
)

// This file is a second serialiser of requests, by the words of the specification (OpenAPI 3.1, RFC 6570 and
// RFC 7578). It shares no code with the package: TestTwoSerialisers compares both.

// field is a parameter or a property of a form.
type field struct {
	name, in, style string
	explode         bool
	reserved        bool
	asJSON          bool
	schema          map[string]any
	required        bool
	// file says that the value, or each item of it, is a file, and kind is the content type of the encoding.
	file bool
	kind string
}

// sent is a request as bytes.
type sent struct {
	method, path, query, cookie, contentType, body string
	header                                         map[string]string
}

const hexDigits = "0123456789ABCDEF"

// encode writes each byte that is not in keep, or a letter or a digit, as a percent sign and two digits.
func encode(text, keep string, plus bool) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(keep, c) >= 0:
			b.WriteByte(c)
		case c == ' ' && plus:
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

func inURL(text string) string   { return encode(text, "-._~", false) }
func inQuery(text string) string { return encode(text, "-._~", true) }

// inReserved keeps what may stand in a query and does not end a value.
func inReserved(text string) string { return encode(text, "-._~:/?@!$'()*,=", true) }

func asText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return string(v)
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	panic(fmt.Sprintf("%T has no text", value))
}

// as returns a value of a type that the test made.
func as[T any](value any) T {
	v, ok := value.(T)
	if !ok {
		panic(fmt.Sprintf("%v is no %T", value, v))
	}
	return v
}

func asJSON(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func keys(object map[string]any) []string {
	all := make([]string, 0, len(object))
	for key := range object {
		all = append(all, key)
	}
	sort.Strings(all)
	return all
}

// expansion is the table of the styles of RFC 6570: what begins, what separates, and whether names are written.
func expansion(f field, value any, esc func(string) string) string {
	first, between, named := "", ",", false
	switch f.style {
	case "label":
		first, between = ".", "."
	case "matrix":
		first, between, named = ";", ";", true
	}
	name := inURL(f.name)
	switch v := value.(type) {
	case []any:
		var parts []string
		for _, item := range v {
			part := esc(asText(item))
			if f.explode && named {
				part = name + "=" + part
			}
			parts = append(parts, part)
		}
		if f.explode {
			return first + strings.Join(parts, between)
		}
		return prefixed(first, name, named) + strings.Join(parts, ",")
	case map[string]any:
		var parts []string
		for _, key := range keys(v) {
			if f.explode {
				parts = append(parts, esc(key)+"="+esc(asText(v[key])))
			} else {
				parts = append(parts, esc(key), esc(asText(v[key])))
			}
		}
		if f.explode {
			return first + strings.Join(parts, between)
		}
		return prefixed(first, name, named) + strings.Join(parts, ",")
	default:
		return prefixed(first, name, named) + esc(asText(value))
	}
}

func prefixed(first, name string, named bool) string {
	if named {
		return first + name + "="
	}
	return first
}

// queryPairs writes a value of a query or a form. inForm says which convention lists in deepObject have.
func queryPairs(f field, value any, inForm bool) []string {
	esc := inQuery
	if f.reserved {
		esc = inReserved
	}
	name := inQuery(f.name)
	if f.asJSON {
		return []string{name + "=" + esc(asJSON(value))}
	}
	if f.style == "deepObject" {
		return deepPairs(f.name, value, esc, inForm, false)
	}
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if f.explode {
				parts = append(parts, name+"="+esc(asText(item)))
			} else {
				parts = append(parts, esc(asText(item)))
			}
		}
	case map[string]any:
		for _, key := range keys(v) {
			if f.explode {
				parts = append(parts, inQuery(key)+"="+esc(asText(v[key])))
			} else {
				parts = append(parts, esc(key), esc(asText(v[key])))
			}
		}
	default:
		return []string{name + "=" + esc(asText(value))}
	}
	if f.explode || len(parts) == 0 {
		return parts
	}
	between := ","
	switch f.style {
	case "spaceDelimited":
		between = "%20"
	case "pipeDelimited":
		between = "%7C"
	}
	return []string{name + "=" + strings.Join(parts, between)}
}

func deepPairs(name string, value any, esc func(string) string, inForm, property bool) (pairs []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range keys(v) {
			pairs = append(pairs, deepPairs(name+"["+key+"]", v[key], esc, inForm, true)...)
		}
		return pairs
	case []any:
		scalars := true
		for _, item := range v {
			switch item.(type) {
			case map[string]any, []any:
				scalars = false
			}
		}
		for i, item := range v {
			below := name + "[" + strconv.Itoa(i) + "]"
			if property && scalars && !inForm {
				below = name
			}
			pairs = append(pairs, deepPairs(below, item, esc, inForm, false)...)
		}
		return pairs
	default:
		return []string{inQuery(name) + "=" + esc(asText(value))}
	}
}

// request writes the request of an operation. boundary is the one that the other serialiser chose.
func (o plannedOperation) request(args map[string]any, boundary string) sent {
	out := sent{method: o.method, path: o.path, query: o.fixed, header: make(map[string]string)}
	var pairs, cookies []string
	if o.fixed != "" {
		pairs = append(pairs, o.fixed)
	}
	for _, f := range o.fields {
		value, given := args[f.name]
		if !given {
			continue
		}
		switch f.in {
		case "path":
			out.path = strings.ReplaceAll(out.path, "{"+f.name+"}", expansion(f, value, inURL))
		case "query":
			pairs = append(pairs, queryPairs(f, value, false)...)
		case "header":
			out.header[f.name] = expansion(f, value, func(s string) string { return s })
		case "cookie":
			cookies = append(cookies, f.name+"="+expansion(f, value, inURL))
		}
	}
	out.query, out.cookie = strings.Join(pairs, "&"), strings.Join(cookies, "; ")
	body, given := args["body"]
	if !given {
		return out
	}
	out.contentType = o.contentType
	switch o.contentType {
	case "application/json":
		object, _ := body.(map[string]any)
		if id, ok := object["scan"].(string); ok {
			copied := make(map[string]any)
			maps.Copy(copied, object)
			copied["scan"] = base64.StdEncoding.EncodeToString([]byte(testFiles[id].data))
			body = copied
		}
		out.body = asJSON(body)
	case "application/x-www-form-urlencoded":
		out.body = strings.Join(o.formPairs(as[map[string]any](body)), "&")
	case "multipart/form-data":
		out.contentType += "; boundary=" + boundary
		out.body = o.partsOf(as[map[string]any](body), boundary)
	case "text/plain":
		out.body = as[string](body)
	default:
		out.body = testFiles[as[string](body)].data
	}
	return out
}

func (o plannedOperation) formPairs(object map[string]any) (pairs []string) {
	for _, key := range keys(object) {
		for _, f := range o.properties {
			if f.name == key {
				pairs = append(pairs, queryPairs(f, object[key], true)...)
			}
		}
	}
	return pairs
}

func (o plannedOperation) partsOf(object map[string]any, boundary string) string {
	var b strings.Builder
	part := func(f field, value any) {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + f.name + `"`)
		var data string
		kind := f.kind
		switch {
		case f.file:
			file := testFiles[as[string](value)]
			if kind = file.kind; f.kind != "" {
				kind = f.kind
			}
			b.WriteString(`; filename="` + file.quoted + `"`)
			data = file.data
		case kind == "application/json":
			data = asJSON(value)
		default:
			switch value.(type) {
			case []any, map[string]any:
				kind, data = "application/json", asJSON(value)
			default:
				data = asText(value)
			}
		}
		b.WriteString("\r\n")
		if kind != "" {
			b.WriteString("Content-Type: " + kind + "\r\n")
		}
		b.WriteString("\r\n" + data + "\r\n")
	}
	for _, key := range keys(object) {
		for _, f := range o.properties {
			if f.name != key {
				continue
			}
			items, isList := object[key].([]any)
			if !isList || f.kind == "application/json" {
				items = []any{object[key]}
			}
			for _, item := range items {
				part(f, item)
			}
		}
	}
	return b.String() + "--" + boundary + "--\r\n"
}
