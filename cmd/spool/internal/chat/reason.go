package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Why says in one line what a run of the thread waits for, other than an answer. Empty: it does not wait.
func Why(v *view.Thread, run spool.RunID) string {
	for _, q := range v.Queue() {
		if q.RunID != run {
			continue
		}
		if q.WhenBusy == spool.BusySteer {
			return "the message is read before the next step"
		}
		return fmt.Sprintf("waits for the thread, at position %d", q.Position)
	}
	if r := v.Retry(); r != nil {
		return fmt.Sprintf("tries again at %s: %s", here(r.At).Format(time.TimeOnly), r.Error)
	}
	if pending := v.Pending(); len(pending) > 0 {
		p := pending[0]
		text := fmt.Sprintf("%s works elsewhere, until %s at the latest", p.ToolName, moment(p.Until))
		if p.Note != "" {
			text += ": " + p.Note
		}
		return text
	}
	if waits := v.ProviderWaits(); len(waits) > 0 {
		return "waits for a limit of the model's provider: " + waits[0].Limit
	}
	return ""
}

// noWorker is why a run waits that no worker has taken for a while.
const noWorker = "waits for a worker"

// here returns a time on the clock of the person at the terminal.
func here(at time.Time) time.Time { return at.Local() } //nolint:gosmopolitan // the person reads the clock of this machine

// moment returns a time of today, or with its date.
func moment(at time.Time) string {
	at = here(at)
	if now := time.Now(); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// Asks says in one line what a question is about.
func Asks(p fold.Park) string {
	return approvalQuestion(p.InputRequired)
}

func approvalQuestion(in wire.InputRequired) string {
	text := Clean(in.ToolName) + " " + oneLine(in.Arguments, lineWidth)
	if in.Nested != nil {
		text = Clean(in.Nested.Name) + ": " + text
	}
	var more []string
	switch in.Reason {
	case wire.ParkApproval:
	case wire.ParkOutcomeUnknown:
		more = append(more, "it may have run already")
	case wire.ParkBudget:
		more = append(more, "the budget is used up")
	case wire.ParkClientTool:
		more = append(more, "the client has to run it")
	default:
		more = append(more, Clean(in.Reason))
	}
	if !in.ExpiresAt.IsZero() {
		more = append(more, "until "+moment(in.ExpiresAt))
	}
	if in.DistinctApprover {
		more = append(more, "not by the person who started the run")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}
