package history

import (
	"reflect"
	"slices"

	"github.com/spoolhq/spool"
)

// lentPrompt is the last prompt that a history returned. The next prompt continues in the same memory,
// so that a step does not copy the whole thread. Earlier prompts stay unchanged, because memory that a
// caller got is never written again. If a caller has changed its prompt, the next prompt gets new
// memory.
type lentPrompt struct {
	messages []spool.Message
	// same is how many of the messages are identical to the history's fixed messages.
	same int
}

// extend returns the fixed messages followed by the tail. It may replace fixed messages by equal
// messages.
func (l *lentPrompt) extend(fixed, tail []spool.Message) []spool.Message {
	if !l.continues(fixed, tail) {
		all := make([]spool.Message, 0, len(fixed)+len(tail)+len(fixed)/4)
		l.messages = append(append(all, fixed...), tail...)
		l.same = len(fixed)
		return slices.Clip(l.messages)
	}
	if have := len(l.messages); have < len(fixed) {
		l.messages = append(append(l.messages, fixed[have:]...), tail...)
	} else {
		l.messages = append(l.messages, tail[have-len(fixed):]...)
	}
	l.same = len(fixed)
	return slices.Clip(l.messages)
}

// continues reports whether the last prompt is unchanged and a prefix of the fixed messages
// followed by the tail.
func (l *lentPrompt) continues(fixed, tail []spool.Message) bool {
	if l.messages == nil || len(l.messages) > len(fixed)+len(tail) || l.same > len(fixed) {
		return false
	}
	for i := range l.same {
		if !sameMessage(&l.messages[i], &fixed[i]) {
			return false
		}
	}
	for i := l.same; i < len(l.messages); i++ {
		if i >= len(fixed) {
			if !reflect.DeepEqual(l.messages[i], tail[i-len(fixed)]) {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(l.messages[i], fixed[i]) {
			return false
		}
		fixed[i] = l.messages[i] // makes both refer to the same content
	}
	return true
}

// sameMessage reports whether two messages are equal and refer to the same content.
func sameMessage(a, b *spool.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.RunID == b.RunID && a.ThreadID == b.ThreadID && a.AgentID == b.AgentID &&
		a.ClientMessageID == b.ClientMessageID && a.AfterSeq == b.AfterSeq && a.CreatedAt == b.CreatedAt && //nolint:staticcheck // the very same value
		len(a.Content) == len(b.Content) && (len(a.Content) == 0 || &a.Content[0] == &b.Content[0])
}
