package openapi

import (
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/spoolhq/spool/tool/internal/argument"
)

// body is the body of an operation's requests.
type body struct {
	kind        argument.Body
	contentType string
	schema      any
	place       string
	about       string
	required    bool
	// fields are the properties of a form that have an encoding.
	fields map[string]argument.Field
}

// body reads the body of an operation. Of several content types it takes JSON, then a form, then another one.
func (b *sourceBuilder) body(o operation) (body, error) {
	if o.node["requestBody"] == nil {
		return body{}, nil
	}
	node, place, err := b.doc.object(o.node["requestBody"], o.place+".requestBody")
	if err != nil {
		return body{}, err
	}
	if at := text(node, placeKey); at != "" {
		place = at
	}
	content := mapOf(node, "content")
	if !hasBody(o.method) {
		if b.emptyContent(content) {
			return body{}, nil
		}
		return body{}, wrong(place, "a "+o.method+" has no body")
	}
	var best body
	least := len(ranks)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if kind, rank := b.kind(name, mapOf(content, name)["schema"]); rank < least {
			least, best = rank, body{kind: kind, contentType: name}
		}
	}
	if best.kind == argument.NoBody {
		return body{}, wrong(place+".content",
			"only JSON, forms, multipart/form-data, texts and files are supported; there are "+names(content))
	}
	media := mapOf(content, best.contentType)
	best.required, best.about, best.schema = node["required"] == true, text(node, "description"), media["schema"]
	best.place = place + ".content." + best.contentType
	if at := text(media, placeKey); at != "" {
		best.place = at
	}
	if best.contentType = strings.TrimSpace(best.contentType); strings.Contains(best.contentType, "*") &&
		best.kind != argument.Binary {
		best.contentType = "" // the usual one
	}
	return b.form(best, media)
}

// ranks are the kinds of bodies, the one that is taken first of several first.
var ranks = []argument.Body{
	argument.JSON, argument.JSON, argument.Form, argument.Multipart, argument.Text, argument.Binary,
}

// kind returns the kind of a body with a content type, and its rank.
func (b *sourceBuilder) kind(contentType string, schema any) (argument.Body, int) {
	plain, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	if err != nil || charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return argument.NoBody, len(ranks)
	}
	object, _, _ := b.doc.object(schema, "")
	kind := object["type"]
	isText := kind == "string" || kind == nil && schema == nil
	rank := len(ranks)
	switch {
	case plain == "application/json":
		rank = 0
	case strings.HasSuffix(plain, "+json"), plain == "*/*" && !isFile(object, argument.Binary):
		rank = 1
	case plain == "application/x-www-form-urlencoded":
		rank = 2
		if b.hasFile(schema) { // which only parts can have
			rank = len(ranks)
		}
	case plain == "multipart/form-data":
		rank = 3
	case strings.HasPrefix(plain, "multipart/"):
	case !isText && kind != nil || !isText && len(object) > 0 && object["format"] == nil &&
		object["contentMediaType"] == nil && object["contentEncoding"] == nil:
	case strings.HasPrefix(plain, "text/"), schema != nil && !isFile(object, argument.Binary) &&
		plain != "application/octet-stream" && kind != nil:
		rank = 4
	default:
		rank = 5
	}
	if rank == len(ranks) {
		return argument.NoBody, rank
	}
	return ranks[rank], rank
}

// hasFile reports whether a property of a form is a file.
func (b *sourceBuilder) hasFile(schema any) bool {
	object, _, _ := b.doc.object(schema, "")
	for _, value := range mapOf(object, "properties") {
		property, _, _ := b.doc.object(value, "")
		if items, _, err := b.doc.object(property["items"], ""); err == nil {
			property = items
		}
		if isFile(property, argument.Multipart) {
			return true
		}
	}
	return false
}

// isFile reports whether a schema describes a file in a body.
func isFile(schema map[string]any, kind argument.Body) bool {
	if one := schema["type"]; one != nil && one != "string" && !slices.Equal(anys(one), []any{"string", "null"}) {
		return false
	}
	encoding, media := text(schema, "contentEncoding"), text(schema, "contentMediaType")
	if kind == argument.JSON {
		return encoding == "base64"
	}
	return text(schema, "format") == "binary" || encoding == "base64" ||
		encoding == "" && media != "" && !strings.HasPrefix(media, "text/") && !strings.Contains(media, "json")
}

// anys returns a list of values, nil for anything else.
func anys(value any) []any {
	all, _ := value.([]any)
	return all
}

// emptyContent reports whether a body can only be empty: its schemas describe objects without properties.
func (b *sourceBuilder) emptyContent(content map[string]any) bool {
	for _, value := range content {
		media, _ := value.(map[string]any)
		schema, _, err := b.doc.object(media["schema"], "")
		if err != nil || schema["type"] != "object" || len(mapOf(schema, "properties")) > 0 ||
			len(mapOf(schema, "additionalProperties")) > 0 ||
			schema["allOf"] != nil || schema["anyOf"] != nil || schema["oneOf"] != nil {
			return false
		}
	}
	return len(content) > 0
}

// form completes a body with what its kind needs.
func (b *sourceBuilder) form(out body, media map[string]any) (body, error) {
	var wrongs faults
	object, _, err := b.doc.object(out.schema, out.place+".schema")
	switch out.kind {
	case argument.Form, argument.Multipart:
		if out.schema == nil || err != nil {
			return out, wrong(out.place, "a form needs the schema of an object")
		}
		if object["properties"] != nil && b.emptyContent(map[string]any{"": media}) {
			return body{}, nil
		}
		if out.kind == argument.Multipart {
			out.contentType = "multipart/form-data"
		}
		out.fields, err = b.encodings(out.kind, mapOf(media, "encoding"), out.place+".encoding")
		wrongs.add(err)
	case argument.Text:
		if out.schema == nil {
			out.schema = map[string]any{"type": "string"}
		}
	case argument.Binary:
		out.schema = map[string]any{"type": "string", "format": "binary", "description": text(object, "description")}
	default:
		if out.schema == nil {
			out.schema = map[string]any{}
		}
	}
	return out, wrongs.err()
}

// encodings reads how the properties of a form are written.
func (b *sourceBuilder) encodings(
	kind argument.Body, encoding map[string]any, place string,
) (map[string]argument.Field, error) {
	var wrongs faults
	fields := make(map[string]argument.Field)
	for _, name := range slices.Sorted(maps.Keys(encoding)) {
		e, ok := encoding[name].(map[string]any)
		if !ok {
			wrongs.add(wrong(place+"."+name, "must be an object"))
			continue
		}
		f, err := b.encoding(kind, e, place+"."+name)
		wrongs.add(err)
		fields[name] = f
	}
	return fields, wrongs.err()
}

func (b *sourceBuilder) encoding(kind argument.Body, e map[string]any, place string) (f argument.Field, err error) {
	for kind := range strings.SplitSeq(text(e, "contentType"), ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			f.Types = append(f.Types, kind)
		}
	}
	styled := e["style"] != nil || e["explode"] != nil || e["allowReserved"] != nil
	if kind == argument.Multipart && b.doc.old && !b.doc.swagger {
		styled = false // version 3.0 ignores the fields there
	}
	if kind == argument.Multipart {
		if len(mapOf(e, "headers")) > 0 {
			return f, wrong(place+".headers", "headers of parts are not supported")
		}
		if slices.ContainsFunc(f.Types, func(kind string) bool {
			_, _, err := mime.ParseMediaType(kind)
			return err != nil
		}) {
			return f, wrong(place+".contentType", "must be content types")
		}
	}
	switch {
	case styled:
		f.Style = argument.StyleForm
		if style := text(e, "style"); style != "" {
			f.Style = argument.Style(style)
		}
		if !slices.Contains(queryStyles, f.Style) {
			return f, wrong(place, "the style "+cut(string(f.Style), 100)+" is not supported in a form")
		}
		f.Explode = f.Style == argument.StyleForm
		if explode, ok := e["explode"].(bool); ok {
			f.Explode = explode
		}
		f.Reserved = e["allowReserved"] == true
	case kind == argument.Form && len(f.Types) > 0:
		switch plain, _, _ := mime.ParseMediaType(f.Types[0]); {
		case plain == "application/json" || strings.HasSuffix(plain, "+json"):
			f.Style = argument.StyleJSON
		case plain == "text/plain":
		default:
			return f, wrong(place+".contentType", "only application/json and text/plain are supported in a form")
		}
	}
	return f, nil
}

// checkForm refuses forms with values that have no plain form.
func checkForm(content body, schema any, place string) error {
	object, _ := schema.(map[string]any)
	if kind := object["type"]; kind != nil && kind != "object" {
		return wrong(place, "a form must be an object with properties")
	}
	var wrongs faults
	properties := mapOf(object, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		f := content.fields[name]
		if f.Style == argument.StyleDeep || f.Style == argument.StyleJSON ||
			content.kind == argument.Multipart && f.Style == "" {
			continue
		}
		at := place + ".properties." + name
		if property["type"] == "object" && f.Style != "" {
			for _, below := range mapOf(property, "properties") {
				if compound(below) {
					wrongs.add(wrong(at, "only deepObject and JSON can have objects or lists within an object"))
				}
			}
			continue
		}
		if items, ok := property["items"].(map[string]any); ok && property["type"] == "array" {
			property = items
		}
		if compound(property) {
			wrongs.add(
				wrong(at, "a form may only have texts, numbers, booleans and lists of these, unless an encoding says otherwise"),
			)
		}
	}
	return wrongs.err()
}

// compound reports whether the values of a written schema are objects or lists.
func compound(schema any) bool {
	object, _ := schema.(map[string]any)
	return object["type"] == "object" || object["type"] == "array"
}
