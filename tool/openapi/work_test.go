package openapi

import (
	"fmt"
	"strings"
	"testing"
)

// A long chain of references that lead nowhere is followed once, and not for each operation.
func TestBrokenChain(t *testing.T) {
	t.Parallel()

	const links = 5000
	schemas := make(map[string]any)
	for i := range links {
		schemas[fmt.Sprintf("S%d", i)] = map[string]any{"$ref": fmt.Sprintf("#/components/schemas/S%d", (i+1)%links)}
	}
	doc := &document{root: map[string]any{"components": map[string]any{"schemas": schemas}}, found: make(map[string]any)}
	l := newLibrary(doc)
	if _, _, err := l.final("#/components/schemas/S0", "here"); err == nil ||
		err.Error() != "components.schemas.S4999: refers to itself" {
		t.Fatal(err)
	}
	if len(l.broken) != links {
		t.Errorf("%d references are known to be broken", len(l.broken))
	}
	clear(doc.found)
	if _, _, err := l.final("#/components/schemas/S7", "there"); err == nil || len(doc.found) != 1 {
		t.Errorf("%d references are followed again, %v", len(doc.found), err)
	}
}

// The documents of this test have 300 operations, each with a schema of its own. What is written must not grow with
// all the ways that lead through the references.
func TestWork(t *testing.T) {
	t.Parallel()

	const operations, shared = 300, 120
	for name, link := range map[string]func(i, n int) int{
		"Tree":   func(i, n int) int { return i*4 + n + 1 },
		"Dense":  func(i, n int) int { return i + n*n + 1 },
		"Circle": func(i, n int) int { return (i*7 + n*13 + 1) % shared },
		"Pairs":  func(i, n int) int { return (i/2)*2 + n%2 },
	} {
		var b strings.Builder
		b.WriteString("openapi: 3.1.0\nservers: [{url: 'https://a.example'}]\npaths:\n")
		for i := range operations {
			fmt.Fprintf(&b,
				"  /p%d: {post: {operationId: o%d, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Own%d'}}}}}}\n", i, i, i)
		}
		b.WriteString("components:\n  schemas:\n")
		properties := func(i int) {
			for n := range 12 {
				to := link(i, n)
				if to >= shared {
					to = shared - 1
				}
				fmt.Fprintf(&b, "p%d: {$ref: '#/components/schemas/S%d'}, ", n, to)
			}
			b.WriteString("q: {type: string}}}\n")
		}
		for i := range operations {
			fmt.Fprintf(&b, "    Own%d: {type: object, properties: {", i)
			properties(i % shared)
		}
		for i := range shared - 1 {
			fmt.Fprintf(&b, "    S%d: {type: object, properties: {", i)
			properties(i)
		}
		fmt.Fprintf(&b, "    S%d: {type: string}\n", shared-1)
		doc, err := parse([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		s := &sourceBuilder{config: Config{}, doc: doc, library: newLibrary(doc)}
		all, err := doc.operations()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if _, _, _, err := s.plan(o); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: %d schemas written, %d fragments, %d values walked", name, s.library.written, len(s.library.fragments),
			s.library.walked)
		if most := operations * 1000; s.library.written > most {
			t.Errorf("%s: %d schemas were written, and may be %d", name, s.library.written, most)
		}
	}
}
