package httptool

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/argument"
)

// plan returns how requests are built from arguments.
func (c Config) plan() (*argument.Plan, error) {
	target, err := c.parsed()
	if err != nil {
		return nil, err
	}
	p := &argument.Plan{Method: c.Method}
	switch c.Method {
	case http.MethodGet, http.MethodDelete:
		p.Rest = true
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		p.Body = argument.JSON
	default:
		return nil, spool.Errorf(spool.Invalid, "Method of tool %s must be GET, POST, PUT, PATCH or DELETE", c.Name)
	}
	text, query, _ := strings.Cut(strings.TrimSuffix(c.URL, "#"+target.EscapedFragment()), "?")
	at := len(target.Scheme) + len("://")
	if slash := strings.IndexByte(text[at:], '/'); slash >= 0 {
		text, p.Path = text[:at+slash], text[at+slash:]
	}
	p.Base = text
	if query != "" {
		p.Base += "?" + query
	}
	for _, name := range argument.Names(p.Path) {
		if !requires(c.Parameters, name) {
			return nil, spool.Errorf(spool.Invalid, "URL of tool %s has {%s}, which Parameters must have and require", c.Name,
				name)
		}
		p.Params = append(p.Params, argument.Param{Arg: name, Name: name, In: argument.Path, Style: argument.StyleSimple})
	}
	return p, nil
}

// requires reports whether a schema has a property and requires it.
func requires(schema json.RawMessage, name string) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return false
	}
	_, ok := s.Properties[name]
	return ok && slices.Contains(s.Required, name)
}
