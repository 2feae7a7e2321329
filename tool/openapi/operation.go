package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// methods are the methods of operations that can be tools, in the order of the tools.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// operation is an operation of a document.
type operation struct {
	method, path, id string
	place            string
	item, node       map[string]any
	itemPlace        string
}

// key returns "METHOD /path".
func (o operation) key() string { return o.method + " " + o.path }

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
		item, place, err := d.object(paths[path], "paths."+path)
		if err != nil {
			return nil, err
		}
		for _, method := range methods {
			word := strings.ToLower(method)
			if item[word] == nil {
				continue
			}
			node, ok := item[word].(map[string]any)
			if !ok {
				return nil, wrong(place+"."+word, "must be an object")
			}
			all = append(all, operation{
				method: method, path: path, id: text(node, "operationId"), place: place + "." + word, item: item, node: node, itemPlace: place,
			})
		}
	}
	return all, nil
}

// choose returns the operations that the words choose, each once, in the order of the words.
func choose(all []operation, words []string) ([]operation, error) {
	var chosen []operation
	for _, word := range words {
		tag, isTag := strings.CutPrefix(word, "tag:")
		found := false
		for _, o := range all {
			named := word == "*" || isTag && o.tagged(tag) || o.is(word)
			found = found || named
			if named && !slices.ContainsFunc(chosen, func(c operation) bool { return c.key() == o.key() }) {
				chosen = append(chosen, o)
			}
		}
		if !found {
			return nil, spool.Errorf(spool.Invalid, "the document has no operation %q; there are %s", cut(word, 200), known(all))
		}
	}
	return chosen, nil
}

// is reports whether a word names the operation: by its id, or as "METHOD /path".
func (o operation) is(word string) bool {
	method, path, ok := strings.Cut(word, " ")
	return word == o.id && o.id != "" || ok && strings.EqualFold(method, o.method) && strings.TrimSpace(path) == o.path
}

func known(all []operation) string {
	names := make([]string, len(all))
	for i, o := range all {
		if names[i] = o.id; o.id == "" {
			names[i] = o.key()
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return cut(strings.Join(names, ", "), 500)
}
