package openapi

import (
	"maps"
	"slices"
)

// maxWalk bounds how many values of a document are read to find which references lead to each other.
const maxWalk = 4_000_000

// maxWritten bounds how many schemas of a document are written, which takes seconds.
const maxWritten = 20_000_000

// library has the schemas of a document that were written already, and what is known of its references.
type library struct {
	doc *document
	// fragments are written schemas by the context that they depend on: see [writer.key].
	fragments map[string]*fragment
	// circle numbers the circles of references: those with the same number lead to each other.
	circle map[string]int
	walked int
	// finals are the references to which others lead without anything else.
	finals map[string]string
	// broken are the references that cannot be followed to their end.
	broken map[string]error
	// written counts the schemas that were written, which is the work of the library.
	written int
}

func newLibrary(doc *document) *library {
	return &library{
		doc: doc, fragments: make(map[string]*fragment), circle: make(map[string]int), finals: make(map[string]string),
		broken: make(map[string]error),
	}
}

// final follows references that lead to nothing but a reference. A schema that consists of itself is an error.
func (l *library) final(ref, place string) (string, any, error) {
	var chain, next []string
	seen := make(map[string]bool)
	for last := ref; l.finals[last] == ""; {
		target, err := l.doc.find(last, place)
		switch {
		case l.broken[last] != nil:
			err = l.broken[last]
		case seen[last]:
			err = wrong(place, "refers to itself")
		}
		if err != nil { // once for all of them: a chain can be long
			for _, one := range chain {
				l.broken[one] = err
			}
			return "", nil, err
		}
		seen[last] = true
		object, _ := target.(map[string]any)
		to, _ := object["$ref"].(string)
		alone := to != "" && (l.doc.old || len(object) == 1)
		chain, next = append(chain, last), append(next, "")
		if alone {
			next[len(next)-1] = to
		}
		if to == "" {
			break
		}
		last, place = to, placeOf(last)
	}
	for i, one := range slices.Backward(chain) {
		l.finals[one] = one
		if next[i] != "" {
			l.finals[one] = l.finals[next[i]]
		}
	}
	last := l.finals[ref]
	target, err := l.doc.find(last, place)
	return last, target, err
}

// edges returns the references within the target of a reference.
func (l *library) edges(ref string) []string {
	target, err := l.doc.find(ref, "")
	if err != nil {
		return nil
	}
	found := make(map[string]bool)
	stack := []any{target}
	for len(stack) > 0 && l.walked < maxWalk {
		l.walked++
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch v := top.(type) {
		case map[string]any:
			if to, ok := v["$ref"].(string); ok {
				found[to] = true
			}
			for _, value := range v {
				stack = append(stack, value)
			}
		case []any:
			stack = append(stack, v...)
		}
	}
	return slices.Collect(maps.Keys(found))
}

// visit is a reference whose circle is looked for.
type visit struct {
	ref        string
	index, low int
	edges      []string
	next       int
}

// circleOf returns the number of a reference's circle. All are 0 once too many values were read.
func (l *library) circleOf(ref string) int {
	if n, ok := l.circle[ref]; ok {
		return n
	}
	// The algorithm is Tarjan's, without recursion: references can be very deep.
	visits, open := make(map[string]*visit), []string(nil)
	enter := func(ref string) *visit {
		v := &visit{ref: ref, index: len(visits), low: len(visits), edges: l.edges(ref)}
		visits[ref] = v
		open = append(open, ref)
		return v
	}
	for path := []*visit{enter(ref)}; len(path) > 0; {
		v := path[len(path)-1]
		if v.next < len(v.edges) {
			to := v.edges[v.next]
			v.next++
			if _, done := l.circle[to]; done {
				continue
			}
			if other := visits[to]; other != nil {
				v.low = min(v.low, other.index)
				continue
			}
			path = append(path, enter(to))
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			path[len(path)-1].low = min(path[len(path)-1].low, v.low)
		}
		if v.low < v.index {
			continue
		}
		number := len(l.circle) + 1
		if l.walked >= maxWalk {
			number = 0
		}
		for last := ""; last != v.ref; open = open[:len(open)-1] {
			last = open[len(open)-1]
			l.circle[last] = number
		}
	}
	return l.circle[ref]
}
