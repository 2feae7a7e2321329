package anthropic

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// held is a finished text that is held back, or an event after one.
type held struct {
	text      string
	citations []json.RawMessage
	event     spool.ModelEvent
}

// holds reports whether texts are held back.
func (a *answer) holds() bool { return a.output != "" && a.calls == 0 }

func (a *answer) hold(h held, size int) error {
	a.held = append(a.held, h)
	a.bytes += size
	return a.checkBuffer()
}

// eventSize returns the size of what an event holds.
func eventSize(event spool.ModelEvent) int {
	switch e := event.(type) {
	case spool.ReasoningDelta:
		return len(e.Text)
	case spool.ReasoningEnd:
		return len(e.Provider)
	case spool.ProviderPart:
		return len(e.Provider)
	default:
		return 0
	}
}

// release emits what was held back. If the output has been given, the texts are no part of it. They stay in
// their places as parts for the provider.
func (a *answer) release() error {
	list := a.held
	a.held = nil
	for _, h := range list {
		var err error
		switch {
		case h.event != nil:
			err = a.send(h.event)
		case a.outputEnded:
			err = a.hide(h)
		default:
			err = a.show(h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) hide(h held) error {
	block := textBlock(h.text)
	block.Citations = h.citations
	raw, err := marshal(block)
	if err != nil {
		return err
	}
	return a.send(spool.ProviderPart{Provider: saved{Model: a.name, Block: raw}.raw()})
}

func (a *answer) show(h held) error {
	if a.inText {
		if err := a.send(spool.TextEnd{}); err != nil {
			return err
		}
	}
	began := a.text.Len()
	if err := a.send(spool.TextDelta{Text: h.text}); err != nil {
		return err
	}
	return a.citations(h.citations, began)
}
