package agui_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spoolhq/spool/server/agui"
)

// verifier keeps the rules of the protocol that a client checks. The official one is asked
// in test/agui; this one needs nothing but Go.
type verifier struct {
	began, open bool
	active      map[string]bool
}

// opens and closes are the kinds that come in pairs, and the field that names the pair.
var (
	opens = map[agui.Type]string{
		agui.TypeTextStart: "messageId", agui.TypeReasoningStart: "messageId", agui.TypeReasoningMessageStart: "messageId",
		agui.TypeToolStart: "toolCallId", agui.TypeStepStarted: "stepName",
	}
	closes = map[agui.Type]agui.Type{
		agui.TypeTextEnd: agui.TypeTextStart, agui.TypeReasoningEnd: agui.TypeReasoningStart,
		agui.TypeReasoningMessageEnd: agui.TypeReasoningMessageStart, agui.TypeToolEnd: agui.TypeToolStart,
		agui.TypeStepFinished: agui.TypeStepStarted,
	}
	within = map[agui.Type]agui.Type{
		agui.TypeTextContent: agui.TypeTextStart, agui.TypeReasoningContent: agui.TypeReasoningMessageStart,
		agui.TypeToolArgs: agui.TypeToolStart,
	}
)

// see returns what is wrong with the next event.
func (v *verifier) see(e agui.Event) error {
	text, err := agui.Encode(e)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	pair := func(opened agui.Type) string { return fmt.Sprintf("%s %v", opened, fields[opens[opened]]) }
	kind := agui.TypeOf(e)
	switch {
	case kind == agui.TypeRunStarted && v.open:
		return fmt.Errorf("a run starts in a run: %s", text)
	case kind == agui.TypeRunStarted:
		v.began, v.open, v.active = true, true, map[string]bool{}
	case !v.open:
		return fmt.Errorf("outside a run: %s", text)
	case opens[kind] != "" && v.active[pair(kind)]:
		return fmt.Errorf("it is open already: %s", text)
	case opens[kind] != "":
		v.active[pair(kind)] = true
	case within[kind] != "" && !v.active[pair(within[kind])]:
		return fmt.Errorf("it is not open: %s", text)
	case closes[kind] != "" && !v.active[pair(closes[kind])]:
		return fmt.Errorf("it was not open: %s", text)
	case closes[kind] != "":
		delete(v.active, pair(closes[kind]))
	case kind == agui.TypeRunFinished && len(v.active) > 0:
		return fmt.Errorf("a run ends with %v: %s", v.active, text)
	case slices.Contains([]agui.Type{agui.TypeRunFinished, agui.TypeRunError}, kind):
		v.open = false
	}
	return nil
}
