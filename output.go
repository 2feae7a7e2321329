package spool

import (
	"regexp"
)

// outputName is the pattern of [OutputSchema.Name].
var outputName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Check returns an [Invalid] error that names the wrong field of the schema. It does not compile the JSON
// Schema.
func (s *OutputSchema) Check() error {
	switch {
	case !outputName.MatchString(s.Name):
		return Errorf(Invalid, "output.name must have 1 to 64 letters, digits, hyphens and underscores")
	case len(s.Description) > maxOutputDescription:
		return Errorf(Invalid, "output.description is longer than %d bytes", maxOutputDescription)
	case len(s.Schema) == 0:
		return Errorf(Invalid, "output.schema is required")
	}
	return nil
}

// maxOutputDescription bounds [OutputSchema.Description], in bytes.
const maxOutputDescription = 4096
