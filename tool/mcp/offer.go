package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
)

// A server may offer resources and prompts besides its tools. Where [Config.Resources] and [Config.Prompts] ask for
// them, this package has tools that list and read them. The names are those of tools of the server, for a [Selection]
// too: a tool of the server with such a name is left out.
const (
	listResources = "list_resources"
	listTemplates = "list_resource_templates"
	readResource  = "read_resource"
	listPrompts   = "list_prompts"
	getPrompt     = "get_prompt"
)

// OfferedNames returns the names of the tools for resources and prompts, for [Selection.Allow].
func OfferedNames(resources, prompts bool) []string {
	return names((&List{Resources: resources, Prompts: prompts}).offered(""))
}

func names(tools []ListedTool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return all
}

// All returns the tools of the list, and those with which this package lists and reads the server's resources and
// prompts.
func (l *List) All() []ListedTool { return slices.Concat(l.Tools, l.offered("the server")) }

const (
	pageSchema = `{"type":"object","properties":{"cursor":{"type":"string","maxLength":4096,` +
		`"description":"The nextCursor of the page before. Left out: the first page."}},"additionalProperties":false}`
	uriSchema = `{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":4096,` +
		`"description":"The URI of the resource."}},"required":["uri"],"additionalProperties":false}`
	promptSchema = `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1024},` +
		`"arguments":{"type":"object","additionalProperties":{"type":"string"},"description":"The arguments of the prompt, by their names."}},` +
		`"required":["name"],"additionalProperties":false}`
)

// offered returns the tools for resources and prompts of a server with a name. They change nothing.
func (l *List) offered(server string) (tools []ListedTool) {
	add := func(name, description, schema string) {
		tools = append(tools, ListedTool{
			Name: name, Description: description, Schema: json.RawMessage(schema), ReadOnly: true, Idempotent: true,
		})
	}
	if l.Resources {
		add(listResources, "Lists the resources of "+server+
			", such as files and rows, by their URIs. A page has up to a hundred.", pageSchema)
		add(listTemplates, "Lists the templates of URIs (RFC 6570) of the resources of "+server+
			". Fill one in to get the URI of a resource.", pageSchema)
		add(readResource, "Reads a resource of "+server+
			" by its URI: one of a list, of a template that is filled in, or of a resource_link.", uriSchema)
	}
	if l.Prompts {
		add(listPrompts, "Lists the prompts of "+server+
			", which are texts for a task, and their arguments. A page has up to a hundred.", pageSchema)
		add(getPrompt, "Returns the messages of a prompt of "+server+".", promptSchema)
	}
	return tools
}

// offers notes in a list what the server offers besides tools, as far as the configuration asks for it. Tools of the
// server with the names of those tools are left out.
func (s *Server) offers(list *List, c *sdk.ServerCapabilities) {
	if c == nil {
		return
	}
	list.Resources = s.config.Resources && c.Resources != nil
	list.Prompts = s.config.Prompts && c.Prompts != nil
	own := names(list.offered(""))
	list.Tools = slices.DeleteFunc(list.Tools, func(t ListedTool) bool {
		inUse := slices.Contains(own, t.Name)
		if inUse {
			s.config.Log.Warn(
				"MCP server offers a tool with the name of one that lists or reads its resources or prompts; it is left out",
				"server", s.config.Name, "tool", t.Name,
			)
		}
		return inUse
	})
}

// offer calls a tool for resources or prompts.
func (s *Server) offer(ctx context.Context, name string, call spool.ToolCall) (json.RawMessage, error) {
	var args struct {
		Cursor    string            `json:"cursor"`
		URI       string            `json:"uri"`
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal(argsOf(call), &args); err != nil {
		return nil, spool.Errorf(spool.Invalid, "the arguments cannot be read")
	}
	for field, text := range map[string]string{"uri": args.URI, "name": args.Name} { // they become headers
		if !fitsHeader(text) {
			return nil, spool.Errorf(spool.Invalid, "%s must not begin or end with a space, or have a control character", field)
		}
	}
	switch name {
	case readResource:
		return s.readResource(ctx, call, args.URI)
	case getPrompt:
		return s.getPrompt(ctx, call, args.Name, args.Arguments)
	default:
		return s.listPage(ctx, call, name, args.Cursor)
	}
}

const (
	// maxItems bounds the entries of a page of resources or prompts, and maxPage its JSON in bytes.
	maxItems = 100
	maxPage  = 64 << 10
	// maxAbout bounds a description, and maxArguments how many arguments of a prompt are listed.
	maxAbout     = 1000
	maxArguments = 50
	// maxCursor bounds the cursor of a server, in bytes.
	maxCursor = 4000
)

// item is an entry of a list of resources, of templates or of prompts.
type item struct {
	URI         string     `json:"uri,omitempty"`
	URITemplate string     `json:"uriTemplate,omitempty"`
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	MIMEType    string     `json:"mimeType,omitempty"`
	Size        float64    `json:"size,omitempty"`
	Arguments   []argument `json:"arguments,omitempty"`
}

type argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// itemOf returns an entry of a list, or false if it cannot be used.
func itemOf(text json.RawMessage) (i item, ok bool) {
	if json.Unmarshal(text, &i) != nil || len(i.URI)+len(i.URITemplate)+len(i.Name)+len(i.MIMEType) > maxURL {
		return i, false
	}
	i.Title, i.Description = cut(i.Title, maxTitle), cut(i.Description, maxAbout)
	i.Arguments = i.Arguments[:min(len(i.Arguments), maxArguments)]
	for n := range i.Arguments {
		i.Arguments[n].Name, i.Arguments[n].Description = cut(i.Arguments[n].Name, maxTitle),
			cut(i.Arguments[n].Description, maxTitle)
	}
	return i, i.URI != "" || i.URITemplate != "" || i.Name != ""
}

// listPage returns a page of a list. A page of the server that is too large becomes several ones: a cursor for the
// model is how many entries to skip, a colon, and the cursor of the server. Each call asks the server for one page,
// so a list without an end costs the model its own steps.
func (s *Server) listPage(ctx context.Context, call spool.ToolCall, name, cursor string) (json.RawMessage, error) {
	number, at, ok := strings.Cut(cursor, ":")
	skip, err := strconv.Atoi(number)
	if cursor != "" && (!ok || err != nil || skip < 0) {
		return nil, spool.Errorf(spool.Invalid, "cursor is not the nextCursor of a page")
	}
	key, send := pageRequest(name, at)
	answer, err := s.fetch(ctx, call, at, send)
	if err != nil {
		return nil, err
	}
	var page struct {
		Next string `json:"nextCursor"`
	}
	var fields map[string]json.RawMessage
	var all []json.RawMessage
	if err := errors.Join(
		json.Unmarshal(answer, &page), json.Unmarshal(answer, &fields), json.Unmarshal(fields[key], &all),
	); err != nil {
		return nil, s.unread("the request", unreadableAnswer("it has no list of %s", key))
	}
	items, next, leftOut, room := []item{}, min(skip, len(all)), 0, min(maxPage, s.maxResult(call)*3/4)
	for ; next < len(all) && len(items) < maxItems; next++ {
		i, ok := itemOf(all[next])
		size := sizeOf(i) + 1
		if ok && size > room && len(items) > 0 {
			break
		}
		if !ok || size > room {
			leftOut++
			continue
		}
		room -= size
		items = append(items, i)
	}
	result := map[string]any{key: items}
	switch {
	case next < len(all):
		result["nextCursor"] = fmt.Sprintf("%d:%s", next, at)
	case len(page.Next) > maxCursor:
		s.config.Log.WarnContext(ctx, "MCP server has a list whose cursor is too long; the rest is left out", "server",
			s.config.Name, "list", key, "bytes", len(page.Next))
	case page.Next != "" && page.Next != at: // otherwise the list would begin again
		result["nextCursor"] = "0:" + page.Next
	}
	if leftOut > 0 {
		result["leftOut"] = leftOut
		s.config.Log.WarnContext(ctx, "MCP server lists what cannot be used; it is left out", "server", s.config.Name, "list",
			key, "entries", leftOut)
	}
	return s.encode(result)
}

// pageRequest returns the request for a page of a list, and the key of the entries in its result.
func pageRequest(name, cursor string) (key string, send sendFunc) {
	switch name {
	case listResources:
		return "resources", func(ctx context.Context, session *sdk.ClientSession) error {
			_, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			return err
		}
	case listTemplates:
		return "resourceTemplates", func(ctx context.Context, session *sdk.ClientSession) error {
			_, err := session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
			return err
		}
	default:
		return "prompts", func(ctx context.Context, session *sdk.ClientSession) error {
			_, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			return err
		}
	}
}

// readResource returns the contents of a resource: the text if it is one, and otherwise a list of parts. Data become
// artifacts, as those of results do.
func (s *Server) readResource(ctx context.Context, call spool.ToolCall, uri string) (json.RawMessage, error) {
	answer, err := s.fetch(ctx, call, uri, func(ctx context.Context, session *sdk.ClientSession) error {
		_, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(answer, &read); err != nil || read.Contents == nil {
		return nil, s.unread("the request", unreadableAnswer("it has no list of contents"))
	}
	parts := make([]part, 0, len(read.Contents))
	for _, text := range read.Contents {
		contents := new(sdk.ResourceContents)
		if err := json.Unmarshal(text, contents); err != nil {
			parts = append(parts, part{
				Type: "resource", URI: cut(contents.URI, maxURL),
				Text: "[this part cannot be read: " + cut(err.Error(), maxTitle) + "]",
			})
			continue
		}
		parts = append(parts, resourcePart(contents))
	}
	if len(parts) == 1 && len(parts[0].data) == 0 {
		return s.encodeText(ctx, call, parts[0].Text)
	}
	return s.encodeParts(ctx, call, parts, func(parts []part) any { return parts })
}

// getPrompt returns the messages of a prompt.
func (s *Server) getPrompt(
	ctx context.Context, call spool.ToolCall, name string, args map[string]string,
) (json.RawMessage, error) {
	answer, err := s.fetch(ctx, call, "", func(ctx context.Context, session *sdk.ClientSession) error {
		_, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
		return err
	})
	if err != nil {
		return nil, err
	}
	var prompt struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(answer, &prompt); err != nil || prompt.Messages == nil {
		return nil, s.unread("the request", unreadableAnswer("it has no list of messages"))
	}
	var parts []part
	for _, m := range prompt.Messages {
		contents, err := eachContent(m.Content)
		if err != nil { // the protocol has one part in each message
			contents = []sdk.Content{contentOne(m.Content)}
		}
		for _, p := range partsOf(contents) {
			p.Role = cut(m.Role, maxTitle)
			parts = append(parts, p)
		}
	}
	about := cut(prompt.Description, maxAbout)
	return s.encodeParts(ctx, call, parts, func(parts []part) any {
		return struct {
			Description string `json:"description,omitempty"`
			Messages    []part `json:"messages"`
		}{about, parts}
	})
}

// encodeText returns a text as JSON, cut if it is too long.
func (s *Server) encodeText(ctx context.Context, call spool.ToolCall, text string) (json.RawMessage, error) {
	most := s.maxResult(call)
	encoded, err := s.encode(text)
	if err != nil || len(encoded) <= most {
		return encoded, err
	}
	s.warnCut(ctx, call, len(encoded))
	return s.encode(cutText(s.clean(text), most))
}

// encodeParts returns the JSON of whole of parts, cut if it is too long. Data become artifacts.
func (s *Server) encodeParts(
	ctx context.Context, call spool.ToolCall, parts []part, whole func([]part) any,
) (json.RawMessage, error) {
	if err := s.saveData(ctx, call, parts); err != nil {
		return nil, err
	}
	most := s.maxResult(call)
	encoded, err := s.encode(whole(parts))
	if err != nil || len(encoded) <= most {
		return encoded, err
	}
	s.warnCut(ctx, call, len(encoded))
	kept := cutParts(parts, most-sizeOf(whole(nil)), s.clean)
	if encoded, err = s.encode(whole(kept)); err == nil && (len(kept) == 0 || len(encoded) > most) {
		return nil, spool.Errorf(spool.Limit, "the request was executed, but its result is larger than %d bytes", most)
	}
	return encoded, err
}

// sendFunc sends a request over a connection. Its result comes by a catch.
type sendFunc func(context.Context, *sdk.ClientSession) error

// fetch sends a request that changes nothing, and returns the JSON of its result. It sends the request again if the
// connection breaks. The SDK remembers the key of the request, a cursor or a URI, until the connection ends.
func (s *Server) fetch(ctx context.Context, call spool.ToolCall, key string, send sendFunc) (json.RawMessage, error) {
	ctx = lease.With(ctx, call)
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		answer, err := s.fetchOnce(ctx, key, send)
		unknown, broke := errors.AsType[*spool.OutcomeUnknownError](err)
		switch {
		case !broke:
			return answer, err
		case try == maxTries:
			return nil, unknown.Err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (s *Server) fetchOnce(parent context.Context, key string, send sendFunc) (json.RawMessage, error) {
	for renewed := false; ; renewed = true {
		session, release, err := s.ready(parent, ListedTool{})
		if err != nil {
			return nil, err
		}
		answer, gone, err := s.fetchOn(parent, session, key, send)
		release()
		if !gone || renewed {
			return answer, err
		}
	}
}

// fetchOn sends a request over a connection. It also returns whether the server has only said that its session is gone.
func (s *Server) fetchOn(
	parent context.Context, session *sdk.ClientSession, key string, send sendFunc,
) (answer json.RawMessage, gone bool, err error) {
	if err := lease.Check(parent); err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(parent, s.config.Timeout)
	defer cancel()
	traced, sent := withSent(ctx)
	traced, caught := withCatch(traced)
	caught.alone = true
	err = send(traced, session)
	s.count(session, 0, len(key))
	answer, unread := caught.answered(err)
	var kind struct {
		Type string `json:"resultType"`
	}
	switch {
	case unread != nil:
		return nil, false, s.unread("the request", unread)
	case answer != nil && json.Unmarshal(answer, &kind) == nil && kind.Type == "input_required":
		return nil, false, spool.Errorf(spool.Invalid,
			"MCP server %s asks a question, which it may only do in calls of its tools", s.config.Name)
	case answer != nil:
		return answer, false, nil
	case err == nil:
		return nil, false, s.unread("the request", unreadableAnswer("it has no result"))
	}
	gone, err = s.failedOn(parent, ctx, session, sent, err)
	return nil, gone, err
}

// withoutResults is the middleware of a client that gives the SDK no results of requests whose catch has them: the SDK
// keeps each one until the connection ends.
func withoutResults(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if caught := catchOf(ctx); err != nil || caught == nil || !caught.alone {
			return result, err
		}
		switch result.(type) {
		case *sdk.ListResourcesResult:
			return &sdk.ListResourcesResult{}, nil
		case *sdk.ListResourceTemplatesResult:
			return &sdk.ListResourceTemplatesResult{}, nil
		case *sdk.ListPromptsResult:
			return &sdk.ListPromptsResult{}, nil
		case *sdk.ReadResourceResult:
			return &sdk.ReadResourceResult{}, nil
		default:
			return result, nil
		}
	}
}
