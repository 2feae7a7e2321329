package rest

import (
	"bytes"
	"slices"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// jsonPart is a part of a form that is a JSON document.
type jsonPart struct {
	param    int // its index in the parameters
	name     string
	optional bool // null means that it is not there
	plan     *body.Plan
}

// compileParts compiles the decoders of the JSON parts of a form.
func (rt *route) compileParts() error {
	if rt.input.params == nil {
		return nil
	}
	for i, p := range rt.input.params.Params() {
		if !p.JSON {
			continue
		}
		plan, err := rt.planOf(p.Type, rt.partName(p))
		if err != nil {
			return err
		}
		rt.input.parts = append(rt.input.parts, jsonPart{i, p.Name, p.Nullable, plan})
	}
	return nil
}

// partName returns a name for the type of a JSON part that has none.
func (rt *route) partName(p bind.Param) string { return rt.bodyName() + exported(p.Name) }

// readParts reads the JSON parts of a form into the input that dst points to.
func (c *routeContext) readParts(dst any) (faults []fault.Fault, err error) {
	for _, part := range c.route.input.parts {
		text, err := c.input.Part(part.name)
		if err != nil {
			return nil, err //nolint:wrapcheck // it names the part
		}
		if text == nil || part.optional && string(bytes.TrimSpace(text)) == "null" {
			continue
		}
		if err := c.countValues(text); err != nil {
			return nil, err
		}
		_, wrong := part.plan.Decode(text, c.route.input.params.Open(dst, part.param))
		for _, f := range wrong {
			f.In, f.Path = fault.Form, append([]any{part.name}, f.Path...)
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// sentInForm returns the names of the fields and files that the form had, in the order in
// which the input declares them.
func (c *routeContext) sentInForm() []string {
	params := c.route.input.params
	if c.input == nil || params == nil || !params.NeedsForm() {
		return nil
	}
	var names []string
	for _, p := range params.Params() {
		if (p.In == fault.Form || p.In == fault.File) && c.input.Sent(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// inForm reports whether the form had the field or file.
func (c *routeContext) inForm(name string) bool { return slices.Contains(c.sentInForm(), name) }
