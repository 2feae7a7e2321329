// Command provider is spool with a provider of its own: echo, whose models repeat the prompt.
package main

import (
	"context"
	"iter"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/spoolmain"
)

type echo struct{ before string }

// Stream answers with the last message of the prompt.
func (e echo) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		text := e.before + r.Messages[len(r.Messages)-1].Text()
		_ = yield(spool.TextDelta{Text: text}, nil) && yield(spool.TextEnd{}, nil) &&
			yield(spool.Finish{Reason: spool.FinishStop}, nil)
	}
}

func main() {
	spoolmain.Main(spoolmain.Provider{Name: "echo", Open: func(m spoolmain.Model) (spool.Model, error) {
		return echo{m.Model + ": "}, nil
	}})
}
