package openai_test

import (
	"fmt"

	"github.com/spoolhq/spool/model/openai"
)

// A model of a local server: no key, and its own idea of how long things may take.
func ExampleNew() {
	model, err := openai.New(openai.Config{
		BaseURL:       "http://localhost:11434/v1",
		Model:         "qwen3:8b",
		ContextWindow: 32_768,
	})
	fmt.Println(model.Describe().ContextWindow, err)

	_, err = openai.New(openai.Config{BaseURL: "localhost:11434", Model: "qwen3:8b"})
	fmt.Println(err)
	// Output:
	// 32768 <nil>
	// BaseURL is not an http or https URL
}
