package openapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// placeKey is the key under which an object that was made of another one has that one's place.
const placeKey = "\x00place"

// upgrade gives a document of version 2.0 the fields that the rest of the package reads: those of version 3.0.
// Its references keep what they refer to. Operations follow one by one: see modern.
func (d *document) upgrade() {
	d.old, d.swagger = true, true
	d.root = maps.Clone(d.root)
	d.root["servers"] = servers(d.root, d.root)
	schemes, _ := d.root["securityDefinitions"].(map[string]any)
	upgraded := make(map[string]any, len(schemes))
	for name, value := range schemes {
		scheme, ok := value.(map[string]any)
		if ok && text(scheme, "type") == "basic" {
			scheme = maps.Clone(scheme)
			scheme["type"], scheme["scheme"] = "http", "basic"
			upgraded[name] = scheme
			continue
		}
		upgraded[name] = value
	}
	d.root["components"] = map[string]any{"securitySchemes": upgraded}
}

// servers returns the servers of host, basePath and schemes. A document that does not name a scheme has that of
// the URL from which it came.
func servers(root, holder map[string]any) []any {
	schemes, _ := holder["schemes"].([]any)
	scheme := ""
	for _, known := range []string{"http", "https"} {
		if slices.Contains(schemes, any(known)) {
			scheme = known + ":"
		}
	}
	host, base := text(root, "host"), text(root, "basePath")
	if base != "" && !strings.HasPrefix(base, "/") {
		base = "/" + base
	}
	link := base
	switch {
	case host != "":
		link = scheme + "//" + host + base
	case link == "":
		link = "/"
	}
	return []any{map[string]any{"url": link, placeKey: "host"}}
}

// modern returns an operation of version 2.0 as one of version 3.0.
func (d *document) modern(o operation) operation {
	old := o.node
	o.node, o.item = maps.Clone(o.node), maps.Clone(o.item)
	delete(o.item, "parameters")
	delete(o.node, "parameters")
	if old["schemes"] != nil {
		o.node["servers"] = servers(d.root, old)
	}
	values, err := d.parametersOf(o, old)
	o.wrongs.add(err)
	var plain []any
	var form []map[string]any
	for _, p := range values {
		switch in := text(p, "in"); in {
		case "body":
			o.node["requestBody"] = d.oldBody(p, old)
		case "formData":
			form = append(form, p)
		default:
			modern, err := oldParameter(p, in)
			o.wrongs.add(err)
			plain = append(plain, modern)
		}
	}
	if len(form) > 0 {
		body, err := d.oldForm(form, old, o.place)
		o.wrongs.add(err)
		o.node["requestBody"] = body
	}
	o.node["parameters"] = plain
	o.node["responses"] = d.oldResponses(old)
	return o
}

// parametersOf returns the parameters of an operation and its path, each once, with their places.
func (d *document) parametersOf(o operation, old map[string]any) ([]map[string]any, error) {
	var all []map[string]any
	var wrongs faults
	item, _, err := d.item(mapOf(d.root, "paths")[o.path], o.itemPlace)
	wrongs.add(err)
	for _, holder := range []struct {
		of    map[string]any
		place string
	}{{item, o.itemPlace}, {old, o.place}} {
		items, err := parameterList(holder.of, holder.place)
		wrongs.add(err)
		for i, value := range items {
			p, place, err := d.object(value, holder.place+".parameters["+strconv.Itoa(i)+"]")
			if err != nil {
				wrongs.add(err)
				continue
			}
			p = maps.Clone(p)
			p[placeKey] = place
			same := slices.IndexFunc(all, func(q map[string]any) bool {
				return text(q, "in") == text(p, "in") && (text(q, "name") == text(p, "name") || text(p, "in") == "body")
			})
			if same >= 0 {
				all[same] = p
				continue
			}
			all = append(all, p)
		}
	}
	return all, wrongs.err()
}

// notSchema are the fields of a parameter of version 2.0 that do not belong to its schema.
var notSchema = []string{"name", "in", "required", "description", "collectionFormat", "allowEmptyValue", placeKey}

// oldSchema returns the schema of a parameter, which has it among its own fields.
func oldSchema(p map[string]any) (map[string]any, error) {
	schema := make(map[string]any)
	for name, value := range p {
		if !slices.Contains(notSchema, name) {
			schema[name] = value
		}
	}
	if items, _ := p["items"].(map[string]any); text(items, "type") == "array" {
		return schema, wrong(text(p, placeKey)+".items", "a list of lists is not supported outside of a body")
	}
	return schema, nil
}

// collected sets style and explode as a collectionFormat says.
func collected(p, out map[string]any) {
	if text(p, "type") != "array" {
		return
	}
	out["explode"] = false
	switch format := text(p, "collectionFormat"); format {
	case "", "csv":
	case "multi":
		out["style"], out["explode"] = "form", true
	case "ssv":
		out["style"] = "spaceDelimited"
	case "pipes":
		out["style"] = "pipeDelimited"
	default:
		out["style"] = format
	}
}

func oldParameter(p map[string]any, in string) (map[string]any, error) {
	schema, err := oldSchema(p)
	out := map[string]any{
		"name": p["name"], "in": in, "required": p["required"], "description": p["description"], "schema": schema,
		placeKey: p[placeKey],
	}
	collected(p, out)
	return out, err
}

// kinds returns the content types of an operation, or of the document, or the usual one.
func (d *document) kinds(old map[string]any, word, usual string) []any {
	for _, holder := range []map[string]any{old, d.root} {
		if kinds, ok := holder[word].([]any); ok && len(kinds) > 0 {
			return kinds
		}
	}
	return []any{usual}
}

func (d *document) oldBody(p, old map[string]any) map[string]any {
	content := make(map[string]any)
	for _, kind := range d.kinds(old, "consumes", "application/json") {
		if kind, ok := kind.(string); ok {
			content[kind] = map[string]any{"schema": p["schema"], placeKey: p[placeKey]}
		}
	}
	return map[string]any{
		"required": p["required"], "description": p["description"], "content": content, placeKey: p[placeKey],
	}
}

// oldForm returns the body of an operation with parameters in a form.
func (d *document) oldForm(form []map[string]any, old map[string]any, place string) (map[string]any, error) {
	var all faults
	properties, encoding := make(map[string]any), make(map[string]any)
	var required []any
	const parts, plain = "multipart/form-data", "application/x-www-form-urlencoded"
	kind := plain
	if kinds := d.kinds(old, "consumes", plain); slices.Contains(kinds, any(parts)) &&
		!slices.Contains(kinds, any(plain)) {
		kind = parts
	}
	for _, p := range form {
		name := text(p, "name")
		schema, err := oldSchema(p)
		all.add(err)
		if name == "" {
			all.add(wrong(text(p, placeKey), "needs a name"))
		}
		if schema["type"] == "file" {
			kind = parts
			schema["type"], schema["format"] = "string", "binary"
		}
		if about := text(p, "description"); about != "" {
			schema["description"] = about
		}
		properties[name] = schema
		if p["required"] == true {
			required = append(required, name)
		}
		written := make(map[string]any)
		if collected(p, written); len(written) > 0 {
			written["style"] = plainOr(written["style"], "form")
			encoding[name] = written
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	at := place + ".parameters"
	media := map[string]any{"schema": schema, "encoding": encoding, placeKey: at}
	return map[string]any{"required": len(required) > 0, "content": map[string]any{kind: media}, placeKey: at}, all.err()
}

func plainOr(value any, usual string) any {
	if value == nil {
		return usual
	}
	return value
}

// oldResponses returns the responses with their content types.
func (d *document) oldResponses(old map[string]any) map[string]any {
	content := make(map[string]any)
	for _, kind := range d.kinds(old, "produces", "application/json") {
		if kind, ok := kind.(string); ok {
			content[kind] = map[string]any{}
		}
	}
	return map[string]any{"200": map[string]any{"content": content}}
}

// mapOf returns an object in an object, nil if there is none.
func mapOf(object map[string]any, key string) map[string]any {
	value, _ := object[key].(map[string]any)
	return value
}
