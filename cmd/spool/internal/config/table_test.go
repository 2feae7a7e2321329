package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// A row is all that a new option needs: the reader, its errors and the schema come from it.
func TestNewOption(t *testing.T) {
	t.Parallel()

	var color string
	paint := table{row("color", oneOf(&color, "red", "blue"), "The color of the page. Default: red.")}
	parse := func(text string) error {
		c := &Config{}
		return c.parse("spool.yaml", []byte(text), nil, append(c.sections(), row("paint", fields(paint), "How it looks.")))
	}
	if err := parse("paint: {color: blue}"); err != nil || color != "blue" {
		t.Errorf("color = %q, %v", color, err)
	}
	for text, want := range map[string]string{
		"paint:\n  color: green\n": "spool.yaml:2: paint.color: must be red or blue",
		"paint: {colour: red}\n":   "spool.yaml:1: paint.colour: unknown field; there are color",
		"print: {}\n":              "schedules, paint",
	} {
		if err := parse(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}

	b, err := schema(table{row("paint", fields(paint), "How it looks.")})
	var root struct {
		Properties map[string]struct {
			Description string
			Properties  map[string]struct {
				Description string
				AnyOf       []struct{ Enum []string }
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &root)
	}
	if err != nil {
		t.Fatal(err)
	}
	section := root.Properties["paint"]
	option := section.Properties["color"]
	if section.Description != "How it looks." || option.Description != paint[0].doc ||
		len(option.AnyOf) == 0 || strings.Join(option.AnyOf[0].Enum, " ") != "red blue " {
		t.Errorf("schema:\n%s", b)
	}

	paint[0].doc = ""
	if _, err := schema(table{row("paint", fields(paint), "How it looks.")}); err == nil ||
		err.Error() != "paint.color has no description" {
		t.Errorf("without a description: %v", err)
	}
}
