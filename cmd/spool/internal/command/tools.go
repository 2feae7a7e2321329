package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/openapi"
)

// toolset has the tools of a configuration.
type toolset struct {
	// entries are the tools by the names of the entries in the file. An OpenAPI document supplies several.
	entries map[string][]spool.Tool
	byName  map[string]spool.Tool
	lines   []description
	// leftOut are the operations of documents that are not supported, with the names of their entries.
	leftOut []description
}

// newTools makes the tools of a configuration, whose file is at path. It reads the documents of tools.
func newTools(c *config.Config, path string, egress egress.Policy) (*toolset, error) {
	set := &toolset{entries: make(map[string][]spool.Tool), byName: make(map[string]spool.Tool)}
	var problems []error
	for _, t := range c.Tools {
		tools, remarks, err := set.toolsOf(t, path, egress)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		set.entries[t.Name] = tools
		for i, tool := range tools {
			_, twice := set.byName[tool.Name]
			if other := slices.ContainsFunc(c.Tools, func(o config.Tool) bool {
				return o.Name == tool.Name && o.Name != t.Name
			}); twice || other {
				problems = append(problems, t.Errorf(
					"its operation %s has the name of another tool: change the prefix, or override its name", tool.Name,
				))
			}
			set.byName[tool.Name] = tool
			if !t.Search || t.OpenAPI == nil {
				set.lines = append(set.lines, describeTool(tool, remarks[i]))
			}
		}
		if t.Search && t.OpenAPI != nil { // there are many
			set.lines = append(set.lines, description{t.Name, counted(len(tools), "tool") + " to search"})
		}
	}
	return set, errors.Join(problems...)
}

// toolsOf makes the tools of one entry, each with a remark for the person who starts the process. It records the
// operations that are left out.
func (s *toolset) toolsOf(
	t config.Tool, path string, egress egress.Policy,
) (tools []spool.Tool, remarks []string, err error) {
	if t.OpenAPI == nil {
		tool, err := newTool(t, egress)
		if err != nil {
			return nil, nil, toolProblem(t, egress, err)
		}
		tool.Search = t.Search
		return []spool.Tool{tool}, []string{""}, nil
	}
	o := t.OpenAPI
	location, link := o.Document, ""
	switch {
	case openapi.IsURL(location):
		link = location
	case !filepath.IsAbs(location):
		location = filepath.Join(filepath.Dir(path), location)
	}
	text, err := openapi.Load(context.Background(), location, egress)
	if err != nil {
		return nil, nil, o.At("document").Errorf("%s", spool.MessageOf(err))
	}
	source := openapi.Config{
		Document: text, DocumentURL: link, Operations: o.Operations, Except: o.Except,
		Unsupported: openapi.Unsupported(o.Unsupported), BaseURL: o.BaseURL, Prefix: o.Prefix, Caller: o.Caller,
		Approval: t.Approval, Egress: egress, Headers: t.Requests.Headers, SigningSecrets: t.Requests.SigningSecrets,
		Secrets: t.Requests.Secrets, Timeout: t.Requests.Timeout, MaxResultBytes: t.Requests.MaxResultBytes,
		Retry: retryOf(t.Requests), Auth: make(map[string]openapi.Credential, len(o.Auth)),
		Override: make(map[string]openapi.Override, len(o.Override)),
	}
	for name, c := range o.Auth {
		source.Auth[name] = openapi.Credential(c)
	}
	for name, v := range o.Override {
		source.Override[name] = openapi.Override(v)
	}
	document, err := openapi.NewSet(source)
	if err != nil {
		return nil, nil, sourceProblem(o, spool.MessageOf(err))
	}
	for _, left := range document.LeftOut {
		name := strings.TrimSpace(left.Method + " " + left.Path)
		if left.OperationID != "" {
			name = left.OperationID + " (" + name + ")"
		}
		s.leftOut = append(s.leftOut, description{t.Name, oneLine(name + ": " + strings.Join(left.Reasons, "; "))})
	}
	for _, tool := range document.Tools {
		tool.Expiry, tool.DistinctApprover, tool.Access, tool.Search = t.Expiry, t.DistinctApprover, t.Access, t.Search
		tools, remarks = append(tools, tool.Tool), append(remarks, oneLine(tool.Method+" "+tool.Path))
	}
	return tools, remarks, nil
}

// oneLine returns a text of a document, which is not trusted, for a terminal: it neither controls it nor turns its
// direction.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// sourceProblem returns an error of a source at the field that can correct it.
func sourceProblem(o *config.OpenAPI, text string) error {
	text = oneLine(text)
	for start, field := range map[string]string{
		"the document ": "document", "Auth: ": "auth", "Override: ": "override", "Except: ": "except",
	} {
		if rest, ok := strings.CutPrefix(text, start); ok && !strings.HasPrefix(text, "the document has no operation") {
			return o.At(field).Errorf("%s", rest)
		}
	}
	return o.At("operations").Errorf("%s", text)
}

// named returns the tools of a list of names that an agent at a source has. The name of an entry stands for
// all of its tools.
func (s *toolset) named(at config.Source, names []string) (tools []spool.Tool, err error) {
	var problems []error
	for i, name := range names {
		more := s.entries[name]
		if single, ok := s.byName[name]; more == nil && ok {
			more = []spool.Tool{single}
		}
		item := at
		item.Path += ".tools[" + strconv.Itoa(i) + "]"
		if more == nil {
			problems = append(problems, item.Errorf("there is no tool %q", name))
		}
		for _, tool := range more {
			if slices.ContainsFunc(tools, func(t spool.Tool) bool { return t.Name == tool.Name }) {
				problems = append(problems, item.Errorf("the tool %q is there twice", tool.Name))
			}
			tools = append(tools, tool)
		}
	}
	return tools, errors.Join(problems...)
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func describeTool(t spool.Tool, remark string) description {
	if t.Search {
		remark = strings.TrimPrefix(remark+", to search", ", ")
	}
	if t.Approval != nil {
		remark = strings.TrimPrefix(remark+", asks first", ", ")
	}
	return description{t.Name, remark}
}
