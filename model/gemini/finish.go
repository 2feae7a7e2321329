package gemini

import (
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/finishword"
)

// ended reports whether the answer has a reason for its end.
func (a *answer) ended() bool { return a.reason != "" || a.blocked }

// finish emits the end of an answer, as described at [Model.Stream].
func (a *answer) finish() error {
	if !a.ended() {
		return &spool.ModelError{Message: "the answer ended without a finish reason", Err: io.ErrUnexpectedEOF}
	}
	if err := a.close(noBlock); err != nil {
		return err
	}
	reason := spool.FinishFilter
	if !a.blocked {
		var err error
		if reason, err = a.finishReason(); err != nil {
			return err
		}
	}
	if err := a.endOutput(); err != nil {
		return err
	}
	if err := a.cite(); err != nil {
		return err
	}
	if reason == spool.FinishPause {
		if err := a.emit(spool.ProviderPart{
			Provider: saved{Model: a.signer, Continuation: a.continuation}.raw(),
		}); err != nil {
			return err
		}
	}
	return a.emit(spool.Finish{Reason: reason, Usage: a.usage, ModelID: a.modelID})
}

// endOutput emits the output that came as the arguments of a call. Without such a call, or with another call beside
// it, it emits the text.
func (a *answer) endOutput() error {
	if a.output == "" || len(a.ids) > 0 {
		return a.releaseText()
	}
	return a.emit(spool.TextDelta{Text: a.output})
}

// finishReason maps the finish reason of an answer.
func (a *answer) finishReason() (spool.FinishReason, error) {
	switch a.reason {
	case "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return spool.FinishFilter, nil
	case "CONTINUATION":
		if a.continuation == "" {
			return "", a.failed(false)
		}
		return spool.FinishPause, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "OTHER", "IMAGE_OTHER", "NO_IMAGE":
		return "", a.failed(false)
	case "MISSING_THOUGHT_SIGNATURE":
		return "", a.failed(true)
	}
	class := finishword.Of(a.reason)
	switch {
	case class == finishword.Limit:
		return spool.FinishLength, nil
	case class == finishword.Filter:
		return spool.FinishFilter, nil
	case class == finishword.Broken:
		return "", a.failed(false)
	case len(a.ids) > 0:
		return spool.FinishToolCalls, nil
	case class == finishword.Unknown:
		return spool.FinishReason(a.reason), nil
	}
	return spool.FinishStop, nil
}

// failed returns the error for an answer whose finish reason is a failure.
func (a *answer) failed(permanent bool) error {
	message := "the answer ended with " + a.reason
	if a.message != "" {
		message += ": " + a.message
	}
	return &spool.ModelError{
		Type: a.model.secrets.Clean(a.reason), Message: a.model.secrets.Clean(message), NoRetry: permanent,
	}
}
