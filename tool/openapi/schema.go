package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/tool/internal/argument"
)

const (
	// maxSchemaNodes and maxSchemaBytes bound the arguments of one tool, which a model reads in each request.
	maxSchemaNodes = 3000
	maxSchemaBytes = 48 << 10
	// maxSchemas bounds the arguments of all tools of a document, in bytes: many operations can share a large schema.
	maxSchemas = 16 << 20
	// maxSchemaDepth bounds how deep a schema is without its references.
	maxSchemaDepth = 256
	// maxRecursion is how often a schema may be within itself.
	maxRecursion = 2
	// maxDescription bounds a description, and shortDescription one of arguments that do not fit with longer ones.
	maxDescription   = 1000
	shortDescription = 60
)

// The keywords of a schema, by what they have.
var (
	plainWords = []string{
		"type", "enum", "const", "required", "format", "title", "default", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minContains",
		"maxContains", "minProperties", "maxProperties", "dependentRequired", "contentEncoding", "contentMediaType",
	}
	schemaWords = []string{
		"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedProperties",
		"unevaluatedItems",
	}
	listWords    = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	mapWords     = []string{"properties", "patternProperties", "dependentSchemas"}
	refusedWords = []string{"$id"}
)

// fragment is a schema that a reference leads to, as it was written. Nobody changes its value.
type fragment struct {
	value any
	// nodes and bytes are what it adds to the writer's, and large says that they are too many.
	nodes, bytes int
	large        bool
	// cut says that levels are left out.
	cut      bool
	patterns []string
	wrongs   faults
	files    [][]string
}

// writer writes schemas of the document as schemas without references, which every provider takes and whose
// checks take a bounded time.
type writer struct {
	*library

	// within has the references that lead to the present schema, and scope the schemas to which they lead.
	within []string
	scope  []anchored
	// most is how many there may be. Deeper schemas accept everything.
	most int
	// words is how many bytes a description may have.
	words int
	// plain leaves all patterns to the description.
	plain bool
	// kind is that of the body in which schemas of files are written as artifacts. steps lead to the present
	// schema there, and apart counts the schemas around it that no steps lead to.
	kind  argument.Body
	steps []string
	apart int

	// fragment has what was written so far.
	fragment
	// dynamic says that the present fragment depends on those around it.
	dynamic bool
}

// anchored is a schema that others can refer to by what is around them.
type anchored struct {
	ref    string
	schema map[string]any
}

// add counts a part of a schema.
func (w *writer) add(nodes, bytes int) {
	w.nodes += nodes
	w.bytes += bytes
	w.large = w.large || w.nodes > maxSchemaNodes || w.bytes > maxSchemaBytes
}

// top writes a schema that no reference leads to.
func (w *writer) top(value any, place string) any {
	w.scope = w.scope[:0]
	if object, ok := value.(map[string]any); ok {
		w.scope = append(w.scope, anchored{ref: "#" + place, schema: object})
	}
	return w.schema(value, place, 0)
}

// schema returns a schema without references. It records what is wrong, and goes on.
func (w *writer) schema(value any, place string, depth int) any {
	if w.large { // nobody reads the result
		return map[string]any{}
	}
	w.written++
	w.add(1, len("{},"))
	if b, ok := value.(bool); ok && !w.doc.old {
		return b
	}
	object, ok := value.(map[string]any)
	if !ok {
		w.wrongs.add(wrong(place, "must be a schema"))
		return map[string]any{}
	}
	if depth > maxSchemaDepth {
		w.wrongs.add(wrong(place, "is too deep"))
		return map[string]any{}
	}
	if ref, ok := object["$ref"].(string); ok {
		return w.beside(object, "$ref", w.reference(ref, place, depth), place, depth)
	}
	for _, word := range []string{"$recursiveRef", "$dynamicRef"} {
		if ref, ok := object[word].(string); ok {
			return w.beside(object, word, w.byScope(word, ref, place, depth), place, depth)
		}
	}
	for _, word := range refusedWords {
		if object[word] != nil {
			w.wrongs.add(wrong(place, word+" is not supported"))
		}
	}
	if w.file(object) {
		w.files = append(w.files, slices.Clone(w.steps))
		return fileSchema(object)
	}
	out := make(map[string]any)
	w.plainWords(object, out, place)
	if about := text(object, "description"); about != "" {
		out["description"] = cut(about, w.words)
		w.add(0, min(len(about), w.words))
	}
	w.below(object, out, place, depth+1)
	dropReadOnly(object, out)
	w.setPattern(object, out)
	modernize(object, out, w.doc)
	return out
}

// plainWords copies the keywords that have no schemas.
func (w *writer) plainWords(object, out map[string]any, place string) {
	for _, word := range plainWords {
		v, ok := object[word]
		if _, isBool := v.(bool); !ok || isBool && word == "required" { // of an older draft, where the property had it
			continue
		}
		if test := kinds[word]; test != nil {
			if v == nil {
				continue
			}
			if text := test(v); text != "" {
				w.wrongs.add(wrong(place+"."+word, text))
				continue
			}
		}
		if !finite(v) {
			w.wrongs.add(wrong(place+"."+word, "has a number that is too large"))
			continue
		}
		if number, ok := v.(json.Number); ok {
			v = json.Number(strings.TrimSuffix(number.String(), ".0"))
		}
		w.add(0, len(word)+sizeOf(v, maxSchemaBytes))
		out[word] = v
	}
}

// sizeOf returns at least about how many bytes a value has as JSON, up to a bound.
func sizeOf(value any, most int) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case map[string]any:
		size := 0
		for key, below := range v {
			if size += len(key) + sizeOf(below, most-size); size > most {
				break
			}
		}
		return size
	case []any:
		size := len(v)
		for _, below := range v {
			if size += sizeOf(below, most-size); size > most {
				break
			}
		}
		return size
	default:
		return 1
	}
}

// file reports whether the present schema is that of a file of the body.
func (w *writer) file(object map[string]any) bool {
	switch {
	case w.kind == argument.NoBody || w.apart > 0:
		return false
	case w.kind == argument.Multipart &&
		(len(w.steps) == 0 || len(w.steps) > 1 && (len(w.steps) > 2 || w.steps[1] != each)):
		return false // only a property, or an item of one, is a part
	case isFile(object, w.kind):
		return true
	}
	for _, word := range []string{"anyOf", "oneOf"} { // a file or null
		files := 0
		for _, value := range anys(object[word]) {
			branch, _, err := w.doc.object(value, "")
			if err != nil || branch["type"] != "null" && !isFile(branch, w.kind) {
				return false
			}
			if branch["type"] != "null" {
				files++
			}
		}
		if files > 0 {
			return true
		}
	}
	return false
}

// each is the step to the items of a list and to the values of an object without names.
const each = "*"

// fileSchema returns the schema of an argument that names a file.
func fileSchema(object map[string]any) map[string]any {
	about := strings.TrimSpace(cut(text(object, "description"), maxDescription) +
		"\nA file: the id or the URI of an artifact of this thread.")
	return map[string]any{"type": "string", "description": about}
}

// aside writes a schema to which no steps lead.
func (w *writer) aside(value any, place string, depth int) any {
	w.apart++
	defer func() { w.apart-- }()
	return w.schema(value, place, depth)
}

// step writes a schema to which a step leads.
func (w *writer) step(step string, value any, place string, depth int) any {
	w.steps = append(w.steps, step)
	defer func() { w.steps = w.steps[:len(w.steps)-1] }()
	return w.schema(value, place, depth)
}

// below writes the schemas within a schema.
func (w *writer) below(object, out map[string]any, place string, depth int) {
	for _, word := range schemaWords {
		value, ok := object[word]
		if !ok {
			continue
		}
		w.add(0, len(word))
		if b, ok := value.(bool); ok && word == "additionalProperties" {
			out[word] = b
			continue
		}
		if word == "items" || word == "additionalProperties" {
			out[word] = w.step(each, value, place+"."+word, depth)
			continue
		}
		out[word] = w.aside(value, place+"."+word, depth)
	}
	for _, word := range listWords {
		values, err := list(object, word, place)
		w.wrongs.add(err)
		w.add(len(values), 0)
		var written []any
		for i, value := range values {
			if w.large {
				break
			}
			at := place + "." + word + "[" + strconv.Itoa(i) + "]"
			if word == "allOf" {
				written = append(written, w.schema(value, at, depth))
				continue
			}
			written = append(written, w.aside(value, at, depth))
		}
		if written != nil {
			out[word] = written
		}
	}
	for _, word := range mapWords {
		values, ok := object[word].(map[string]any)
		if !ok {
			continue
		}
		if w.add(len(values), 0); w.large { // before they are sorted
			return
		}
		written := make(map[string]any, len(values))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			w.add(0, len(name)+len(`"":`))
			at := place + "." + word + "." + name
			if word == "properties" {
				written[name] = w.step("."+name, values[name], at, depth)
				continue
			}
			written[name] = w.aside(values[name], at, depth)
		}
		out[word] = written
	}
}

// reference writes the schema to which a reference leads.
func (w *writer) reference(ref, place string, depth int) any {
	last, target, err := w.final(ref, place)
	if err != nil {
		w.wrongs.add(err)
		return map[string]any{}
	}
	return w.target(ref, last, target, depth)
}

// target writes the schema with a reference, if it is not within itself too often.
func (w *writer) target(ref, last string, target any, depth int) any {
	same := 0
	for _, above := range w.within {
		if above == last {
			same++
		}
	}
	if same > maxRecursion || len(w.within) >= w.most {
		w.cut = w.cut || same <= maxRecursion
		about := "A value of the kind " + cut(ref[strings.LastIndexByte(ref, '/')+1:], 100) +
			", whose fields are not listed here."
		w.add(0, len(about))
		return map[string]any{"description": about}
	}
	key := w.key(last)
	if known := w.fragments[key]; known != nil {
		w.append(known)
		return known.value
	}
	outer, dynamic, steps := w.fragment, w.dynamic, w.steps
	w.fragment, w.dynamic = fragment{nodes: outer.nodes, bytes: outer.bytes}, false
	w.steps = slices.Clip(steps)
	w.within = append(w.within, last)
	object, _ := target.(map[string]any)
	w.scope = append(w.scope, anchored{last, object})
	value := w.schema(target, placeOf(last), depth+1)
	w.within, w.scope = w.within[:len(w.within)-1], w.scope[:len(w.scope)-1]

	out := w.fragment
	out.value, out.nodes, out.bytes = value, out.nodes-outer.nodes, out.bytes-outer.bytes
	for i := range out.files {
		out.files[i] = out.files[i][len(steps):]
	}
	whole := !out.large || out.nodes > maxSchemaNodes || out.bytes > maxSchemaBytes
	if whole && !w.dynamic {
		w.fragments[key] = &out
	}
	w.fragment, w.dynamic, w.steps = outer, dynamic || w.dynamic, steps
	w.append(&out)
	return value
}

// append adds a fragment to the written schema.
func (w *writer) append(out *fragment) {
	w.add(out.nodes, out.bytes)
	w.cut, w.large = w.cut || out.cut, w.large || out.large
	w.patterns = append(w.patterns, out.patterns...)
	w.wrongs.add(out.wrongs.err())
	for _, steps := range out.files {
		w.files = append(w.files, slices.Concat(w.steps, steps))
	}
}

// key returns what a fragment depends on: how many levels are left, how often the references of its circle are
// around it, and whether it can have files.
func (w *writer) key(ref string) string {
	var b strings.Builder
	b.WriteString(ref + "|" + strconv.Itoa(w.most-len(w.within)))
	if w.plain {
		b.WriteString("|plain")
	}
	if w.words < maxDescription {
		b.WriteString("|short")
	}
	if w.kind != argument.NoBody && w.apart == 0 {
		b.WriteString("|" + string(w.kind))
		if w.kind == argument.Multipart {
			b.WriteString(strconv.Itoa(len(w.steps)) + strings.Join(w.steps[min(1, len(w.steps)):min(2, len(w.steps))], ""))
		}
	}
	circle := w.circleOf(ref)
	var around []string
	for _, above := range w.within {
		if w.circleOf(above) == circle {
			around = append(around, above)
		}
	}
	slices.Sort(around)
	for _, above := range around {
		b.WriteString("|" + above)
	}
	return b.String()
}

// byScope writes the schema to which a reference leads that depends on the schemas around it.
func (w *writer) byScope(word, ref, place string, depth int) any {
	if strings.HasPrefix(ref, "#/") {
		return w.reference(ref, place, depth)
	}
	w.dynamic = true
	found := anchored{}
	switch name := strings.TrimPrefix(ref, "#"); {
	case word == "$recursiveRef" && ref == "#" && len(w.scope) > 0:
		if found = w.scope[len(w.scope)-1]; found.schema["$recursiveAnchor"] == true {
			at := slices.IndexFunc(w.scope, func(a anchored) bool { return a.schema["$recursiveAnchor"] == true })
			found = w.scope[at]
		}
	case word == "$dynamicRef" && name != ref:
		found = w.anchor(name)
	}
	if found.schema == nil {
		w.wrongs.add(wrong(place, word+" refers to "+cut(ref, 200)+", which is not there"))
		return map[string]any{}
	}
	if found.schema["$ref"] == nil {
		return w.target(found.ref, found.ref, found.schema, depth)
	}
	return w.schema(found.schema, place, depth+1)
}

// anchor returns the outermost schema with a dynamic anchor.
func (w *writer) anchor(name string) anchored {
	for _, one := range w.scope {
		if one.schema["$dynamicAnchor"] == name {
			return one
		}
		for key, value := range mapOf(one.schema, "$defs") {
			if inner, ok := value.(map[string]any); ok && inner["$dynamicAnchor"] == name {
				return anchored{one.ref + "/$defs/" + key, inner}
			}
		}
	}
	return anchored{}
}

// beside adds what is beside a reference to the schema to which it leads.
func (w *writer) beside(object map[string]any, word string, out any, place string, depth int) any {
	if w.doc.old || len(object) == 1 { // in 3.0, nothing counts beside a reference
		return out
	}
	remaining := maps.Clone(object)
	for _, word := range []string{word, "$dynamicAnchor", "$recursiveAnchor", "$defs"} {
		delete(remaining, word)
	}
	more := w.schema(remaining, place, depth+1)
	extra, _ := more.(map[string]any)
	main, ok := out.(map[string]any)
	about := extra["description"]
	delete(extra, "description")
	if main = maps.Clone(main); len(extra) > 0 || !ok {
		main = map[string]any{"allOf": []any{out, extra}}
	}
	if about != nil {
		main["description"] = about
	}
	return main
}

// dropReadOnly removes properties that only answers have.
func dropReadOnly(object, out map[string]any) {
	properties, _ := object["properties"].(map[string]any)
	written, _ := out["properties"].(map[string]any)
	for name, value := range properties {
		if p, ok := value.(map[string]any); ok && p["readOnly"] == true {
			delete(written, name)
			if required, ok := out["required"].([]any); ok {
				out["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
			}
		}
	}
}

// setPattern copies a pattern that Go can check at a bounded cost. Another one becomes a part of the description.
func (w *writer) setPattern(object, out map[string]any) {
	if pattern, ok := object["pattern"].(string); ok {
		if w.acceptsPattern(pattern) {
			out["pattern"] = pattern
		} else {
			about, _ := out["description"].(string)
			out["description"] = strings.TrimSpace(about + "\nPattern: " + cut(pattern, maxDescription))
		}
	}
	patterns, _ := out["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if !w.acceptsPattern(pattern) {
			delete(out, "patternProperties")
			delete(out, "additionalProperties")
			delete(out, "unevaluatedProperties")
			return
		}
	}
}

// acceptsPattern reports whether Go can check a pattern at a bounded cost, and records the pattern.
func (w *writer) acceptsPattern(pattern string) bool {
	if w.plain || new(argschema.Patterns).Add(pattern) != nil {
		return false
	}
	w.patterns = append(w.patterns, pattern)
	return true
}

// modernize turns the keywords of OpenAPI 3.0 into those of JSON Schema. Limits that are booleans are in documents
// of later versions, too, where they have no other meaning.
func modernize(object, out map[string]any, doc *document) {
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		switch object[exclusive] {
		case true:
			if out[exclusive] = out[limit]; out[limit] == nil {
				delete(out, exclusive)
			}
			delete(out, limit)
		case false:
			delete(out, exclusive)
		}
	}
	kind, ok := out["type"].(string)
	if nullable := object["nullable"] == true || doc.swagger && object["x-nullable"] == true; !doc.old ||
		!nullable || !ok {
		return
	}
	out["type"] = []any{kind, "null"}
	if values, ok := out["enum"].([]any); ok && !slices.Contains(values, nil) {
		out["enum"] = append(slices.Clone(values), nil)
	}
}

// deepest returns what write writes with as many levels of references as fit. If not even one fits, descriptions are
// shorter.
func (l *library) deepest(place string, plain bool, write func(w *writer) any) (*writer, json.RawMessage, error) {
	for _, words := range []int{maxDescription, shortDescription} {
		best, text, err := deepestOf(writer{library: l, words: words, plain: plain}, place, write)
		if best != nil || err != nil {
			return best, text, err
		}
	}
	return nil, nil, wrong(place, "its arguments are too large for a model: more than "+
		strconv.Itoa(maxSchemaBytes>>10)+" KiB")
}

// deepestOf does the same with one form of the descriptions. It returns nil if nothing fits.
func deepestOf(form writer, place string, write func(w *writer) any) (best *writer, text json.RawMessage, err error) {
	var wrongs faults
	for _, most := range []int{1, 2, 4, 8, 32} {
		w := form
		w.most = most
		schema := write(&w)
		if w.large {
			break
		}
		if wrongs.add(w.wrongs.err()); len(wrongs) > 0 { // deeper levels may have more
			if !w.cut {
				break
			}
			continue
		}
		more, err := json.Marshal(schema)
		if err != nil {
			return nil, nil, wrong(place, "its arguments cannot be written as JSON")
		}
		if len(more) > maxSchemaBytes {
			break
		}
		if best, text = &w, more; !w.cut {
			break
		}
	}
	if len(wrongs) > 0 {
		return nil, nil, wrongs
	}
	return best, text, nil
}

// schemaOf returns the arguments' schema of an operation as JSON, and the places of files in the body.
func (l *library) schemaOf(place string, write func(w *writer) any) (json.RawMessage, [][]string, error) {
	if l.written > maxWritten {
		return nil, nil, wrong(place, "the schemas of the document are too large together: choose fewer operations")
	}
	w, text, err := l.deepest(place, false, write)
	if err != nil {
		return nil, nil, err
	}
	var all argschema.Patterns
	if slices.ContainsFunc(w.patterns, func(pattern string) bool { return all.Add(pattern) != nil }) {
		w, text, err = l.deepest(place, true, write) // together they cost too much
	}
	if err != nil {
		return nil, nil, err
	}
	return text, w.files, nil
}
