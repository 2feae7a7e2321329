package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spoolhq/spool"
)

// withData returns the event with its provider data in the form in which it is stored: without white space
// between tokens. Data that is no JSON object could not be stored, so it fails the answer.
func withData(event spool.ModelEvent) (_ spool.ModelEvent, err error) {
	switch ev := event.(type) {
	case spool.TextEnd:
		ev.Provider, err = stored(ev.Provider)
		return ev, err
	case spool.ReasoningEnd:
		ev.Provider, err = stored(ev.Provider)
		return ev, err
	case spool.ToolCallEnd:
		ev.Provider, err = stored(ev.Provider)
		return ev, err
	case spool.FileMade:
		ev.Provider, err = stored(ev.Provider)
		return ev, err
	case spool.ProviderPart:
		ev.Provider, err = stored(ev.Provider)
		return ev, err
	default:
		return event, nil
	}
}

// maxResume bounds the data of a resume point, which is a part of the run's row.
const maxResume = 16 << 10

// saveResume saves a resume point before the answer continues.
func (c *call) saveResume(ctx context.Context, point spool.ResumePoint, t *Turn) error {
	data, err := stored(point.Data)
	switch {
	case err != nil:
		return err
	case len(data) == 0:
		return nil
	case len(data) > maxResume:
		return &spool.ModelError{
			Message: fmt.Sprintf("the model adapter gave a resume point of more than %d bytes", maxResume), NoRetry: true,
		}
	}
	if err := c.SaveResume(ctx, data); err != nil {
		return err
	}
	t.resumable = true
	return nil
}

func stored(data json.RawMessage) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	err := spool.CheckJSON("the provider data", data)
	if err == nil && !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		err = spool.Errorf(spool.Invalid, "the provider data is no object")
	}
	if err != nil {
		return nil, &spool.ModelError{Message: "the model adapter gave data that cannot be stored", NoRetry: true, Err: err}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
