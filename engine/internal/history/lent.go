package history

import (
	"reflect"
	"slices"

	"github.com/spoolhq/spool"
)

// lentPrompt is the prompt that a history has given out last. The next prompt goes on in the
// same memory, so that a step does not copy the whole thread. Whoever has an earlier prompt
// keeps it as it was: what was given out is never written again. Whoever has changed a prompt
// gets the next one in other memory.
type lentPrompt struct {
	messages []spool.Message
	// same is how many of messages are, up to what they refer to, the fixed ones of the history.
	same int
}

// extend returns the fixed messages with the tail behind them. It may replace fixed messages
// by equal ones.
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

// continues reports whether what was given out is unchanged, and the start of the fixed
// messages with the tail behind them.
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
		fixed[i] = l.messages[i] // so that they refer to the same from now on
	}
	return true
}

// sameMessage reports whether two messages say the same, and refer to the same content.
func sameMessage(a, b *spool.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.RunID == b.RunID && a.ThreadID == b.ThreadID && a.AgentID == b.AgentID &&
		a.ClientMessageID == b.ClientMessageID && a.AfterSeq == b.AfterSeq && a.CreatedAt == b.CreatedAt && //nolint:staticcheck // the very same value
		len(a.Content) == len(b.Content) && (len(a.Content) == 0 || &a.Content[0] == &b.Content[0])
}
