package agui

// unlearn returns the events that make a client forget what was streamed and not saved.
func (t *Translator) unlearn(seq int64) ([]Event, error) {
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	t.o.Results = nil // the client gets them from the thread
	aborted := t.step
	events := t.step.abort()
	messages := Messages{s.Before(seq)}
	if aborted.reasonings > 0 && !messages.reason() {
		// A client keeps its messages of reasoning if it gets messages without any reasoning.
		var empty []Message
		for n := range aborted.reasonings {
			empty = append(empty, Message{ID: reasoningID(aborted.run, aborted.number, n+1), Role: roleReasoning, Content: ""})
		}
		text, err := appendMessages(nil, empty)
		if err != nil {
			return nil, err
		}
		messages = messages.and(text)
	}
	return append(events, messages), nil
}

// unlearnRest is [Translator.unlearn] for a segment that may have left nothing to unlearn.
func (t *Translator) unlearnRest(seq int64) ([]Event, error) {
	if !t.unsaved {
		return nil, nil
	}
	return t.unlearn(seq)
}
