package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool"
)

func ExampleNew() {
	type in struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	type out struct {
		Celsius int `json:"celsius"`
	}
	weather := tool.New("weather", "Tells the temperature in a city.",
		func(_ context.Context, in in) (out, error) {
			return out{Celsius: len(in.City)}, nil
		})

	fmt.Println(string(weather.Parameters))
	fmt.Println(weather.Check(json.RawMessage(`{"town":"Oslo"}`)))
	result, err := weather.Call(context.Background(), spool.ToolCall{Args: json.RawMessage(`{"city":"Oslo"}`)})
	fmt.Println(string(result), err)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city"}},"required":["city"],"additionalProperties":false}
	// arguments: unexpected additional properties ["town"]
	// {"celsius":4} <nil>
}

// A tool that needs a person's word before it runs, and that may run twice with the
// same idempotency key.
func ExampleCallFrom() {
	type in struct {
		Cents int `json:"cents"`
	}
	refund := tool.New("refund", "Pays money back.",
		func(ctx context.Context, in in) (string, error) {
			call, _ := tool.CallFrom(ctx)
			return fmt.Sprintf("paid %d under key %s", in.Cents, call.IdempotencyKey()), nil
		})
	refund.Approval = spool.AlwaysApprove
	refund.Idempotent = true
	fmt.Println(refund.Idempotent, refund.Approval != nil)

	result, err := refund.Call(context.Background(), spool.ToolCall{
		RunID: "run_1", Step: 3, ID: "call_a", Args: json.RawMessage(`{"cents":500}`),
	})
	fmt.Println(string(result), err)
	// Output:
	// true true
	// "paid 500 under key run_1/3/call_a" <nil>
}

func ExampleFromSchema() {
	lookup, err := tool.FromSchema("lookup", "Looks a word up.",
		json.RawMessage(`{"type":"object","properties":{"word":{"type":"string","maxLength":5}},"required":["word"]}`),
		func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
			return call.Args, nil
		})
	fmt.Println(err)
	fmt.Println(lookup.Check(json.RawMessage(`{"word":"elephant"}`)))
	// Output:
	// <nil>
	// argument word: maxLength: "elephant" contains 8 Unicode code points, more than 5
}

// A tool that begins work elsewhere, and looks at it from time to time.
func ExampleCallFrom_pending() {
	type in struct {
		Month string `json:"month"`
	}
	type job struct{ ID string }
	looks := 0
	report := tool.New("report", "Makes the report of a month.",
		func(ctx context.Context, in in) (string, error) {
			call, _ := tool.CallFrom(ctx)
			if call.Pending == nil { // the first call begins the work
				state, err := json.Marshal(job{ID: "job-" + in.Month})
				if err != nil {
					return "", err
				}
				return "", spool.Pending(5*time.Second, state)
			}
			if looks++; looks < 2 { // a later call only looks at it
				return "", spool.Pending(5*time.Second, call.Pending)
			}
			return "the report of " + in.Month, nil
		})
	report.PendingTimeout = time.Hour
	report.Cancel = func(_ context.Context, call spool.ToolCall) error {
		fmt.Println("cancel", string(call.Pending)) // the run was stopped, or has failed
		return nil
	}
	fmt.Println(report.PendingTimeout, report.Cancel != nil)

	call := spool.ToolCall{Args: json.RawMessage(`{"month":"May"}`)}
	for {
		result, err := report.Call(context.Background(), call)
		pending, ok := errors.AsType[*spool.PendingError](err)
		if !ok {
			fmt.Println(string(result), err)
			return
		}
		fmt.Println("wait", pending.After, string(pending.State))
		call.Pending = pending.State
	}
	// Output:
	// 1h0m0s true
	// wait 5s {"ID":"job-May"}
	// wait 5s {"ID":"job-May"}
	// "the report of May" <nil>
}
