package openai

import (
	"strconv"

	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/plainjson"
)

// plain reads a chunk that has only the text and the calls of one choice, as nearly every chunk of an answer does. It
// makes one pass, without reflection. Its result is the same as that of [encoding/json]. It returns
// false for a chunk with other fields, with a repeated field, or that is not valid JSON.
func (c *chunk) plain(text string) bool {
	r := plainjson.New(text)
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch key := r.Key(&seen); key {
		case "id", "created", "system_fingerprint", "service_tier", "provider", "obfuscation":
			r.Scalar()
		case "object":
			if c.Object = word(r.Str()); c.Object == "error" {
				return false
			}
		case "model":
			c.Model = word(r.Str())
		case "usage", "error":
			r.Null()
		case "choices":
			readChoices(r, c)
		default:
			return false
		}
	}
	return r.End()
}

func readChoices(r *plainjson.Reader, c *chunk) {
	for r.Open('['); r.More(']'); {
		if len(c.Choices) > 0 {
			r.Fail()
			return
		}
		c.Choices = append(c.Choices, choice{})
		readChoice(r, &c.Choices[0])
	}
}

func readChoice(r *plainjson.Reader, c *choice) {
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "index":
			if r.Scalar() != "0" {
				r.Fail()
			}
		case "delta":
			c.Delta = &delta{}
			readDelta(r, c.Delta)
		case "finish_reason":
			if !r.IsNull() {
				c.FinishReason = word(r.Str())
			}
		case "logprobs", "stop_reason", "native_finish_reason":
			r.Scalar()
		default:
			r.Fail()
		}
	}
}

func readDelta(r *plainjson.Reader, d *delta) {
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "role", "function_call":
			r.Scalar()
		case "content":
			d.Content.text = r.NullOrStr()
		case "refusal":
			d.Refusal = word(r.NullOrStr())
		case "reasoning":
			d.Reasoning = thought(r.NullOrStr())
		case "reasoning_content":
			d.ReasoningContent = thought(r.NullOrStr())
		case "tool_calls":
			d.ToolCalls = readCalls(r)
		case "reasoning_details", "annotations":
			r.None()
		default:
			r.Fail()
		}
	}
}

func readCalls(r *plainjson.Reader) (calls callList) {
	if r.IsNull() {
		return nil
	}
	for r.Open('['); r.More(']'); {
		calls = append(calls, callDelta{})
		readCall(r, &calls[len(calls)-1])
	}
	return calls
}

func readCall(r *plainjson.Reader, c *callDelta) {
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "index":
			index, err := strconv.Atoi(r.Scalar())
			if err != nil {
				r.Fail()
			}
			c.Index = new(position(index))
		case "id":
			c.ID = openaiwire.Text(r.NullOrStr())
		case "type":
			r.Scalar()
		case "function":
			readFunction(r, c)
		default:
			r.Fail()
		}
	}
}

func readFunction(r *plainjson.Reader, c *callDelta) {
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "name":
			c.Function.Name = openaiwire.Text(r.NullOrStr())
		case "arguments":
			c.Function.Arguments = openaiwire.Text(r.NullOrStr())
		default:
			r.Fail()
		}
	}
}
