package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/spoolhq/spool"
)

const (
	// maxNodes bounds the values of a YAML document with all aliases written out: they multiply.
	maxNodes = 2_000_000
	// maxDepth bounds how deep they are, because an alias may refer to itself.
	maxDepth = 200
)

func parseYAML(text []byte) (any, error) {
	loader := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := loader.Decode(&root); errors.Is(err, io.EOF) {
		return nil, spool.Errorf(spool.Invalid, "is empty")
	} else if err != nil {
		return nil, spool.Errorf(spool.Invalid, "is no YAML: %s", cut(err.Error(), 300))
	}
	if err := loader.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, spool.Errorf(spool.Invalid, "has several YAML documents")
	}
	if len(root.Content) != 1 {
		return nil, spool.Errorf(spool.Invalid, "is empty")
	}
	c := &yamlCounter{sizes: make(map[*yaml.Node]int)}
	if _, err := c.size(root.Content[0], maxDepth); err != nil {
		return nil, err
	}
	r := &yamlReader{aliased: make(map[*yaml.Node]any)}
	return r.value(root.Content[0])
}

// yamlCounter counts the values of a document before anything is written out.
type yamlCounter struct{ sizes map[*yaml.Node]int }

// size returns how many values a node has, or an error if they are too many or too deep.
func (c *yamlCounter) size(n *yaml.Node, depth int) (int, error) {
	size, known := c.sizes[n]
	if known && size > 0 {
		return size, nil
	}
	if known || depth == 0 {
		return 0, spool.Errorf(spool.Invalid, "line %d: is too deep, or an alias refers to itself", n.Line)
	}
	below := n.Content
	if n.Kind == yaml.AliasNode {
		below = []*yaml.Node{n.Alias}
	}
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		c.sizes[n] = 0 // until it is counted
	}
	size = 1
	for _, one := range below {
		more, err := c.size(one, depth-1)
		if err != nil {
			return 0, err
		}
		if size += more; size > maxNodes {
			return 0, spool.Errorf(spool.Invalid, "line %d: has more than %d values, with its aliases", n.Line, maxNodes)
		}
	}
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		c.sizes[n] = size
	}
	return size, nil
}

// yamlReader turns the nodes of a YAML document into the values of a JSON document. Aliases share one value.
type yamlReader struct{ aliased map[*yaml.Node]any }

func (r *yamlReader) value(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		if value, ok := r.aliased[n.Alias]; ok {
			return value, nil
		}
		value, err := r.value(n.Alias)
		r.aliased[n.Alias] = value
		return value, err
	case yaml.MappingNode:
		return r.mapping(n)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if out[i], err = r.value(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return scalar(n)
	}
}

func (r *yamlReader) mapping(n *yaml.Node) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return nil, spool.Errorf(spool.Invalid, "line %d: a key must be a plain word", key.Line)
		}
		if _, twice := out[key.Value]; twice {
			return nil, spool.Errorf(spool.Invalid, "line %d: the key %q is there twice", key.Line, cut(key.Value, 100))
		}
		value, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[key.Value] = value
	}
	return out, nil
}

// scalar returns a text, a number, a boolean or nil. Dates and the like are texts.
func scalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil //nolint:nilnil // null is a value
	case "!!bool":
		b, err := strconv.ParseBool(n.Value)
		if err != nil {
			return n.Value, nil //nolint:nilerr // it is a word then
		}
		return b, nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var number float64
		if err := n.Decode(&number); err != nil {
			return nil, spool.Errorf(spool.Invalid, "line %d: is no number", n.Line)
		}
		b, err := json.Marshal(number)
		if err != nil { // such as .inf
			return n.Value, nil //nolint:nilerr // it is a word then
		}
		return json.Number(b), nil
	default:
		return n.Value, nil
	}
}
