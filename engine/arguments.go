package engine

import (
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const noObject = "the arguments are not a JSON object"

// callArgs returns the arguments that a model wrote in the one form in which they are shown,
// digested, checked, saved and given to the tool: an empty object for nothing, without the white
// space, as [json.Marshal] writes it. Arguments that [spool.CheckArguments] refuses become a JSON
// string of their text, which no tool is ever called with.
func callArgs(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	if spool.CheckArguments("", json.RawMessage(text)) != nil {
		return toolresult.JSON(text)
	}
	return toolresult.JSON(json.RawMessage(text))
}

// checkArgs says what is wrong with the arguments of a call of the tool.
func checkArgs(t spool.Tool, args json.RawMessage) error {
	if err := argsProblem(args); err != nil {
		return err
	}
	if t.Check == nil {
		return nil
	}
	return t.Check(args)
}

// argsProblem says why no tool may be called with the arguments. Nil: one may.
func argsProblem(args json.RawMessage) error {
	if len(args) > 0 && args[0] == '{' {
		return spool.CheckArguments("the JSON of the arguments", args)
	}
	// What callArgs has refused is told in the words in which it was refused.
	var text string
	if json.Unmarshal(args, &text) == nil && json.Valid([]byte(text)) {
		if err := spool.CheckArguments("the JSON of the arguments", json.RawMessage(text)); err != nil {
			return err
		}
	}
	return errors.New(noObject)
}
