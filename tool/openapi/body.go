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
}

// body reads the body of an operation. Of several content types it takes JSON.
func (b *sourceBuilder) body(o operation) (body, error) {
	if o.node["requestBody"] == nil {
		return body{}, nil
	}
	node, place, err := b.doc.object(o.node["requestBody"], o.place+".requestBody")
	if err != nil {
		return body{}, err
	}
	if !hasBody(o.method) {
		return body{}, wrong(place, "a "+o.method+" has no body")
	}
	content, _ := node["content"].(map[string]any)
	out := body{required: node["required"] == true, about: text(node, "description")}
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		plain, _, err := mime.ParseMediaType(kind)
		if err != nil {
			continue
		}
		switch isJSON := plain == "application/json" || plain == "*/*" || strings.HasSuffix(plain, "+json"); {
		case plain == "application/json" || isJSON && out.kind != argument.JSON:
			out.kind, out.contentType, out.place = argument.JSON, plain, place+".content."+kind
		case plain == "application/x-www-form-urlencoded" && out.kind == argument.NoBody:
			out.kind, out.place = argument.Form, place+".content."+kind
		default:
			continue
		}
		media, _ := content[kind].(map[string]any)
		out.schema = media["schema"]
		if out.kind == argument.Form && media["encoding"] != nil {
			return out, wrong(out.place+".encoding", "is not supported")
		}
	}
	if out.kind == argument.NoBody {
		return out, wrong(place+".content", "only application/json and application/x-www-form-urlencoded are supported; there are "+names(content))
	}
	if out.contentType == "*/*" {
		out.contentType = ""
	}
	if out.schema == nil {
		out.schema = map[string]any{}
	}
	return out, nil
}

// checkForm refuses forms with values that have no plain form.
func checkForm(schema any, place string) error {
	object, _ := schema.(map[string]any)
	properties, ok := object["properties"].(map[string]any)
	if !ok || object["type"] != "object" {
		return wrong(place, "a form must be an object with properties")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if items, ok := property["items"].(map[string]any); ok && property["type"] == "array" {
			property = items
		}
		if kind := property["type"]; kind == "object" || kind == "array" {
			return wrong(place+".properties."+name, "a form may only have texts, numbers, booleans and lists of these")
		}
	}
	return nil
}
