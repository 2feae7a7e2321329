package config

import "github.com/spoolhq/spool"

// output reads the JSON value that an agent answers with, or nil.
func output(v value) *spool.OutputSchema {
	if !v.present() {
		return nil
	}
	f := v.fields("name", "description", "schema")
	s := &spool.OutputSchema{Description: f["description"].text()}
	if f["name"].required() {
		s.Name = f["name"].word()
		if !toolName.MatchString(s.Name) {
			f["name"].problemf("may only have up to 64 letters, digits and the characters _ -")
		}
	}
	if f["schema"].required() {
		s.Schema, _ = f["schema"].object()
	}
	return s
}
