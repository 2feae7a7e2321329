package argument

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Field says how a property of a form is written. The zero value is the default of the property's kind.
type Field struct {
	// Style, Explode and Reserved are those of a parameter in the query. An empty style in a body of the kind
	// Multipart: each value is a part.
	Style    Style
	Explode  bool
	Reserved bool
	// File says that the value, or each of its items, names a file.
	File bool
	// Types are the content types that a part may have.
	Types []string
}

// form returns a body of names and values.
func (p *Plan) form(arg string, value any) ([]byte, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong(arg, "must be an object")
	}
	var pairs []string
	o := make(owners, len(object))
	for name := range object {
		o.add(name, arg+"."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] == nil {
			continue
		}
		q := p.field(arg, name)
		more, err := query(q, object[name])
		if err == nil {
			err = o.claim(q.Arg, more)
		}
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return []byte(strings.Join(pairs, "&")), nil
}

// field returns a property of a form as a parameter.
func (p *Plan) field(arg, name string) Param {
	q := Param{Arg: arg + "." + name, Name: name, Style: StyleForm, Explode: true, Indices: true}
	if f, ok := p.Fields[name]; ok && f.Style != "" {
		q.Style, q.Explode, q.Reserved = f.Style, f.Explode, f.Reserved
	}
	return q
}

// part is a part of a body of the kind Multipart.
type part struct {
	name, contentType string
	file              bool
	fileName          string
	data              []byte
}

// multipart returns a body of parts, and sets its content type.
func (p *Plan) multipart(value any, open OpenFunc, h http.Header) ([]byte, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong(p.BodyArg, "must be an object")
	}
	var parts []part
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] == nil {
			continue
		}
		more, err := p.parts(name, object[name], open)
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	boundary := boundaryOf(parts)
	h.Set("Content-Type", p.contentType("multipart/form-data")+"; boundary="+boundary)
	var body bytes.Buffer
	for _, one := range parts {
		body.WriteString("--" + boundary + "\r\n" + one.head() + "\r\n")
		body.Write(one.data)
		body.WriteString("\r\n")
	}
	body.WriteString("--" + boundary + "--\r\n")
	return body.Bytes(), nil
}

// boundaryOf returns a line that none of the parts has. The same parts have the same one, so that a call that is
// repeated sends the same bytes.
func boundaryOf(parts []part) string {
	sum := sha256.New()
	for _, one := range parts {
		sum.Write([]byte(one.head()))
		sum.Write(one.data)
	}
	return "part-" + hex.EncodeToString(sum.Sum(nil))[:40]
}

// head returns the headers of a part.
func (one part) head() string {
	quote := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace
	text := `Content-Disposition: form-data; name="` + quote(one.name) + `"`
	if one.file {
		text += `; filename="` + quote(one.fileName) + `"`
	}
	text += "\r\n"
	if one.contentType != "" {
		text += "Content-Type: " + one.contentType + "\r\n"
	}
	return text
}

// parts returns the parts of a property: one for each item of a list.
func (p *Plan) parts(name string, value any, open OpenFunc) ([]part, error) {
	f, arg := p.Fields[name], p.BodyArg+"."+name
	if f.Style != "" {
		all, err := pairs(p.field(p.BodyArg, name), value, unescaped)
		parts := make([]part, len(all))
		for i, one := range all {
			parts[i] = part{name: one.name, data: []byte(one.value)}
		}
		return parts, err
	}
	items, isList := value.([]any)
	if !isList || !f.File && slices.ContainsFunc(f.Types, isJSON) {
		items = []any{value}
	}
	parts := make([]part, len(items))
	for i, item := range items {
		var err error
		if f.File {
			parts[i], err = filePart(arg, item, f.Types, open)
		} else {
			parts[i], err = valuePart(arg, item, f.Types)
		}
		if err != nil {
			return nil, err
		}
		parts[i].name = name
	}
	return parts, nil
}

func filePart(arg string, value any, types []string, open OpenFunc) (part, error) {
	file, kind, err := openFile(arg, value, types, open)
	return part{contentType: kind, file: true, fileName: cmp.Or(file.Name, "file"), data: file.Data}, err
}

// valuePart returns a part with a value: JSON, or the text of a scalar.
func valuePart(arg string, value any, types []string) (one part, err error) {
	if len(types) > 0 {
		one.contentType = types[0]
	}
	text, plain := scalar(value)
	switch {
	case plain && !isJSON(one.contentType):
		one.data = []byte(text)
		return one, nil
	case one.contentType != "" && !isJSON(one.contentType):
		return one, wrong(arg, "must be plain, as its content type is "+one.contentType)
	}
	one.contentType = cmp.Or(one.contentType, "application/json")
	one.data, err = json.Marshal(value)
	return one, err
}

// isJSON reports whether a content type stands for JSON.
func isJSON(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}
