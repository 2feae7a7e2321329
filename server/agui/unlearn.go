package agui

// unlearn returns what makes a client forget what was streamed and not saved.
func (t *Translator) unlearn(seq int64) ([]Event, error) {
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	t.o.Results = nil // the client gets them as the thread has them
	aborted := t.step
	events := t.step.abort()
	messages := Messages{s.Before(seq)}
	if aborted.reasonings > 0 && !messages.reason() {
		// A client keeps its messages of reasoning when there are none among those it gets.
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

// unlearnRest is [Translator.unlearn] where the segment has left something to unlearn.
func (t *Translator) unlearnRest(seq int64) ([]Event, error) {
	if !t.unsaved {
		return nil, nil
	}
	return t.unlearn(seq)
}
