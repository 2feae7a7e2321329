// Package catalogue has the two tools that stand for many: one that finds tools by words, and one that describes
// them. It is pure. Which tools a run has described is part of the run, and the agent loop's to keep.
package catalogue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const (
	// maxHits is how many tools a search returns, and maxNames how many tools a call describes.
	maxHits, maxNames = 10, 10
	// maxQuery bounds the words of a search, in bytes.
	maxQuery = 1000
	// maxLine bounds the first line of a description in a list, in bytes.
	maxLine = 200
	// maxResult bounds a result with descriptions, in bytes.
	maxResult = 48 << 10
)

// Catalogue is the tools that a run of an agent can find. It is safe for concurrent use.
type Catalogue struct {
	tools []*spool.Tool
	index func() *index // made by the first search: most runs need none
}

// Is reports whether one of the two tools has the name.
func Is(name string) bool { return name == spool.SearchTool || name == spool.DescribeTool }

// Of returns the catalogue of a list of tools, or nil if none of them is in a catalogue. The list must not be changed.
func Of(tools []spool.Tool) *Catalogue {
	c := &Catalogue{}
	for i := range tools {
		if tools[i].Search {
			c.tools = append(c.tools, &tools[i])
		}
	}
	if len(c.tools) == 0 {
		return nil
	}
	c.index = sync.OnceValue(func() *index { return newIndex(c.tools) })
	return c
}

// Tools returns the two tools.
func (c *Catalogue) Tools() []spool.Tool {
	return []spool.Tool{
		{
			ToolSpec: spool.ToolSpec{
				Name: spool.SearchTool,
				Description: fmt.Sprintf("Finds tools by words, in the names and descriptions of %s that are not in your list. "+
					"Describe what you found with %s, then call it.", count(len(c.tools), "tool"), spool.DescribeTool),
				Parameters: json.RawMessage(`{"type":"object","properties":{` +
					`"query":{"type":"string","description":"What the tool does, in a few words."}` +
					`},"required":["query"],"additionalProperties":false}`),
			},
			Idempotent: true,
			Check: func(args json.RawMessage) error {
				_, err := queryOf(args)
				return err
			},
			Call: func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
				query, err := queryOf(call.Args)
				if err != nil {
					return nil, err
				}
				return c.Search(query), nil
			},
		},
		{
			ToolSpec: spool.ToolSpec{
				Name: spool.DescribeTool,
				Description: fmt.Sprintf("Describes tools that %s found, with their parameters, and adds them to your list. "+
					"You can call them from then on.", spool.SearchTool),
				Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
					`"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":%d,"description":"The names of the tools."}`+
					`},"required":["names"],"additionalProperties":false}`, maxNames)),
			},
			Idempotent: true,
			Check: func(args json.RawMessage) error {
				_, err := namesOf(args)
				return err
			},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return nil, errors.New("only the engine can describe tools") // it knows which ones the run has
			},
		},
	}
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// queryOf returns the checked argument of a search.
func queryOf(args json.RawMessage) (string, error) {
	var a struct {
		Query string `json:"query"`
	}
	switch {
	case strict(args, &a) != nil:
		return "", errors.New("the argument is query, a string")
	case strings.TrimSpace(a.Query) == "":
		return "", errors.New("query is empty")
	case len(a.Query) > maxQuery:
		return "", fmt.Errorf("query is longer than %d bytes", maxQuery)
	}
	return a.Query, nil
}

// namesOf returns the checked argument of a description.
func namesOf(args json.RawMessage) ([]string, error) {
	var a struct {
		Names []string `json:"names"`
	}
	switch {
	case strict(args, &a) != nil:
		return nil, errors.New("the argument is names, a list of strings")
	case len(a.Names) == 0:
		return nil, errors.New("names is empty")
	case len(a.Names) > maxNames:
		return nil, fmt.Errorf("names has %d names, and up to %d can be described at once", len(a.Names), maxNames)
	}
	return a.Names, nil
}

func strict(text json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// found is a tool in the result of a search.
type found struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Search returns the result of a search.
func (c *Catalogue) Search(query string) json.RawMessage {
	hits := c.index().search(query)
	out := struct {
		Tools []found `json:"tools"`
		More  int     `json:"more,omitempty"`
		Note  string  `json:"note,omitempty"`
	}{Tools: []found{}}
	for _, at := range hits[:min(len(hits), maxHits)] {
		out.Tools = append(out.Tools, found{c.tools[at].Name, firstLine(c.tools[at].Description)})
	}
	out.More = len(hits) - len(out.Tools)
	if len(hits) == 0 {
		out.Note = "no tool has these words in its name or description: try others"
	}
	return toolresult.JSON(out)
}

// firstLine returns the first line of a description, bounded.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return cut(strings.TrimSpace(text), maxLine)
}

// cut returns the beginning of a text.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// described is a tool in the result of a description.
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// Fresh returns the names that are tools of the catalogue and that a run which can call those of have does not have
// yet, up to the bound of a run.
func (c *Catalogue) Fresh(names, have []string) (fresh []string) {
	for _, name := range names {
		if len(have)+len(fresh) < spool.MaxDescribed && c.tool(name) != nil && !slices.Contains(have, name) &&
			!slices.Contains(fresh, name) {
			fresh = append(fresh, name)
		}
	}
	return fresh
}

// Names returns the names that a call of the second tool describes, nil for a call with wrong arguments.
func Names(args json.RawMessage) []string {
	names, _ := namesOf(args)
	return names
}

// Describe returns the result of a call of the second tool, in a run that can then call the tools of have.
func (c *Catalogue) Describe(names, have []string) json.RawMessage {
	out := struct {
		Tools []described `json:"tools"`
		Notes []string    `json:"notes,omitempty"`
	}{Tools: []described{}}
	left := maxResult
	for i, name := range names {
		switch t := c.tool(name); {
		case slices.Contains(names[:i], name):
		case t == nil:
			out.Notes = append(out.Notes, fmt.Sprintf("there is no tool %q: find tools with %s", cut(name, maxLine),
				spool.SearchTool))
		case !slices.Contains(have, name):
			out.Notes = append(out.Notes, full(name))
		default:
			d, whole := describe(t, left)
			if !whole {
				out.Notes = append(out.Notes, name+" is too long to be shown here: your list of tools has all of it")
			}
			left -= d.size()
			out.Tools = append(out.Tools, d)
		}
	}
	return toolresult.JSON(out)
}

// Undescribed returns the result of a call of a tool that the model has not described. It describes the tool if the run
// can then call it.
func (c *Catalogue) Undescribed(name string, have []string) json.RawMessage {
	if !slices.Contains(have, name) {
		return toolresult.Error(full(name))
	}
	d, _ := describe(c.tool(name), maxResult)
	return toolresult.Error(fmt.Sprintf("%s was not called, because it was not described in this run. This is its description: call it again with arguments that fit. %s",
		name, toolresult.JSON(d)))
}

// full tells that a run has all the tools that it can have.
func full(name string) string {
	return fmt.Sprintf("%s cannot be called: this run has described %d tools, and cannot have more. Go on with those",
		name, spool.MaxDescribed)
}

// describe returns the description of a tool in up to most bytes, and whether it is whole. The model has the whole one
// with the next request.
func describe(t *spool.Tool, most int) (d described, whole bool) {
	d = described{t.Name, t.Description, t.Parameters}
	if d.size() <= most {
		return d, true
	}
	if d.Parameters = nil; d.size() > most {
		d.Description = firstLine(t.Description)
	}
	return d, false
}

func (d described) size() int { return len(d.Name) + len(d.Description) + len(d.Parameters) }

func (c *Catalogue) tool(name string) *spool.Tool {
	for _, t := range c.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}
