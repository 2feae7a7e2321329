package argschema

import (
	"encoding/json"
	"math"
	"regexp/syntax"
)

// Patterns adds up the cost of the patterns of one schema. The zero value has none.
type Patterns struct{ spent int }

// Add adds a pattern. It returns an error, without much work, if Go cannot read the pattern, or if the patterns
// are together too large to be compiled for an author who is not trusted.
func (p *Patterns) Add(pattern string) error {
	if len(pattern) > maxPattern || p.spent > maxPatterns {
		return errPatterns
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return err
	}
	cost := patternCost(pattern)
	if p.spent+cost > maxPatterns {
		return errPatterns
	}
	p.spent += cost
	return nil
}

// CheckPatterns returns an error if the patterns of a schema are together too large to be compiled for an author
// who is not trusted. It does not check that the text is a valid JSON Schema.
func CheckPatterns(schema json.RawMessage) error {
	var parsed any
	if err := json.Unmarshal(schema, &parsed); err != nil {
		return err
	}
	room := maxPatterns
	return spend(parsed, math.MaxInt, &room)
}
