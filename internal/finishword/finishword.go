// Package finishword has the words with which model servers say why an answer ended. The servers of one interface do
// not agree on them, and gateways pass the words of other interfaces on.
package finishword

import "strings"

// Class is what a word says.
type Class int

// The classes of words.
const (
	// Unknown is every other word. The calls of such an answer are whole, because the server ended it.
	Unknown Class = iota
	// End is an answer that the model has finished.
	End
	// Calls is an answer that waits for the results of calls.
	Calls
	// Limit is an answer that reached the limit of its length, or the end of the model's window.
	Limit
	// Filter is an answer that the provider withheld, or that the model refused to give.
	Filter
	// Broken is an answer that the server broke off. The same request may succeed.
	Broken
)

var words = map[string]Class{
	"end_turn": End, "eos": End, "eos_token": End, "stop": End, "stop_sequence": End,

	"function_call": Calls, "tool_call": Calls, "tool_calls": Calls, "tool_use": Calls,

	"length": Limit, "max_tokens": Limit, "model_context_window_exceeded": Limit, "model_length": Limit,

	"content_filter": Filter, "model_armor": Filter, "refusal": Filter, "safety": Filter, "sensitive": Filter,

	"abort": Broken, "error": Broken, "insufficient_system_resource": Broken, "network_error": Broken,
}

// Of returns the class of a word, in whatever letters.
func Of(word string) Class { return words[strings.ToLower(word)] }
