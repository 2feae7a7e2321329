package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

const (
	// maxHops bounds how many references lead to one value.
	maxHops = 16
	// MaxDocument is the maximum size of a document, in bytes.
	MaxDocument = 16 << 20
)

// document is a parsed OpenAPI document. Its values are those of package encoding/json, with numbers as
// [json.Number].
type document struct {
	root map[string]any
	// old says that the version is 3.0, whose schemas differ from JSON Schema.
	old bool
	// swagger says that the version was 2.0. Such a document is old too.
	swagger bool
	// found has what references lead to.
	found map[string]any
}

// parse reads JSON or YAML.
func parse(text []byte) (*document, error) {
	if len(text) > MaxDocument {
		return nil, spool.Errorf(spool.Invalid, "is larger than %d bytes", MaxDocument)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var value any
	var err error
	if start := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(start, []byte("{")) {
		value, err = parseJSON(text)
	} else {
		value, err = parseYAML(text)
	}
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, spool.Errorf(spool.Invalid, "is no OpenAPI document: it must be an object")
	}
	d := &document{root: root, found: make(map[string]any)}
	switch version, _ := root["openapi"].(string); {
	case strings.HasPrefix(version, "3.0."):
		d.old = true
	case strings.HasPrefix(version, "3.1."):
	case plainText(root["swagger"]) == "2.0":
		d.upgrade()
	default:
		return nil, spool.Errorf(spool.Invalid,
			"has no field openapi with a version that begins with 3.0. or 3.1., and no field swagger with 2.0")
	}
	switch dialect := root["jsonSchemaDialect"]; dialect {
	case nil, "https://spec.openapis.org/oas/3.1/dialect/base", "https://json-schema.org/draft/2020-12/schema":
		return d, nil
	default:
		return nil, spool.Errorf(spool.Invalid, "jsonSchemaDialect: only draft 2020-12 is supported")
	}
}

func parseJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, spool.Errorf(spool.Invalid, "is no JSON: %s", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, spool.Errorf(spool.Invalid, "is no JSON: something follows the object")
	}
	return value, nil
}

// object follows the references of a value and returns the object that they lead to, with its place.
func (d *document) object(value any, place string) (map[string]any, string, error) {
	for range maxHops {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, place, wrong(place, "must be an object")
		}
		ref, ok := object["$ref"].(string)
		if !ok {
			return object, place, nil
		}
		var err error
		if value, err = d.find(ref, place); err != nil {
			return nil, place, err
		}
		place = placeOf(ref)
	}
	return nil, place, wrong(place, "refers to itself")
}

// find returns the value to which a reference leads.
func (d *document) find(ref, place string) (any, error) {
	if value, ok := d.found[ref]; ok {
		return value, nil
	}
	value, err := d.follow(ref, place)
	if err == nil {
		d.found[ref] = value
	}
	return value, err
}

func (d *document) follow(ref, place string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#/")
	switch {
	case !ok && strings.HasPrefix(ref, "#"):
		return nil, wrong(place+".$ref", "refers to "+cut(ref, 200)+"; only references that begin with #/ are supported")
	case !ok:
		return nil, wrong(place+".$ref", "refers to something outside of this document; bundle the document first")
	}
	var value any = d.root
	for step := range strings.SplitSeq(path, "/") {
		step = unescape(step)
		switch at := value.(type) {
		case map[string]any:
			value, ok = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(at); ok {
				value = at[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, wrong(place+".$ref", "refers to "+cut(ref, 200)+", which is not there")
		}
	}
	return value, nil
}

// placeOf returns the place to which a reference leads.
func placeOf(ref string) string {
	steps := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	for i := range steps {
		steps[i] = unescape(steps[i])
	}
	return strings.Join(steps, ".")
}

// unescape returns a step of a reference as the document has it.
func unescape(step string) string {
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// plainText returns the text of a string or a number, as YAML has versions.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// text returns a string of an object, "" if there is none.
func text(object map[string]any, key string) string {
	s, _ := object[key].(string)
	return s
}

// list returns a list of an object.
func list(object map[string]any, key, place string) ([]any, error) {
	switch v := object[key].(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	default:
		return nil, wrong(place+"."+key, "must be a list")
	}
}

// cut bounds a text, and ends it with an ellipsis if it is longer.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
