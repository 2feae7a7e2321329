package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// methods are the methods of operations that can be tools, in the order of the tools.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// maxOperations bounds the chosen operations.
const maxOperations = 5000

// otherMethods are further methods that a document may have.
var otherMethods = []string{http.MethodOptions, http.MethodTrace}

// operation is an operation of a document.
type operation struct {
	method, path, id string
	place            string
	item, node       map[string]any
	itemPlace        string
	// fault is why the operation cannot be read. Its method is empty if no operation of the path can be.
	fault error
	// wrongs are faults of an operation that can be read all the same.
	wrongs faults
	// ignored is true if no tool can have the method.
	ignored bool
}

// key returns "METHOD /path".
func (o operation) key() string { return strings.TrimSpace(o.method + " " + o.path) }

// name returns how errors name the operation.
func (o operation) name() string {
	if o.id != "" {
		return o.id + " (" + o.key() + ")"
	}
	return o.key()
}

func (o operation) tagged(tag string) bool {
	tags, _ := o.node["tags"].([]any)
	return slices.Contains(tags, any(tag))
}

// target returns the path that is sent, and the query after it. A fragment makes an operation different from
// others, and is never sent.
func (o operation) target() (path, query string) {
	path, _, _ = strings.Cut(o.path, "#")
	path, query, _ = strings.Cut(path, "?")
	return path, query
}

// operations returns all operations, in the order of their paths.
func (d *document) operations() ([]operation, error) {
	paths, ok := d.root["paths"].(map[string]any)
	if !ok {
		return nil, wrong("paths", "must be an object with the paths of the service")
	}
	var all []operation
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !strings.HasPrefix(path, "/") {
			continue // an extension
		}
		item, place, err := d.item(paths[path], "paths."+path)
		if err != nil {
			all = append(all, operation{path: path, place: place, fault: err})
			continue
		}
		for _, method := range slices.Concat(methods, otherMethods) {
			if word := strings.ToLower(method); item[word] != nil {
				all = append(all, d.operation(method, path, item, place, place+"."+word))
			}
		}
	}
	return all, nil
}

// operation reads an operation of a path.
func (d *document) operation(method, path string, item map[string]any, itemPlace, place string) operation {
	o := operation{
		method: method, path: path, place: place, item: item, itemPlace: itemPlace,
		ignored: slices.Contains(otherMethods, method),
	}
	o.node, o.place, o.fault = d.object(item[strings.ToLower(method)], place)
	o.id = plainText(o.node["operationId"])
	if o.fault == nil && d.swagger {
		o = d.modern(o)
	}
	if o.fault == nil && o.ignored {
		o.fault = wrong(o.place, "the method "+method+" is not supported")
	}
	return o
}

// item returns the fields of a path. Those beside a reference count with those to which it leads, if both do not
// have the same one.
func (d *document) item(value any, place string) (map[string]any, string, error) {
	item, at, err := d.object(value, place)
	beside, _ := value.(map[string]any)
	if err != nil || len(beside) <= 1 || beside["$ref"] == nil {
		return item, at, err
	}
	item = maps.Clone(item)
	for name, field := range beside {
		if name == "$ref" {
			continue
		}
		if _, both := item[name]; both {
			return nil, place, wrong(place+"."+name, "is there twice: here, and where $ref leads")
		}
		item[name] = field
	}
	return item, at, nil
}

// choice is a chosen operation.
type choice struct {
	operation

	// named says that its own name chose it.
	named bool
}

// choose returns the operations that the words choose, each once, in the order of the words.
func choose(all []operation, words, except []string) ([]choice, error) {
	var chosen []choice
	at, without := make(map[string]int), make(map[string]bool)
	for i, word := range slices.Concat(except, words) {
		found := false
		for _, o := range all {
			every, own := o.matches(word)
			if !every && !own {
				continue
			}
			found = true
			key := o.key()
			if i < len(except) {
				without[key] = true
				continue
			}
			if n, twice := at[key]; twice {
				chosen[n].named = chosen[n].named || own
				continue
			}
			at[key] = len(chosen)
			chosen = append(chosen, choice{o, own})
		}
		if !found {
			field := ""
			if i < len(except) {
				field = "Except: "
			}
			return nil, spool.Errorf(spool.Invalid, "%sthe document has no operation %q; there are %s", field, cut(word, 200),
				known(all))
		}
	}
	chosen = slices.DeleteFunc(chosen, func(c choice) bool { return without[c.key()] })
	switch {
	case len(chosen) == 0:
		return nil, spool.Errorf(spool.Invalid, "Except: leaves no operation")
	case len(chosen) > maxOperations:
		return nil, spool.Errorf(spool.Invalid, "there are %d chosen operations, and there may be %d: choose fewer",
			len(chosen), maxOperations)
	}
	return chosen, nil
}

// matches reports whether a word chooses the operation: as one of several, or by its own name.
func (o operation) matches(word string) (every, own bool) {
	if word == "*" {
		return true, false
	}
	if tag, isTag := strings.CutPrefix(word, "tag:"); isTag && o.tagged(tag) {
		return true, false
	}
	return false, o.is(word)
}

// is reports whether a word names the operation: by its id, or as "METHOD /path".
func (o operation) is(word string) bool {
	method, path, ok := strings.Cut(word, " ")
	return word == o.id && o.id != "" ||
		ok && o.method != "" && strings.EqualFold(method, o.method) && strings.TrimSpace(path) == o.path
}

func known(all []operation) string {
	names := make([]string, 0, min(len(all), 100))
	for _, o := range all[:min(len(all), 100)] {
		if o.id != "" {
			names = append(names, o.id)
		} else {
			names = append(names, o.key())
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return cut(strings.Join(names, ", "), 500)
}
