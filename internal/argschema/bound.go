package argschema

import (
	"errors"
	"regexp/syntax"
)

const (
	// maxDepth bounds the nesting of a foreign schema. The package that parses schemas reads each level anew.
	maxDepth = 64
	// maxPattern bounds a pattern, and maxPatterns the programs of all patterns together, in bytes. A pattern of
	// ten characters can have a program of a thousand instructions, and a check executes each of them for each
	// character of a text.
	maxPattern  = 4 << 10
	maxPatterns = 512 << 10
	// maxWork bounds the product of the sizes of a schema and a value: each of a hundred alternatives may be
	// tried with each of a thousand items.
	maxWork = 2_000_000
)

var (
	errDeep     = errors.New("the schema is too deep")
	errPatterns = errors.New("the patterns of the schema are too large")
)

// sizeOf returns how many values are in a JSON value, itself included.
func sizeOf(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			n += sizeOf(value)
		}
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	}
	return n
}

// bounded returns an error if the schema costs too much to parse, to compile or to check with.
func bounded(schema any) error {
	room := maxPatterns
	return spend(schema, maxDepth, &room)
}

// spend takes the cost of the patterns in v from room. Depth is how deep v may be.
func spend(v any, depth int, room *int) error {
	if depth == 0 {
		return errDeep
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if pattern, ok := value.(string); ok && key == "pattern" {
				*room -= patternCost(pattern)
			}
			if named, ok := value.(map[string]any); ok && key == "patternProperties" {
				for pattern := range named {
					*room -= patternCost(pattern)
				}
			}
			if *room < 0 {
				return errPatterns
			}
			if err := spend(value, depth-1, room); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := spend(item, depth-1, room); err != nil {
				return err
			}
		}
	}
	return nil
}

// patternCost returns about how many bytes the program of a pattern takes. A pattern that cannot be parsed
// costs nothing.
func patternCost(pattern string) int {
	if len(pattern) > maxPattern {
		return maxPatterns + 1
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	const ofInstruction = 80
	return ofInstruction*instructions(parsed) + classes(parsed)
}

// instructions returns about how many instructions an expression has, without compiling it.
func instructions(e *syntax.Regexp) int {
	n := 1
	if e.Op == syntax.OpLiteral {
		n = len(e.Rune)
	}
	for _, sub := range e.Sub {
		n += instructions(sub)
	}
	switch {
	case e.Op != syntax.OpRepeat:
		return n
	case e.Max < 0:
		return n * (e.Min + 1)
	default: // the parser bounds the product of nested repeats
		return n * max(e.Max, 1)
	}
}

// classes returns the size of the character classes of an expression, in bytes. Repeats share them.
func classes(e *syntax.Regexp) int {
	const ofRune = 4
	size := 0
	if e.Op == syntax.OpCharClass {
		size = ofRune * len(e.Rune)
	}
	for _, sub := range e.Sub {
		size += classes(sub)
	}
	return size
}
