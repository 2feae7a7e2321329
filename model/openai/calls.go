package openai

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/toolname"
)

// call is the part of a tool call that has arrived.
type call struct {
	// index is the provider's index, or -1 if the provider sent none.
	index int
	// sentID is the provider's id, or empty if the provider sent none.
	sentID string
	id     spool.ToolCallID
	name   string
	args   strings.Builder
	extra  json.RawMessage
	// chunk is the number of the chunk in which the call began.
	chunk int
}

// calls assembles tool calls from their fragments.
type calls struct {
	list []*call
	// tools are the names of the agent's tools.
	tools []string
	// random is part of the ids that this answer's calls get, so that other answers have other ids.
	random string
	chunk  int
	// bytes is the size of the calls, which are buffered until the end of the answer.
	bytes int
}

// add adds a fragment and returns the events that follow from it.
func (cs *calls) add(d callDelta) []spool.ModelEvent {
	c := cs.find(d)
	if c == nil {
		c = cs.start(d)
	}
	if c.sentID == "" {
		c.sentID = string(d.ID)
	}
	if len(d.ExtraContent) > 0 && string(d.ExtraContent) != "null" {
		cs.bytes += len(d.ExtraContent) - len(c.extra)
		c.extra = d.ExtraContent
	}

	var events []spool.ModelEvent
	fragment := string(d.Function.Arguments)
	if c.name == "" && d.Function.Name != "" {
		c.name = toolname.Known(string(d.Function.Name), cs.tools)
		events = append(events, spool.ToolCallStart{ID: c.id, Name: c.name})
		// Arguments may come before the name.
		fragment, c.args = c.args.String()+fragment, strings.Builder{}
	}
	if fragment == "" {
		return events
	}
	c.args.WriteString(fragment)
	cs.bytes += len(fragment)
	if c.name == "" {
		return events
	}
	return append(events, spool.ToolCallDelta{ID: c.id, Args: fragment})
}

// find returns the call of a fragment, or nil if the fragment begins a new call. The index should
// identify the call. But some servers send no index. Others send zero for every call: then either the
// ids distinguish the calls, or each fragment is a whole call without an id.
func (cs *calls) find(d callDelta) *call {
	for _, c := range slices.Backward(cs.list) {
		switch {
		case d.ID != "" && string(d.ID) == c.sentID && (d.Index == nil || int(*d.Index) == c.index):
			return c
		case d.Index != nil && int(*d.Index) == c.index:
			if cs.begins(c, d) {
				return nil
			}
			return c
		}
	}
	if d.Index != nil || d.ID != "" || d.Function.Name != "" || len(cs.list) == 0 {
		return nil
	}
	return cs.list[len(cs.list)-1]
}

// begins reports whether a fragment with the index of c begins another call.
func (cs *calls) begins(c *call, d callDelta) bool {
	if d.ID != "" && c.sentID != "" {
		return string(d.ID) != c.sentID
	}
	if d.Function.Name == "" || c.name == "" {
		return false
	}
	return c.chunk == cs.chunk || json.Valid([]byte(c.args.String()))
}

func (cs *calls) start(d callDelta) *call {
	c := &call{index: -1, sentID: string(d.ID), chunk: cs.chunk}
	if d.Index != nil {
		c.index = int(*d.Index)
	}
	c.id = spool.ToolCallID(d.ID)
	if c.id == "" || cs.has(c.id) {
		c.id = cs.makeID(len(cs.list) + 1)
	}
	cs.list = append(cs.list, c)
	cs.bytes += callWeight + len(c.id)
	return c
}

func (cs *calls) has(id spool.ToolCallID) bool {
	for _, c := range cs.list {
		if c.id == id {
			return true
		}
	}
	return false
}

func (cs *calls) makeID(n int) spool.ToolCallID {
	if cs.random == "" {
		cs.random = rand.Text()[:12]
	}
	return spool.ToolCallID(fmt.Sprintf("call_%d_%s", n, cs.random))
}

// end returns the events that close the calls, with the data that save returns. It leaves out calls
// without a name.
func (cs *calls) end(save func(saved) json.RawMessage) []spool.ModelEvent {
	var events []spool.ModelEvent
	for _, c := range cs.list {
		if c.name == "" {
			continue
		}
		args := c.args.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		end := spool.ToolCallEnd{
			ID: c.id, Name: c.name, Args: args, Provider: save(saved{ExtraContent: c.extra, ID: c.sentID}),
		}
		events = append(events, end)
	}
	return events
}
