package registry

import (
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const noObject = "the arguments are not a JSON object"

// CallArgs returns a model's arguments in one canonical form, which the client sees, the tool and its
// check get, and the store and the digest use. It is the form that [json.Marshal] writes, without white
// space. An empty text becomes an empty object. Arguments that [spool.CheckArguments] refuses become a
// JSON string of their text; no tool is called with such a string.
func CallArgs(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	if spool.CheckArguments("", json.RawMessage(text)) != nil {
		return toolresult.JSON(text)
	}
	return toolresult.JSON(json.RawMessage(text))
}

// CheckArgs validates the arguments of a call of the tool.
func CheckArgs(t spool.Tool, args json.RawMessage) error {
	if err := ArgsProblem(args); err != nil {
		return err
	}
	if t.Check == nil {
		return nil
	}
	return t.Check(args)
}

// ArgsProblem returns an error if no tool may be called with the arguments.
func ArgsProblem(args json.RawMessage) error {
	if len(args) > 0 && args[0] == '{' {
		return spool.CheckArguments("the JSON of the arguments", args)
	}
	// The arguments are a string: CallArgs refused their JSON. Return the error that CallArgs got.
	var text string
	if json.Unmarshal(args, &text) == nil && json.Valid([]byte(text)) {
		if err := spool.CheckArguments("the JSON of the arguments", json.RawMessage(text)); err != nil {
			return err
		}
	}
	return errors.New(noObject)
}

// CheckEdited checks arguments that a person edited, as [CheckArgs] does. It turns a panic of the check
// into an error.
func CheckEdited(log *slog.Logger, tool spool.Tool, args json.RawMessage) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("tool check panicked", "tool", tool.Name, "panic", p, "stack", string(debug.Stack()))
			err = spool.Errorf(spool.Invalid, "the arguments could not be checked")
		}
	}()
	if err := CheckArgs(tool, args); err != nil {
		return &spool.Error{Code: spool.Invalid, Message: err.Error()}
	}
	return nil
}
