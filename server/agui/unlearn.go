package agui

// unlearn returns what makes a client forget what was said and not saved.
func (t *Translator) unlearn(seq int64) ([]Event, error) {
	s, err := t.o.Load()
	if err != nil {
		return nil, err
	}
	t.o.Results = nil // the client gets them as the thread has them
	said := t.step
	events := t.step.abort()
	messages := Messages{s.Before(seq)}
	if said.reasonings > 0 && !messages.reason() {
		// A client keeps its messages of reasoning when there are none among those it gets.
		var empty []Message
		for n := range said.reasonings {
			empty = append(empty, Message{ID: reasoningID(said.run, said.number, n+1), Role: roleReasoning, Content: ""})
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
	if !t.unsaid {
		return nil, nil
	}
	return t.unlearn(seq)
}
