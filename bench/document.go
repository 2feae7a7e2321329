package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spoolhq/spool/tool/openapi"
)

// documentOperations is the number of operations of the document.
const documentOperations = 300

// measureDocument measures how long the tools of a large document take, compared with its decoding.
func measureDocument(b *bench) (*section, error) {
	text, err := largeDocument(size(b, documentOperations, 10))
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Load of an OpenAPI document",
		how: fmt.Sprintf("`openapi.New` makes the tools of all %d operations of a document in JSON, of %s kB. Each has a schema of its own, which refers to four of 60 shared "+
			"schemas, and they refer to others. Beside it, `encoding/json` decodes the document into maps, and does nothing else.", documentOperations, number(float64(len(text)/1000))),
	}
	var loaded, decoded sample
	err = b.interleave(3,
		func() error {
			return timed(&loaded, func() error {
				tools, err := openapi.New(openapi.Config{Document: text, Operations: []string{"*"}})
				if err == nil && len(tools) != size(b, documentOperations, 10) {
					err = fmt.Errorf("there are %d tools", len(tools))
				}
				return err
			})
		},
		func() error {
			return timed(&decoded, func() error {
				var value any
				return json.Unmarshal(text, &value)
			})
		},
	)
	if err != nil {
		return nil, err
	}
	ratio := loaded.over(decoded)
	s.rows = []row{{"load", "ms", loaded}, {"decoding alone", "ms", decoded}, {"load over decoding", "", ratio}}
	s.goals = []goal{atMost("load of the document, over its decoding", ratio.median(), 30)}
	return s, nil
}

// timed adds the milliseconds of a function to a sample.
func timed(into *sample, do func() error) error {
	begin := time.Now()
	err := do()
	*into = append(*into, float64(time.Since(begin))/float64(time.Millisecond))
	return err
}

// largeDocument returns a document with so many operations.
func largeDocument(operations int) ([]byte, error) {
	const shared = 60
	ref := func(n int) map[string]any {
		return map[string]any{"$ref": fmt.Sprintf("#/components/schemas/Part%d", n%shared)}
	}
	object := func(first, step, refs int) map[string]any {
		properties := map[string]any{
			"name": map[string]any{
				"type": "string", "description": "The name, as people know it.", "maxLength": 100, "pattern": "^[a-z]+$",
			},
			"state": map[string]any{"type": "string", "enum": []any{"open", "paid", "closed"}},
			"count": map[string]any{"type": "integer", "minimum": 0},
		}
		for n := range refs {
			properties[fmt.Sprintf("part%d", n)] = ref(first + n*step)
		}
		return map[string]any{"type": "object", "required": []any{"name"}, "properties": properties}
	}
	schemas, paths := make(map[string]any), make(map[string]any)
	for n := range shared {
		refs := 2
		if n >= shared/2 {
			refs = 0
		}
		schemas[fmt.Sprintf("Part%d", n)] = object(n+shared/4, shared/8, refs)
	}
	for n := range operations {
		schemas[fmt.Sprintf("Order%d", n)] = object(n, 7, 4)
		response := map[string]any{
			"description": "The order.",
			"content": map[string]any{
				"application/json": map[string]any{
					"schema": map[string]any{"$ref": fmt.Sprintf("#/components/schemas/Order%d", n)},
				},
			},
		}
		paths[fmt.Sprintf("/shops/{shop}/orders%d", n)] = map[string]any{"post": map[string]any{
			"operationId": fmt.Sprintf("createOrder%d", n), "summary": "Creates an order.",
			"tags": []any{fmt.Sprintf("tag%d", n%20)},
			"parameters": []any{
				map[string]any{"name": "shop", "in": "path", "required": true, "schema": map[string]any{"type": "string"}},
				map[string]any{"name": "dry", "in": "query", "schema": map[string]any{"type": "boolean"}},
				map[string]any{
					"name": "fields", "in": "query", "explode": false,
					"schema": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
				},
			},
			"requestBody": map[string]any{
				"required": true,
				"content": map[string]any{
					"application/json": map[string]any{
						"schema": map[string]any{"$ref": fmt.Sprintf("#/components/schemas/Order%d", n)},
					},
				},
			},
			"responses": map[string]any{"200": response, "404": map[string]any{"description": "There is no such shop."}},
		}}
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "Shop", "version": "1"},
		"servers": []any{map[string]any{"url": "https://shop.example"}}, "paths": paths,
		"components": map[string]any{"schemas": schemas},
	})
}
