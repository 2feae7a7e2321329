package openai

import "github.com/spoolhq/spool"

// outputCall stands between an answer and its reader. It turns the call of the tool that stands for a JSON
// value into text.
type outputCall struct {
	tool string
	emit func(spool.ModelEvent) error
	// held is the text before the first call. It is dropped if that is the call of the tool, because the
	// answer is the value alone.
	held      []spool.ModelEvent
	heldBytes int
	// own are the calls of the tool.
	own map[spool.ToolCallID]bool
	// others is true after a call of another tool. Then the value comes too early: the model answers after
	// the result of that call.
	others  bool
	written bool
}

// events returns the function that takes the events of an answer.
func (o output) events(emit func(spool.ModelEvent) error) func(spool.ModelEvent) error {
	if o.tool == "" {
		return emit
	}
	c := &outputCall{tool: o.tool, emit: emit, own: make(map[spool.ToolCallID]bool)}
	return c.add
}

func (c *outputCall) add(event spool.ModelEvent) error {
	switch e := event.(type) {
	case spool.TextDelta:
		return c.text(e)
	case spool.ToolCallStart:
		if c.own[e.ID] = e.Name == c.tool; c.own[e.ID] {
			return nil
		}
		c.others = true
		return c.release(e)
	case spool.ToolCallDelta:
		if c.own[e.ID] {
			return nil // the end has the whole text
		}
	case spool.ToolCallEnd:
		if c.own[e.ID] {
			return c.value(e.Args)
		}
	case spool.Finish:
		if len(c.own) > 0 && !c.others && e.Reason == spool.FinishToolCalls {
			e.Reason = spool.FinishStop
		}
		return c.release(e)
	default:
	}
	return c.emit(event)
}

func (c *outputCall) text(e spool.TextDelta) error {
	switch c.heldBytes += len(e.Text); {
	case c.others:
		return c.emit(e)
	case len(c.own) > 0:
		return nil
	case c.heldBytes > maxBuffered:
		return c.release(e) // the answer is no value anyway
	}
	c.held = append(c.held, e)
	return nil
}

// value writes the arguments of the first call of the tool.
func (c *outputCall) value(args string) error {
	if c.others || c.written {
		return nil
	}
	c.written, c.held = true, nil
	return c.emit(spool.TextDelta{Text: args})
}

// release writes the held text and then an event.
func (c *outputCall) release(event spool.ModelEvent) error {
	for _, held := range c.held {
		if err := c.emit(held); err != nil {
			return err
		}
	}
	c.held = nil
	return c.emit(event)
}
